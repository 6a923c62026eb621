// SPDX-License-Identifier: Apache-2.0
// Mutex and SharedMutex exclude other holders; Condition releases the mutex while it waits.
#include "foundation/mutex.h"

#include <gtest/gtest.h>

#include <thread>
#include <type_traits>
#include <vector>

namespace canopy {
namespace {

static_assert(!std::is_copy_constructible_v<MutexLock> && !std::is_copy_constructible_v<ReaderLock> &&
              !std::is_copy_constructible_v<WriterLock>);

// True if another thread can take the mutex now.
template <class Lock>
bool is_free(Lock& mutex) {
    bool taken = false;
    std::thread([&] {
        if (!mutex.try_lock()) return;
        taken = true;
        mutex.unlock();
    }).join();
    return taken;
}

TEST(Mutex, IsHeldForTheScopeOfItsLock) {
    Mutex mutex;
    {
        MutexLock lock(mutex);
        EXPECT_FALSE(is_free(mutex));
    }
    EXPECT_TRUE(is_free(mutex));
}

TEST(Mutex, LockCanBeReleasedEarlyAndTakenAgain) {
    Mutex mutex;
    {
        MutexLock lock(mutex);
        lock.unlock();
        EXPECT_TRUE(is_free(mutex));
        lock.lock();
        EXPECT_FALSE(is_free(mutex));
        lock.unlock();
    }
    EXPECT_TRUE(is_free(mutex));
}

TEST(Mutex, ThreadsExcludeEachOther) {
    struct {
        Mutex mutex;
        int value CANOPY_GUARDED_BY(mutex) = 0;
    } counter;
    std::vector<std::thread> threads;
    for (int number = 0; number < 4; ++number)
        threads.emplace_back([&] {
            for (int step = 0; step < 1000; ++step) {
                MutexLock lock(counter.mutex);
                ++counter.value;
            }
        });
    for (std::thread& thread : threads) thread.join();
    MutexLock lock(counter.mutex);
    EXPECT_EQ(counter.value, 4000);
}

TEST(Condition, WakesWaitersAndGivesThemTheMutexBack) {
    struct {
        Mutex mutex;
        Condition changed;
        int turn CANOPY_GUARDED_BY(mutex) = 0;
    } game;
    // Two threads take turns: each step needs the mutex to be free while the other thread waits.
    const auto play = [&](int mine) {
        for (int round = 0; round < 100; ++round) {
            MutexLock lock(game.mutex);
            while (game.turn % 2 != mine) game.changed.wait(game.mutex);
            ++game.turn;
            game.changed.notify_one();
        }
    };
    std::thread other([&] { play(1); });
    play(0);
    other.join();
    MutexLock lock(game.mutex);
    EXPECT_EQ(game.turn, 200);
}

TEST(Condition, ReturnsWhenTheDeadlineHasPassedAndHoldsTheMutex) {
    Mutex mutex;
    Condition never;
    MutexLock lock(mutex);
    const Deadline deadline = Deadline::after(millisecond);
    while (never.wait(mutex, deadline)) {
    }
    EXPECT_TRUE(deadline.passed());
    EXPECT_FALSE(is_free(mutex));
}

TEST(SharedMutex, ReadersShareItAndKeepWritersOut) {
    SharedMutex mutex;
    {
        ReaderLock reader(mutex);
        std::thread([&] { ReaderLock second(mutex); }).join();
        EXPECT_FALSE(is_free(mutex));
    }
    EXPECT_TRUE(is_free(mutex));
}

TEST(SharedMutex, WriterKeepsWritersOut) {
    SharedMutex mutex;
    {
        WriterLock writer(mutex);
        EXPECT_FALSE(is_free(mutex));
    }
    EXPECT_TRUE(is_free(mutex));
}

}  // namespace
}  // namespace canopy
