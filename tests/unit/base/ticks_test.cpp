// SPDX-License-Identifier: Apache-2.0
// Stamps and the times they stand for.
#include "base/ticks.h"

#include <gtest/gtest.h>

namespace canopy {
namespace {

const Nanoseconds process_began = now();

TEST(Ticks, LaterStampsNeverGiveEarlierTimes) {
    Ticks before = ticks();
    for (int i = 0; i < 100000; ++i) {
        const Ticks after = ticks();
        ASSERT_GE(after, before);
        ASSERT_GE(time_of(after), time_of(before));
        before = after;
    }
}

TEST(Ticks, LieBetweenTwoReadingsOfTheMonotonicClock) {
    // The clock may be steered, by up to a two-thousandth, after the rate was taken.
    const Nanoseconds before = now();
    const Nanoseconds tolerance = millisecond + (before - process_began) / 1000;
    const Ticks stamp = ticks();
    const Nanoseconds after = now();
    EXPECT_GE(time_of(stamp), before - tolerance);
    EXPECT_LE(time_of(stamp), after + tolerance);
}

}  // namespace
}  // namespace canopy
