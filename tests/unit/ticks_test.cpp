// SPDX-License-Identifier: Apache-2.0
// Stamps and the times they stand for.
#include "base/ticks.h"

#include <gtest/gtest.h>

namespace canopy {
namespace {

TEST(Ticks, LaterStampsNeverGiveEarlierTimes) {
    // Past the moment when the rate is fixed, so that both sides of it are covered.
    const Nanoseconds end = now() + 50 * millisecond;
    Ticks before = ticks();
    while (now() < end) {
        const Ticks after = ticks();
        ASSERT_GE(after, before);
        ASSERT_GE(time_of(after), time_of(before));
        before = after;
    }
}

TEST(Ticks, LieBetweenTwoReadingsOfTheMonotonicClock) {
    // The rate is known to a few millionths: allow for the error of reading two clocks and a long-running process.
    constexpr Nanoseconds tolerance = millisecond;
    const Nanoseconds before = now();
    const Ticks stamp = ticks();
    const Nanoseconds after = now();
    EXPECT_GE(time_of(stamp), before - tolerance);
    EXPECT_LE(time_of(stamp), after + tolerance);
}

}  // namespace
}  // namespace canopy
