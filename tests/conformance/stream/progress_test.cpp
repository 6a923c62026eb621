// SPDX-License-Identifier: Apache-2.0
// Blocks of one launch make progress together, so do kernels of different streams, and urgent streams run first.
#include <cstdlib>
#include <thread>

#include "fixtures/fixture.h"
#include "fixtures/holding.h"

namespace conformance {
namespace {

class Progress : public KernelTest {
protected:
    void SetUp() override {
        KernelTest::SetUp();
        if (!device_computes()) GTEST_SKIP() << "this device runs no kernels";
    }
};

TEST_F(Progress, FortyEightBlocksMeetInABarrier) {
    for (const uint32_t blocks : {2u, 3u, 16u, 47u, 48u}) {
        auto* words = device_array<uint32_t>({0, 0});
        ASSERT_ACL_OK(launch("meet_in_barrier", blocks, stream_, words, words + 1, 20u));
        EXPECT_ACL_OK(aclrtSynchronizeStream(stream_));
        EXPECT_EQ(read_back(words, 2), (std::vector<uint32_t>{20 * blocks, 0})) << blocks << " blocks";
    }
}

TEST_F(Progress, FortyEightBlocksMeetInPlainMemory) {
    for (const uint32_t blocks : {2u, 5u, 48u}) {
        auto* arrived = device_array<uint32_t>({0});
        ASSERT_ACL_OK(launch("meet_in_memory", blocks, stream_, arrived));
        EXPECT_ACL_OK(aclrtSynchronizeStream(stream_));
        EXPECT_EQ(read_back(arrived, 1)[0], blocks);
    }
}

TEST_F(Progress, BarriersOfTwoLaunchesDoNotDisturbEachOther) {
    aclrtStream other = nullptr;
    ASSERT_ACL_OK(aclrtCreateStream(&other));
    auto *first = device_array<uint32_t>({0, 0}), *second = device_array<uint32_t>({0, 0});
    for (int i = 0; i < 10; ++i) {
        ASSERT_ACL_OK(launch("meet_in_barrier", 20, stream_, first, first + 1, 5u));
        ASSERT_ACL_OK(aclrtMemsetAsync(first, 4, 0, 4, stream_));
        ASSERT_ACL_OK(launch("meet_in_barrier", 24, other, second, second + 1, 5u));
        ASSERT_ACL_OK(aclrtMemsetAsync(second, 4, 0, 4, other));
    }
    EXPECT_ACL_OK(aclrtSynchronizeStream(stream_));
    EXPECT_ACL_OK(aclrtDestroyStream(other));
    EXPECT_EQ(read_back(first, 2)[1] + read_back(second, 2)[1], 0u);
}

TEST_F(Progress, KernelSeesWhatAKernelOfAnotherStreamWrites) {
    auto* words = device_array<uint32_t>({0, 0});
    aclrtStream other = nullptr;
    ASSERT_ACL_OK(aclrtCreateStream(&other));
    ASSERT_ACL_OK(launch("wait_for_word", 1, stream_, words, words + 1));
    ASSERT_ACL_OK(launch("set_word", 1, other, words));
    EXPECT_ACL_OK(aclrtSynchronizeStream(stream_));
    EXPECT_ACL_OK(aclrtSynchronizeStream(other));
    EXPECT_EQ(read_back(words, 2), (std::vector<uint32_t>{1, 1}));
    EXPECT_ACL_OK(aclrtDestroyStream(other));
}

TEST_F(Progress, ChainOfKernelsThatPollOneAnotherEnds) {
    constexpr uint32_t length = 12;
    auto* words = device_array(std::vector<uint32_t>(length + 1, 0));
    std::vector<aclrtStream> streams(length);
    for (uint32_t i = 0; i < length; ++i) {
        ASSERT_ACL_OK(aclrtCreateStream(&streams[i]));
        ASSERT_ACL_OK(launch("wait_for_word", 1, streams[i], words + i + 1, words + i));
    }
    ASSERT_ACL_OK(launch("set_word", 1, stream_, words + length));
    for (aclrtStream stream : streams) EXPECT_ACL_OK(aclrtDestroyStream(stream));
    EXPECT_EQ(read_back(words, 1)[0], 1u);
}

TEST_F(Progress, KernelSeesWhatACopyOfAnotherStreamWrites) {
    auto* words = device_array<uint32_t>({0, 0});
    auto* source = device_array<uint32_t>({1});
    aclrtStream other = nullptr;
    ASSERT_ACL_OK(aclrtCreateStream(&other));
    ASSERT_ACL_OK(launch("wait_for_word", 8, stream_, words, words + 1));
    ASSERT_ACL_OK(aclrtMemcpyAsync(words, 4, source, 4, ACL_MEMCPY_DEVICE_TO_DEVICE, other));
    EXPECT_ACL_OK(aclrtSynchronizeStream(stream_));
    EXPECT_ACL_OK(aclrtDestroyStream(other));
}

TEST_F(Progress, KernelSeesWhatTheHostCopiesIntoItsWord) {
    auto* words = device_array<uint32_t>({0, 0});
    ASSERT_ACL_OK(launch("wait_for_word", 1, stream_, words, words + 1));
    const uint32_t one = 1;
    ASSERT_ACL_OK(aclrtMemcpy(words, 4, &one, 4, ACL_MEMCPY_HOST_TO_DEVICE));
    EXPECT_ACL_OK(aclrtSynchronizeStream(stream_));
}

TEST_F(Progress, OtherStreamsWorkWhileBlocksSpin) {
    SharedWord go, done;
    ASSERT_ACL_OK(launch("wait_for_word", 48, stream_, go.device(), done.device()));
    aclrtStream other = nullptr;
    ASSERT_ACL_OK(aclrtCreateStream(&other));
    auto* counter = device_array<uint32_t>({0});
    auto* copied = static_cast<uint32_t*>(device_memory(4));
    for (int i = 0; i < 20; ++i) ASSERT_ACL_OK(launch("increment", 1, other, counter));
    ASSERT_ACL_OK(aclrtMemcpyAsync(copied, 4, counter, 4, ACL_MEMCPY_DEVICE_TO_DEVICE, other));
    EXPECT_ACL_OK(aclrtSynchronizeStream(other));
    EXPECT_EQ(done.get(), 0u);
    go.set(1);
    EXPECT_ACL_OK(aclrtSynchronizeStream(stream_));
    EXPECT_EQ(read_back(copied, 1)[0], 20u);
    EXPECT_ACL_OK(aclrtDestroyStream(other));
}

TEST_F(Progress, MoreLaunchesThanCoresAreServedInTurn) {
    std::vector<aclrtStream> streams(10);
    auto* words = device_array(std::vector<uint32_t>(2 * streams.size(), 0));
    for (size_t i = 0; i < streams.size(); ++i) {
        ASSERT_ACL_OK(aclrtCreateStream(&streams[i]));
        for (int round = 0; round < 5; ++round)
            ASSERT_ACL_OK(launch("meet_in_barrier", 40, streams[i], words + 2 * i, words + 2 * i + 1, 1u));
    }
    for (aclrtStream stream : streams) EXPECT_ACL_OK(aclrtDestroyStream(stream));
    for (size_t i = 0; i < streams.size(); ++i) EXPECT_EQ(read_back(words + 2 * i, 1)[0], 5u * 40);
}

class Priority : public Progress {
protected:
    void SetUp() override {
        Progress::SetUp();
        const char* workers = std::getenv("CANOPY_WORKERS");
        if (!workers || std::atoi(workers) != 1) GTEST_SKIP() << "only one worker makes the order visible";
        ASSERT_ACL_OK(aclrtCreateEventWithFlag(&event_, ACL_EVENT_SYNC));
    }
    void TearDown() override {
        if (event_) EXPECT_ACL_OK(aclrtDestroyEvent(event_));
        Progress::TearDown();
    }

    // Makes streams ready at the same moment, with the first of `priorities` first in line: each waits for the same
    // record, which the only worker runs itself. Returns the order in which the streams ran.
    std::vector<uint32_t> order_of(const std::vector<uint32_t>& priorities) {
        constexpr uint32_t tasks = 3;
        auto* log = device_array(std::vector<uint32_t>(1 + tasks * priorities.size(), 0));
        std::vector<aclrtStream> streams(priorities.size());
        EXPECT_ACL_OK(aclrtResetEvent(event_, stream_));
        for (size_t i = 0; i < streams.size(); ++i) {
            EXPECT_ACL_OK(aclrtCreateStreamWithConfig(&streams[i], priorities[i], 0));
            EXPECT_ACL_OK(aclrtStreamWaitEvent(streams[i], event_));
            for (uint32_t task = 0; task < tasks; ++task)
                EXPECT_ACL_OK(launch("append", 1, streams[i], log, priorities[i]));
        }
        EXPECT_ACL_OK(aclrtRecordEvent(event_, stream_));
        // A thread that waits with a deadline does not help drain.
        for (aclrtStream stream : streams) EXPECT_EQ(aclrtSynchronizeStreamWithTimeout(stream, 100000), ACL_SUCCESS);
        for (aclrtStream stream : streams) EXPECT_ACL_OK(aclrtDestroyStream(stream));
        std::vector<uint32_t> found = read_back(log, 1 + tasks * priorities.size());
        EXPECT_EQ(found[0], tasks * priorities.size());
        found.erase(found.begin());
        return found;
    }

    aclrtEvent event_ = nullptr;
};

TEST_F(Priority, ReadyStreamsRunInTheOrderOfTheirPriorities) {
    std::vector<uint32_t> expected;
    for (uint32_t priority = 0; priority < 8; ++priority) expected.insert(expected.end(), 3, priority);
    // If the machine keeps the worker from running, an extra worker may start and upset the order in that round. A
    // scheduler that ignores priorities never produces the expected order.
    std::vector<uint32_t> found;
    for (int round = 0; round < 50 && found != expected; ++round) {
        if (round > 0) {
            Gate gate;  // an extra worker leaves after being idle for a while
            gate.hold(stream_);
            EXPECT_EQ(aclrtSynchronizeStreamWithTimeout(stream_, 300), ACL_ERROR_RT_STREAM_SYNC_TIMEOUT);
            gate.open();
            ASSERT_ACL_OK(aclrtSynchronizeStream(stream_));
        }
        found = order_of({7, 6, 5, 4, 3, 2, 1, 0});
    }
    EXPECT_EQ(found, expected);
}

TEST_F(Priority, UrgentStreamGoesFirstAtTheNextTaskBorder) {
    // A long sequence of small tasks on a low-priority stream; one of them makes an urgent stream ready.
    aclrtStream low = nullptr, high = nullptr;
    ASSERT_ACL_OK(aclrtCreateStreamWithConfig(&low, 7, 0));
    ASSERT_ACL_OK(aclrtCreateStreamWithConfig(&high, 0, 0));
    std::vector<uint32_t> found;
    std::vector<uint32_t> expected(20, 7);
    expected.insert(expected.begin() + 10, 0);
    for (int round = 0; round < 50 && found != expected; ++round) {
        auto* log = device_array(std::vector<uint32_t>(22, 0));
        ASSERT_ACL_OK(aclrtResetEvent(event_, stream_));
        ASSERT_ACL_OK(aclrtStreamWaitEvent(high, event_));
        ASSERT_ACL_OK(launch("append", 1, high, log, 0u));
        ASSERT_EQ(aclrtSynchronizeStreamWithTimeout(high, round == 0 ? 5 : 300), ACL_ERROR_RT_STREAM_SYNC_TIMEOUT);
        Gate gate;
        gate.hold(low);
        for (int task = 0; task < 20; ++task) {
            if (task == 10) ASSERT_ACL_OK(aclrtRecordEvent(event_, low));
            ASSERT_ACL_OK(launch("append", 1, low, log, 7u));
        }
        gate.open();
        ASSERT_EQ(aclrtSynchronizeStreamWithTimeout(low, 100000), ACL_SUCCESS);
        ASSERT_EQ(aclrtSynchronizeStreamWithTimeout(high, 100000), ACL_SUCCESS);
        found = read_back(log, 22);
        found.erase(found.begin());
    }
    EXPECT_EQ(found, expected);
    EXPECT_ACL_OK(aclrtDestroyStream(low));
    EXPECT_ACL_OK(aclrtDestroyStream(high));
}

}  // namespace
}  // namespace conformance
