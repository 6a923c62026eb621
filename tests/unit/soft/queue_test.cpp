// SPDX-License-Identifier: Apache-2.0
// Queues of the software NPU: order, waiting, dropping and destruction, under races.
#include <gtest/gtest.h>

#include <cstring>
#include <thread>

#include "soft/soft_device.h"
#include "until.h"

namespace canopy {
namespace {

using test::TestQueue;

class Queues : public testing::TestWithParam<std::uint32_t> {
protected:
    void SetUp() override { device_ = test::open_soft_device(GetParam()); }
    std::unique_ptr<Device> device_;
};

Command copy_of(void* destination, const void* source, std::size_t size, bool snapshot) {
    Command command(Opcode::copy);
    command.copy = {device_address(destination), device_address(source), size, 1, size, size};
    command.snapshot = snapshot;
    return command;
}

TEST_P(Queues, NumberCommandsFromOne) {
    TestQueue queue(*device_);
    std::atomic<std::uint64_t> counter{0};
    EXPECT_EQ(queue->completed(), 0u);
    EXPECT_EQ(queue.count(counter), 1u);
    EXPECT_EQ(queue.count(counter), 2u);
    queue.finish(2);
    EXPECT_EQ(queue->completed(), 2u);
    queue.finish(1);
}

TEST_P(Queues, RunCommandsInOrder) {
    TestQueue queue(*device_);
    std::vector<char> chain(20001);
    chain[0] = 42;
    std::uint64_t last = 0;
    for (std::size_t i = 0; i + 1 < chain.size(); ++i) last = queue.submit(copy_of(&chain[i + 1], &chain[i], 1, false));
    queue.finish(last);
    EXPECT_EQ(chain.back(), 42);
}

TEST_P(Queues, TakeSnapshotsOfAnySize) {
    TestQueue queue(*device_);
    for (const std::size_t size : {1u, 64u, 65u, 8192u, 8193u, 300000u}) {
        std::vector<char> source(size, 'x'), destination(size);
        Fence* fence = *device_->create_fence();
        queue.wait_for(*fence, 1);
        const std::uint64_t last = queue.submit(copy_of(destination.data(), source.data(), size, true));
        std::memset(source.data(), 'y', size);
        fence->signal(SignalMode::raise, 1);
        queue.finish(last);
        EXPECT_EQ(destination, std::vector<char>(size, 'x'));
        fence->release();
    }
}

TEST_P(Queues, ReportAFaultAndGoOnOrDropTheRest) {
    for (const AfterFailure after : {AfterFailure::go_on, AfterFailure::drop_the_rest}) {
        TestQueue queue(*device_);
        queue.set_after(after);
        Fence* gate = *device_->create_fence();
        int word = 0, source = 5;
        queue.wait_for(*gate, 1);
        queue.submit(copy_of(reinterpret_cast<void*>(8), &source, 4, false));
        const std::uint64_t last = queue.submit(copy_of(&word, &source, 4, false));
        gate->signal(SignalMode::raise, 1);
        queue.finish(last);
        EXPECT_EQ(queue.failures(), std::vector<FaultKind>{FaultKind::memory});
        EXPECT_EQ(word, after == AfterFailure::go_on ? 5 : 0);
        int again = 0;
        queue.finish(queue.submit(copy_of(&again, &source, 4, false)));
        EXPECT_EQ(again, 5);
        gate->release();
    }
}

TEST_P(Queues, EndWhileTheyStandBeforeAWait) {
    Fence* fence = *device_->create_fence();
    for (int i = 0; i < 200; ++i) {
        TestQueue queue(*device_);
        queue.wait_for(*fence, 1);
        queue.end();
    }
    fence->release();
}

TEST_P(Queues, EndRightAfterTheirLastCommand) {
    std::atomic<std::uint64_t> counter{0};
    for (int i = 0; i < 2000; ++i) {
        TestQueue queue(*device_);
        queue.finish(queue.count(counter));
        queue.end();
    }
    EXPECT_EQ(counter.load(), 2000u);
}

TEST_P(Queues, RouterRunsHostCalls) {
    struct Collector : CallRouter {
        std::mutex mutex;
        std::vector<std::pair<void (*)(void*), void*>> waiting;
        void route(const CallWork& call, void (*done)(void*), void* token) noexcept override {
            call.function(call.argument);
            std::lock_guard guard(mutex);
            waiting.emplace_back(done, token);
        }
    } collector;
    TestQueue queue(*device_);
    queue->set_router(&collector);
    std::atomic<std::uint64_t> counter{0};
    Command command(Opcode::host_call);
    command.call = {[](void* target) { static_cast<std::atomic<std::uint64_t>*>(target)->fetch_add(1); }, &counter,
                    nullptr};
    queue.submit(command);
    const std::uint64_t last = queue.count(counter);
    const auto routed = [&] {
        std::lock_guard guard(collector.mutex);
        return collector.waiting.size();
    };
    // Commands after the call do not run, however long the test waits.
    ASSERT_TRUE(eventually([&] {
        EXPECT_EQ(queue->wait(last, Deadline::after(millisecond)), WaitOutcome::timed_out);
        return routed() != 0;
    }));
    EXPECT_EQ(queue->wait(last, Deadline::after(2 * millisecond)), WaitOutcome::timed_out);
    EXPECT_EQ(counter.load(), 1u);
    std::lock_guard guard(collector.mutex);
    ASSERT_EQ(collector.waiting.size(), 1u);
    collector.waiting[0].first(collector.waiting[0].second);
    queue.finish(last);
    EXPECT_EQ(counter.load(), 2u);
}

TEST_P(Queues, SettledDeviceHasRunWhatCouldRun) {
    Fence* fence = *device_->create_fence();
    TestQueue running(*device_), blocked(*device_);
    std::atomic<std::uint64_t> counter{0};
    for (int i = 0; i < 1000; ++i) running.count(counter);
    blocked.wait_for(*fence, 1);
    blocked.count(counter);
    device_->quiesce();
    EXPECT_EQ(counter.load(), 1000u);
    EXPECT_TRUE(blocked.blocked());
    fence->signal(SignalMode::raise, 1);
    device_->quiesce();
    EXPECT_EQ(counter.load(), 1001u);
    fence->release();
}

TEST_P(Queues, AHostCallUnderWayIsWaitedForUntilTheDeadline) {
    EXPECT_TRUE(device_->settle(Deadline{0}));  // has nothing to do
    Fence* fence = *device_->create_fence();
    TestQueue calls(*device_), blocked(*device_);
    blocked.wait_for(*fence, 1);
    std::atomic<std::uint64_t> counter{0};
    struct Held {
        std::atomic<bool> begun{false}, go{false};
    } held;
    Command command(Opcode::host_call);
    command.call = {[](void* data) {
                        static_cast<Held*>(data)->begun = true;
                        EXPECT_TRUE(eventually([&] { return static_cast<Held*>(data)->go.load(); }));
                    },
                    &held, nullptr};
    calls.submit(command);
    for (int i = 0; i < 100; ++i) calls.count(counter);
    ASSERT_TRUE(eventually([&] { return held.begun.load(); }));
    EXPECT_FALSE(device_->settle(Deadline{0}));
    EXPECT_FALSE(device_->settle(Deadline::after(2 * millisecond)));
    held.go = true;
    EXPECT_TRUE(device_->settle(Deadline::never()));
    EXPECT_EQ(counter.load(), 100u);
    EXPECT_TRUE(blocked.blocked());
    fence->signal(SignalMode::raise, 1);
    fence->release();
    EXPECT_TRUE(device_->settle(Deadline::never()));
}

TEST_P(Queues, SettlingEndsWhileOthersKeepSubmitting) {
    TestQueue busy(*device_);
    std::atomic<std::uint64_t> counter{0};
    std::atomic<bool> end{false};
    std::thread submitter([&] {
        std::uint64_t last = 0;
        while (!end.load()) {
            for (int i = 0; i < 100; ++i) last = busy.count(counter);
            busy->help_drain(last > 1000 ? last - 1000 : 0);
        }
        busy.finish(last);
    });
    for (int i = 0; i < 20; ++i) device_->quiesce();
    end.store(true);
    submitter.join();
}

TEST_P(Queues, MemoryFreedUnderRunningWorkComesBack) {
    Fence* fence = *device_->create_fence();
    TestQueue queue(*device_);
    const std::uint64_t before = device_->memory_usage().free;
    std::atomic<bool> go{false}, entered{false};
    struct Flags {
        std::atomic<bool>*go, *entered;
    } flags{&go, &entered};
    const std::uint64_t last = queue.call(
        [](void* data) {
            auto* both = static_cast<Flags*>(data);
            both->entered->store(true);
            EXPECT_TRUE(eventually([&] { return both->go->load(); }));
        },
        &flags);
    ASSERT_TRUE(eventually([&] { return entered.load(); }));
    const DeviceAddress memory = *device_->allocate(1 << 20, 0);
    EXPECT_TRUE(device_->release(memory).ok());
    EXPECT_FALSE(device_->release(memory).ok()) << "freed twice";
    const DeviceAddress other = *device_->allocate(1 << 20, 0);
    EXPECT_NE(other, memory) << "the running task may still use it";
    go.store(true);
    queue.finish(last);
    EXPECT_TRUE(device_->release(other).ok());
    device_->quiesce();
    EXPECT_EQ(device_->memory_usage().free, before);
    fence->release();
}

// Threads submit, wait, abort and destroy queues that share fences; every queue completes.
TEST_P(Queues, EverythingAtOnce) {
    constexpr int threads = 4, rounds = 300;
    Fence* fences[4];
    for (Fence*& fence : fences) fence = *device_->create_fence();
    std::atomic<std::uint64_t> counter{0}, expected{0};
    std::vector<std::thread> running;
    for (int t = 0; t < threads; ++t) {
        running.emplace_back([&, t] {
            std::uint32_t random = 777u + static_cast<std::uint32_t>(t);
            const auto pick = [&](std::uint32_t count) {
                random = random * 1664525u + 1013904223u;
                return (random >> 16) % count;
            };
            for (int round = 0; round < rounds; ++round) {
                TestQueue queue(*device_, pick(8));
                std::uint64_t last = 0;
                const std::uint32_t commands = 1 + pick(30);
                for (std::uint32_t i = 0; i < commands; ++i) {
                    Fence& fence = *fences[pick(4)];
                    switch (pick(6)) {
                        case 0:
                            last = queue.signal(fence, 1 + pick(3), SignalMode::set);
                            break;
                        case 1:
                            last = queue.wait_for(fence, pick(4), pick(2) ? 2 * millisecond : 0, WaitMode::at_least,
                                                  pick(2));
                            break;
                        default:
                            last = queue.count(counter);
                            expected.fetch_add(1);
                    }
                }
                switch (pick(3)) {
                    case 0:
                        queue->wait(last, Deadline::after(millisecond));
                        break;
                    case 1:
                        queue->abort();
                        break;
                    default:
                        queue->help_drain(last);
                }
                queue.end();
            }
        });
    }
    for (std::thread& thread : running) thread.join();
    EXPECT_EQ(counter.load(), expected.load());
    for (Fence* fence : fences) fence->release();
}

INSTANTIATE_TEST_SUITE_P(Workers, Queues, testing::Values(1, 2, 8));

}  // namespace
}  // namespace canopy
