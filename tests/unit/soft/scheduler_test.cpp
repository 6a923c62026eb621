// SPDX-License-Identifier: Apache-2.0
// The choices of the software NPU's scheduler, seen through queues: priorities, turns, words in memory, many queues.
#include <gtest/gtest.h>

#include <memory>
#include <thread>

#include "soft/soft_device.h"
#include "until.h"

namespace canopy {
namespace {

using test::TestQueue;

class Scheduling : public testing::TestWithParam<std::uint32_t> {
protected:
    void SetUp() override { device_ = test::open_soft_device(GetParam()); }
    std::unique_ptr<Device> device_;
};

TEST_P(Scheduling, DeviceWithoutWorkEndsAtOnce) {}

TEST_P(Scheduling, ThousandsOfQueuesAllGetTheirTurn) {
    std::vector<std::unique_ptr<TestQueue>> queues;
    std::atomic<std::uint64_t> counter{0};
    for (int i = 0; i < 2000; ++i) queues.push_back(std::make_unique<TestQueue>(*device_, i % 8));
    for (int round = 0; round < 5; ++round)
        for (auto& queue : queues) queue->count(counter);
    for (auto& queue : queues) queue->finish(5);
    EXPECT_EQ(counter.load(), 10000u);
}

TEST_P(Scheduling, QueueThatNeverEmptiesDoesNotStarveAnother) {
    TestQueue greedy(*device_), modest(*device_);
    std::atomic<std::uint64_t> counter{0};
    std::atomic<bool> end{false};
    std::thread submitter([&] {
        std::uint64_t last = 0;
        while (!end.load()) {
            last = greedy.count(counter);
            if (last % 512 == 0) greedy->wait(last - 256, Deadline::after(second));
        }
        greedy.finish(last);
    });
    for (int i = 0; i < 50; ++i)
        EXPECT_EQ(modest->wait(modest.count(counter), Deadline::after(60 * second)), WaitOutcome::done);
    end.store(true);
    submitter.join();
}

TEST_P(Scheduling, WordsInMemoryAreSeenWhoeverWritesThem) {
    TestQueue waiter(*device_), writer(*device_);
    alignas(8) std::uint64_t word = 0;
    const auto wait = [&](std::uint64_t value, ValueCondition condition) {
        Command command(Opcode::wait_value);
        command.value = {device_address(&word), value, condition};
        return waiter.submit(command);
    };
    std::uint64_t last = wait(7, ValueCondition::equal);
    EXPECT_EQ(waiter->wait(last, Deadline::after(millisecond)), WaitOutcome::timed_out);
    Command write(Opcode::write_value);
    write.value = {device_address(&word), 7, ValueCondition::equal};
    writer.submit(write);
    waiter.finish(last);
    last = wait(100, ValueCondition::at_least);
    __atomic_store_n(&word, 100, __ATOMIC_RELEASE);  // written from outside the device
    waiter.finish(last);
    Command unreadable(Opcode::wait_value);
    unreadable.value = {DeviceAddress(16), 1, ValueCondition::equal};
    waiter.finish(waiter.submit(unreadable));
    EXPECT_EQ(waiter.failures(), std::vector<FaultKind>{FaultKind::memory});
}

TEST_P(Scheduling, AbortEndsAWaitForAWord) {
    TestQueue waiter(*device_);
    alignas(8) std::uint64_t word = 0;
    Command command(Opcode::wait_value);
    command.value = {device_address(&word), 1, ValueCondition::equal};
    const std::uint64_t last = waiter.submit(command);
    ASSERT_TRUE(eventually([&] { return waiter.blocked(); }));
    waiter->abort();
    EXPECT_EQ(waiter->completed(), last);
}

TEST_P(Scheduling, PriorityMayChangeAtAnyTime) {
    TestQueue queue(*device_, 7);
    std::atomic<std::uint64_t> counter{0};
    std::uint64_t last = 0;
    for (std::uint32_t i = 0; i < 5000; ++i) {
        last = queue.count(counter);
        if (i % 10 == 0) queue->set_priority(i / 10 % 8);
    }
    queue.finish(last);
    EXPECT_EQ(counter.load(), 5000u);
}

TEST_P(Scheduling, DeviceClosesWhileItsWorkersAreStillAwake) {
    for (int i = 0; i < 20; ++i) {
        std::unique_ptr<Device> device = test::open_soft_device(GetParam());
        std::atomic<std::uint64_t> counter{0};
        {
            TestQueue queue(*device);
            queue.finish(queue.count(counter));
        }
        device.reset();
        EXPECT_EQ(counter.load(), 1u);
    }
}

// A signalling thread may still be leaving the fence after the queue it released, and even the device, are destroyed.
TEST_P(Scheduling, DeviceClosesWhileASignalIsOnItsWayOut) {
    for (int i = 0; i < 300; ++i) {
        std::unique_ptr<Device> device = test::open_soft_device(GetParam());
        Fence* fence = *device->create_fence();
        TestQueue queue(*device);
        const std::uint64_t last = queue.wait_for(*fence, 1);
        ASSERT_TRUE(eventually([&] { return queue.blocked(); }));
        std::thread signaller([&] { fence->signal(SignalMode::raise, 1); });
        queue.finish(last);
        queue.end();
        device.reset();
        signaller.join();
        fence->release();
    }
}

INSTANTIATE_TEST_SUITE_P(Workers, Scheduling, testing::Values(1, 2, 8));

}  // namespace
}  // namespace canopy
