// SPDX-License-Identifier: Apache-2.0
// Stamps and the times they stand for.
#include "base/ticks.h"

#include <gtest/gtest.h>

#include <algorithm>

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

// How far a stamp is from the monotonic clock read before and behind it; 0 when it lies between the two.
Nanoseconds distance_of_one_stamp() {
    const Nanoseconds before = now();
    const Nanoseconds stamp = time_of(ticks());
    const Nanoseconds after = now();
    return stamp < before ? before - stamp : stamp > after ? stamp - after : 0;
}

TEST(Ticks, FollowTheMonotonicClock) {
    // The rate is measured once; since then the clock may have been steered, and a computer that is busy measures
    // worse. A wrong unit or a wrong beginning is off by far more than a hundredth.
    Nanoseconds nearest = distance_of_one_stamp();
    for (int i = 0; i < 100 && nearest != 0; ++i) nearest = std::min(nearest, distance_of_one_stamp());
    EXPECT_LE(nearest, 10 * millisecond + (now() - process_began) / 100);
}

}  // namespace
}  // namespace canopy
