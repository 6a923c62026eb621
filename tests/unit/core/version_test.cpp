// SPDX-License-Identifier: Apache-2.0
// The number that versions are compared by.
#include "core/process/version.h"

#include <gtest/gtest.h>

namespace canopy {
namespace {

std::int32_t number(std::string_view text) {
    const auto result = version_number(text);
    return result.ok() ? result.value() : -1;
}

TEST(VersionNumber, IsMadeOfThreeParts) {
    EXPECT_EQ(number("8.5.0"), 80500000);
    EXPECT_EQ(number("8.5.12"), 80512000);
    EXPECT_EQ(number("9"), 90000000);
    EXPECT_EQ(number("8.3"), 80300000);
    EXPECT_EQ(number("8.5.0.1"), 80500000);
}

TEST(VersionNumber, PreReleasesSortBelowTheirRelease) {
    EXPECT_EQ(number("8.5.0-alpha.2"), 80500000 - 300 + 2);
    EXPECT_EQ(number("8.5.0.alpha001"), 80500000 - 300 + 1);
    EXPECT_EQ(number("8.5.0-beta.1"), 80500000 - 200 + 1);
    EXPECT_EQ(number("8.5.0-rc.1"), 80500000 - 100 + 1);
    EXPECT_EQ(number("8.3.RC2"), 80300000 - 100 + 2);
    EXPECT_LT(number("8.5.0-alpha.9"), number("8.5.0-beta.1"));
    EXPECT_LT(number("8.5.0-rc.9"), number("8.5.0"));
}

TEST(VersionNumber, NeedsANumberInFront) {
    EXPECT_EQ(version_number("").status().code(), 500000);
    EXPECT_EQ(version_number("rc1").status().code(), 500000);
    EXPECT_EQ(version_number("-8.5").status().code(), 500000);
    EXPECT_EQ(version_number("999999999.0.0").status().code(), 500000);
}

}  // namespace
}  // namespace canopy
