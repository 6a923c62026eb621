// SPDX-License-Identifier: Apache-2.0
// Fences of the software NPU: counters that queues signal and wait for.
#include <gtest/gtest.h>

#include <thread>

#include "soft/fused_plan.h"
#include "soft/soft_device.h"
#include "until.h"

namespace canopy {
namespace {

using test::TestQueue;

class Fences : public testing::TestWithParam<std::uint32_t> {
protected:
    void SetUp() override {
        device_ = test::open_soft_device(GetParam());
        fence_ = *device_->create_fence();
    }
    void TearDown() override { fence_->release(); }
    std::unique_ptr<Device> device_;
    Fence* fence_ = nullptr;
};

void check_modes(Fence& fence) {
    EXPECT_EQ(fence.value(), 0u);
    EXPECT_EQ(fence.signalled_at(), 0);
    fence.signal(SignalMode::raise, 5);
    EXPECT_EQ(fence.value(), 5u);
    EXPECT_GT(fence.signalled_at(), 0);
    fence.signal(SignalMode::raise, 3);
    EXPECT_EQ(fence.value(), 5u);
    fence.signal(SignalMode::set, 2);
    EXPECT_EQ(fence.value(), 2u);
    fence.signal(SignalMode::add, 6);
    EXPECT_EQ(fence.value(), 8u);
    fence.signal(SignalMode::bit_or, 3);
    EXPECT_EQ(fence.value(), 11u);
    fence.signal(SignalMode::bit_and, 6);
    EXPECT_EQ(fence.value(), 2u);
    fence.signal(SignalMode::add, 0xFFFFFFFF);
    EXPECT_EQ(fence.value(), 1u);
}

TEST_P(Fences, ModesChangeTheValue) { check_modes(*fence_); }

TEST(NullFences, ModesChangeTheValue) {
    const std::unique_ptr<Device> device = test::open_device("null", 1);
    Fence* fence = *device->create_fence();
    check_modes(*fence);
    fence->release();
}

TEST_P(Fences, WaitHoldsAQueueUntilTheSignal) {
    TestQueue waiter(*device_);
    std::atomic<std::uint64_t> counter{0};
    waiter.wait_for(*fence_, 3);
    const std::uint64_t last = waiter.count(counter);
    fence_->signal(SignalMode::raise, 2);
    EXPECT_EQ(waiter->wait(last, Deadline::after(millisecond)), WaitOutcome::timed_out);
    EXPECT_EQ(counter.load(), 0u);
    fence_->signal(SignalMode::raise, 3);
    waiter.finish(last);
    EXPECT_EQ(counter.load(), 1u);
}

TEST_P(Fences, ClearingWaitIsReleasedOncePerSignal) {
    TestQueue first(*device_), second(*device_);
    const std::uint64_t one = first.wait_for(*fence_, 1, 0, WaitMode::equal, true);
    ASSERT_TRUE(eventually([&] { return first.blocked(); }));
    const std::uint64_t two = second.wait_for(*fence_, 1, 0, WaitMode::equal, true);
    ASSERT_TRUE(eventually([&] { return second.blocked(); }));
    fence_->signal(SignalMode::set, 1);
    first.finish(one);
    EXPECT_TRUE(second.blocked());
    EXPECT_EQ(fence_->value(), 0u);
    fence_->signal(SignalMode::set, 1);
    second.finish(two);
}

TEST_P(Fences, WaitWithALimitExpires) {
    TestQueue waiter(*device_);
    std::atomic<std::uint64_t> counter{0};
    waiter.wait_for(*fence_, 1, 5 * millisecond);
    const std::uint64_t last = waiter.count(counter);
    waiter.finish(last);
    EXPECT_EQ(waiter.failures(), std::vector<FaultKind>{FaultKind::wait_timeout});
    EXPECT_EQ(counter.load(), 1u);
    waiter.wait_for(*fence_, 0, 5 * millisecond);
    waiter.finish(waiter.count(counter));
    EXPECT_EQ(waiter.failures().size(), 1u);
}

TEST_P(Fences, AbortEndsAWait) {
    TestQueue waiter(*device_);
    std::atomic<std::uint64_t> counter{0};
    waiter.wait_for(*fence_, 1);
    Command dropped(Opcode::host_call);
    dropped.call = {[](void* target) { static_cast<std::atomic<std::uint64_t>*>(target)->fetch_add(1); }, &counter,
                    nullptr};
    const std::uint64_t last = waiter.submit(dropped);
    waiter->abort();
    EXPECT_EQ(waiter->completed(), last);
    EXPECT_EQ(counter.load(), 0u);
    EXPECT_TRUE(waiter.failures().empty());
}

// Two queues pass a number back and forth through two fences.
TEST_P(Fences, PingPong) {
    constexpr std::uint64_t rounds = 5000;
    TestQueue left(*device_), right(*device_);
    Fence* other = *device_->create_fence();
    std::atomic<std::uint64_t> counter{0};
    for (std::uint64_t i = 1; i <= rounds; ++i) {
        left.signal(*fence_, i);
        left.wait_for(*other, i);
        right.wait_for(*fence_, i);
        right.count(counter);
        right.signal(*other, i);
    }
    const std::uint64_t last = left.count(counter);
    left.finish(last);
    EXPECT_EQ(counter.load(), rounds + 1);
    left.end();
    right.end();
    other->release();
}

// Host signals race with waits, time limits and aborts; nothing hangs and every command completes.
TEST_P(Fences, SignalsWaitsLimitsAndAbortsRace) {
    constexpr int rounds = 600;
    TestQueue queues[3] = {TestQueue(*device_), TestQueue(*device_), TestQueue(*device_)};
    std::atomic<std::uint64_t> counter{0};
    std::atomic<bool> end{false};
    std::thread signaller([&] {
        for (std::uint64_t i = 0; !end.load(); ++i) {
            fence_->signal(SignalMode::set, i % 4);
            if (i % 16 == 0) std::this_thread::yield();  // on one processor the queues must get their turn
        }
    });
    std::thread aborter([&] {
        while (!end.load()) {
            queues[2]->abort();
            std::this_thread::yield();
        }
    });
    std::uint64_t last[3] = {};
    for (int i = 0; i < rounds; ++i) {
        for (int q = 0; q < 3; ++q) {
            queues[q].wait_for(*fence_, 3, q == 1 ? millisecond : 0, WaitMode::equal, q == 0);
            last[q] = queues[q].count(counter);
        }
        if (i % 16 == 0)
            for (int q = 0; q < 3; ++q) queues[q].finish(last[q]);
    }
    for (int q = 0; q < 3; ++q) queues[q].finish(last[q]);
    end.store(true);
    signaller.join();
    aborter.join();
    EXPECT_EQ(counter.load(), 3u * rounds);  // a dropped inline call is still made
}

// A lost signal would stop both queues for ever: each waits for the other in every round, once for a rising value, once
// for a word that the wait clears.
TEST_P(Fences, NoSignalIsLostBetweenTwoQueues) {
    constexpr std::uint64_t rounds = 3000;
    Fence* back = *device_->create_fence();
    for (const bool clears : {false, true}) {
        TestQueue first(*device_), second(*device_);
        std::atomic<std::uint64_t> counter{0};
        fence_->signal(SignalMode::set, 0);
        back->signal(SignalMode::set, 0);
        std::uint64_t last = 0;
        for (std::uint64_t round = 1; round <= rounds; ++round) {
            const std::uint64_t value = clears ? 1 : round;
            first.signal(*fence_, value);
            first.wait_for(*back, value, 0, WaitMode::at_least, clears);
            last = first.count(counter);
            second.wait_for(*fence_, value, 0, WaitMode::at_least, clears);
            second.signal(*back, value);
        }
        first.finish(last);
        EXPECT_EQ(counter.load(), rounds);
    }
    back->release();
}

// A plain number: only the fences keep the two queues apart, also where a thread stays in the guard of their launches.
void add_one(const void* arguments) { ++**static_cast<std::uint64_t* const*>(arguments); }

std::uint64_t launch(TestQueue& queue, const SoftKernel& kernel, std::uint64_t* number) {
    Command command(Opcode::launch);
    command.launch = {};
    command.launch.kernel = &kernel;
    command.launch.blocks = 1;
    command.launch.set_arguments(&number);
    command.launch.arguments_size = sizeof number;
    return queue.submit(command);
}

TEST_P(Fences, LaunchesOfTwoQueuesTakeTurns) {
    constexpr std::uint64_t limit = std::uint64_t{100} * second;  // never reached
    constexpr std::uint64_t rounds = 2000;
    Fence* back = *device_->create_fence();
    test::TestKernel kernel("add_one", &add_one);
    for (const bool works_on : {false, true}) {
        TestQueue first(*device_), second(*device_);
        std::uint64_t shared = 0, own[2] = {};
        fence_->signal(SignalMode::set, 0);
        back->signal(SignalMode::set, 0);
        std::uint64_t last[2] = {};
        for (std::uint64_t round = 1; round <= rounds; ++round) {
            launch(first, kernel, &shared);
            first.signal(*fence_, round);
            if (works_on) launch(first, kernel, &own[0]);
            last[0] = first.wait_for(*back, round, round % 3 == 0 ? limit : 0);
            second.wait_for(*fence_, round, round % 5 == 0 ? limit : 0);
            launch(second, kernel, &shared);
            last[1] = second.signal(*back, round);
            if (works_on) last[1] = launch(second, kernel, &own[1]);
        }
        first.finish(last[0]);
        second.finish(last[1]);
        EXPECT_EQ(shared, 2 * rounds);
        EXPECT_EQ(own[0], works_on ? rounds : 0);
        EXPECT_EQ(own[1], works_on ? rounds : 0);
        EXPECT_TRUE(first.failures().empty() && second.failures().empty());
    }
    back->release();
}

// The queue is aborted before, in and after a wait between two launches; what comes later runs.
TEST_P(Fences, AbortsMeetWaitsBetweenLaunches) {
    test::TestKernel kernel("add_one", &add_one);
    TestQueue waiter(*device_), signaller(*device_);
    std::uint64_t number = 0, other = 0, before = 0;
    for (std::uint64_t round = 1; round <= 300; ++round) {
        launch(waiter, kernel, &number);
        waiter.wait_for(*fence_, round);
        const std::uint64_t last = launch(waiter, kernel, &number);
        if (round % 3 != 0) {
            launch(signaller, kernel, &other);
            signaller.signal(*fence_, round);
        }
        waiter->abort();
        EXPECT_EQ(waiter->completed(), last);
        const std::uint64_t next = launch(waiter, kernel, &number);
        waiter.finish(next);
        EXPECT_GT(number, before);
        EXPECT_LE(number, before + 3);
        before = number;
    }
    const std::uint64_t last = signaller.signal(*fence_, 1000);
    signaller.finish(last);
    EXPECT_TRUE(waiter.failures().empty());
}

// The value can be seen before the stamp is written.
TEST_P(Fences, TheStampIsOfTheSignalThatWasSeen) {
    TestQueue queue(*device_);
    Nanoseconds last = 0;
    for (std::uint64_t round = 1; round <= 500; ++round) {
        queue.signal(*fence_, round);
        ASSERT_TRUE(eventually([&] { return fence_->value() >= round; }));
        EXPECT_GT(fence_->signalled_at(), last);
        last = fence_->signalled_at();
    }
}

INSTANTIATE_TEST_SUITE_P(Workers, Fences, testing::Values(1, 2, 8));

}  // namespace
}  // namespace canopy
