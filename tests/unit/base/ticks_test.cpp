// SPDX-License-Identifier: Apache-2.0
// Tick stamps and their conversion to times.
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

// How far a stamp is from monotonic clock readings taken just before and after it; 0 if it lies between them.
Nanoseconds distance_of_one_stamp() {
    const Nanoseconds before = now();
    const Nanoseconds stamp = time_of(ticks());
    const Nanoseconds after = now();
    return stamp < before ? before - stamp : stamp > after ? stamp - after : 0;
}

TEST(Ticks, FollowTheMonotonicClock) {
    // The rate is measured once; the clock may have been adjusted since, and a busy machine measures less accurately. A
    // wrong unit or origin would be off by far more than one percent.
    Nanoseconds nearest = distance_of_one_stamp();
    for (int i = 0; i < 100 && nearest != 0; ++i) nearest = std::min(nearest, distance_of_one_stamp());
    EXPECT_LE(nearest, 10 * millisecond + (now() - process_began) / 100);
}

}  // namespace
}  // namespace canopy
