// SPDX-License-Identifier: Apache-2.0
// Parking: no wake-up is lost between checking and sleeping.
#include "base/parking.h"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>
#include <vector>

namespace canopy {
namespace {

TEST(Parking, ReturnsAtTheDeadlineWithoutNews) {
    ParkingLot lot;
    const ParkingLot::Epoch epoch = lot.prepare();
    EXPECT_TRUE(lot.has_waiters());
    EXPECT_FALSE(lot.park(epoch, Deadline::after(millisecond)));
    EXPECT_FALSE(lot.has_waiters());
}

TEST(Parking, NewsAfterThePreparationPreventsTheSleep) {
    ParkingLot lot;
    const ParkingLot::Epoch epoch = lot.prepare();
    lot.wake_one();
    EXPECT_TRUE(lot.park(epoch, Deadline::never()));
}

TEST(Parking, CancellingLeavesNobodyBehind) {
    ParkingLot lot;
    (void)lot.prepare();
    lot.cancel();
    EXPECT_FALSE(lot.has_waiters());
    lot.wake_all();
}

TEST(Parking, PassedDeadlineIsNoSleep) {
    ParkingLot lot;
    EXPECT_FALSE(lot.park(lot.prepare(), Deadline::after(0)));
}

// Tokens are handed out one at a time, and each thread that takes one passes it on. A lost wake-up would hang the test.
TEST(Parking, NoWakeUpIsLostBetweenManyThreads) {
    constexpr int threads = 6, passes = 20000;
    ParkingLot lot;
    std::atomic<int> tokens{0}, taken{0};
    std::vector<std::thread> running;
    for (int t = 0; t < threads; ++t) {
        running.emplace_back([&] {
            while (taken.load() < passes) {
                int present = tokens.load();
                if (present > 0 && tokens.compare_exchange_strong(present, present - 1)) {
                    if (taken.fetch_add(1) + 1 >= passes) break;
                    tokens.fetch_add(1);
                    lot.wake_one();
                    continue;
                }
                const ParkingLot::Epoch epoch = lot.prepare();
                if (tokens.load() > 0 || taken.load() >= passes)
                    lot.cancel();
                else
                    lot.park(epoch, Deadline::never());
            }
            lot.wake_all();
        });
    }
    tokens.store(1);
    lot.wake_one();
    for (std::thread& thread : running) thread.join();
    EXPECT_GE(taken.load(), passes);
}

}  // namespace
}  // namespace canopy
