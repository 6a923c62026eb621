// SPDX-License-Identifier: Apache-2.0
// CPU kernels that use queues: pipelines of them, kernels that wait for long, and kernels that are ended in a call.
#include <cstdlib>
#include <fstream>
#include <iterator>

#include "queue_fixture.h"

namespace {

struct Arguments {
    uint32_t from = 0, to = 0;
    uint64_t count = 0;
    uint32_t* seen = nullptr;
};

bool in_own_process() {
    const char* how = std::getenv("CANOPY_CPU_KERNELS");
    return how != nullptr && std::string(how) == "process";
}

class QueueKernel : public QueueTest {
protected:
    void SetUp() override {
        QueueTest::SetUp();
        load(QUEUE_TEST_KERNELS);
        ASSERT_EQ(aclrtMallocHost(reinterpret_cast<void**>(&seen_), 64), 0);  // the host and kernels see it
        std::memset(seen_, 0, 64);
    }
    void TearDown() override {
        for (aclrtStream stream : streams_) EXPECT_EQ(aclrtDestroyStreamForce(stream), 0);
        for (const uint32_t queue : queues_) EXPECT_EQ(acltdtDestroyQueue(queue), 0);
        if (binary_) EXPECT_EQ(aclrtBinaryUnLoad(binary_), 0);
        EXPECT_EQ(aclrtFreeHost(seen_), 0);
        QueueTest::TearDown();
    }
    void load(const char* path) {
        std::ifstream file(path, std::ios::binary);
        const std::string bytes((std::istreambuf_iterator<char>(file)), {});
        aclrtBinaryLoadOption option = {};
        option.type = ACL_RT_BINARY_LOAD_OPT_CPU_KERNEL_MODE;
        option.value.cpuKernelMode = 2;
        const aclrtBinaryLoadOptions options = {&option, 1};
        ASSERT_EQ(aclrtBinaryLoadFromData(bytes.data(), bytes.size(), &options, &binary_), 0);
    }
    aclrtFuncHandle kernel(const char* name) {
        aclrtFuncHandle found = nullptr;
        EXPECT_EQ(aclrtRegisterCpuFunc(binary_, name, name, &found), 0) << aclGetRecentErrMsg();
        return found;
    }
    aclrtStream new_stream() {
        aclrtStream stream = nullptr;
        EXPECT_EQ(aclrtCreateStream(&stream), 0);
        streams_.push_back(stream);
        return stream;
    }
    uint32_t new_queue(uint32_t depth = 8) { return queues_.emplace_back(make_queue(depth)); }
    // `limit`: milliseconds; 0: none.
    void start(const char* name, aclrtStream stream, Arguments arguments, uint32_t limit = 0) {
        aclrtLaunchKernelAttr attribute = {};
        attribute.id = ACL_RT_LAUNCH_KERNEL_ATTR_TIMEOUT_US;
        attribute.value.timeoutUs.timeoutLow = limit * 1000;
        aclrtLaunchKernelCfg config = {&attribute, 1};
        if (arguments.seen == nullptr) arguments.seen = seen_;
        ASSERT_EQ(
            aclrtLaunchKernelWithHostArgs(kernel(name), 1, stream, &config, &arguments, sizeof arguments, nullptr, 0),
            0);
    }
    [[nodiscard]] bool says(uint32_t value) const {
        return eventually([&] { return std::atomic_ref(*seen_).load() == value; });
    }
    // A queue that nobody has locked, and that still keeps the order.
    static void expect_usable(uint32_t queue) {
        uint64_t value = 0;
        while (take(queue, value) == 0) continue;  // what kernels left
        acltdtBuf buffer = nullptr;
        while (acltdtDequeue(queue, &buffer, 0) == 0) EXPECT_EQ(acltdtFreeBuf(buffer), 0);
        for (uint64_t i = 0; i < 3; ++i) EXPECT_EQ(put(queue, i, 1000), 0);
        for (uint64_t i = 0; i < 3; ++i) {
            EXPECT_EQ(take(queue, value, 1000), 0);
            EXPECT_EQ(value, i);
        }
    }

    uint32_t* seen_ = nullptr;

private:
    aclrtBinHandle binary_ = nullptr;
    std::vector<aclrtStream> streams_;
    std::vector<uint32_t> queues_;
};

// The same with an image that is linked with the library.
class LinkedQueueKernel : public QueueKernel {
protected:
    void SetUp() override {
        QueueTest::SetUp();
        load(QUEUE_TEST_LINKED_KERNELS);
        ASSERT_EQ(aclrtMallocHost(reinterpret_cast<void**>(&seen_), 64), 0);
    }
};

TEST_F(LinkedQueueKernel, UsesTheQueuesOfTheProgram) {
    const uint32_t in = new_queue(), out = new_queue();
    start("add_one", new_stream(), {in, out, 1});
    EXPECT_EQ(put(in, 41), 0);
    uint64_t value = 0;
    EXPECT_EQ(take(out, value, 20000), 0);
    EXPECT_EQ(value, 42u);
}

TEST_F(QueueKernel, StagesOfAPipelineRunAtOnce) {
    constexpr uint64_t items = 500;
    const uint32_t queues[] = {new_queue(4), new_queue(4), new_queue(4), new_queue(4)};
    for (int i = 0; i < 3; ++i) start("add_one", new_stream(), {queues[i], queues[i + 1], items});
    std::thread producer([&] {
        aclrtSetDevice(0);
        for (uint64_t i = 0; i < items; ++i) EXPECT_EQ(put(queues[0], 10 * i, 20000), 0);
    });
    for (uint64_t i = 0; i < items; ++i) {
        uint64_t value = 0;
        ASSERT_EQ(take(queues[3], value, 20000), 0);
        ASSERT_EQ(value, 10 * i + 3);
    }
    producer.join();
    EXPECT_EQ(aclrtSynchronizeDevice(), 0);
}

TEST_F(QueueKernel, BuffersGoThroughStagesWithoutACopy) {
    const uint32_t a = new_queue(), b = new_queue(), c = new_queue();
    start("double_in_place", new_stream(), {a, b});
    start("double_in_place", new_stream(), {b, c});
    for (uint64_t i = 1; i <= 20; ++i) {
        ASSERT_EQ(acltdtEnqueue(a, filled_buffer(100000, i), 20000), 0);
        acltdtBuf buffer = nullptr;
        ASSERT_EQ(acltdtDequeue(c, &buffer, 20000), 0);
        EXPECT_EQ(first_word(buffer), 4 * i);
        EXPECT_EQ(acltdtFreeBuf(buffer), 0);
    }
    acltdtBuf end = nullptr;
    ASSERT_EQ(acltdtAllocBuf(8, 0, &end), 0);
    ASSERT_EQ(acltdtEnqueue(a, end, 20000), 0);
    ASSERT_EQ(acltdtDequeue(c, &end, 20000), 0);
    EXPECT_EQ(acltdtFreeBuf(end), 0);
    EXPECT_EQ(aclrtSynchronizeDevice(), 0);
}

// Many more stages than workers and CPU cores, started from the last to the first.
TEST_F(QueueKernel, WaitingStagesDoNotKeepOthersFromRunning) {
    constexpr int stages = 40;
    std::vector<uint32_t> queues;
    for (int i = 0; i <= stages; ++i) queues.push_back(new_queue(2));
    for (int i = stages; i > 0; --i) start("add_one", new_stream(), {queues[i - 1], queues[i], 3});
    // All of them wait now or will: another stream runs, on CPU cores and elsewhere.
    const uint32_t in = new_queue(), out = new_queue();
    aclrtStream other = new_stream();
    ASSERT_EQ(put(in, 1), 0);
    start("add_one", other, {in, out, 1});
    EXPECT_EQ(aclrtMemsetAsync(seen_ + 4, 4, 1, 4, other), 0);
    EXPECT_EQ(aclrtSynchronizeStreamWithTimeout(other, 20000), 0);
    for (uint64_t i = 0; i < 3; ++i) {
        uint64_t value = 0;
        ASSERT_EQ(put(queues[0], 100 * i, 20000), 0);
        ASSERT_EQ(take(queues[stages], value, 20000), 0);
        EXPECT_EQ(value, 100 * i + stages);
    }
    EXPECT_EQ(aclrtSynchronizeDevice(), 0);
}

// Synchronous copies and frees wait for work that can run. A stage that waits cannot: each of these calls would take
// seconds.
TEST_F(QueueKernel, SynchronousCallsDoNotWaitForAStageThatWaits) {
    const uint32_t in = new_queue(), out = new_queue();
    *seen_ = 0;
    start("wait_for_item", new_stream(), {in, out});
    ASSERT_TRUE(says(1));
    for (int i = 0; i < 100; ++i) {
        void* memory = nullptr;
        const int value = i;
        int copy = -1;
        ASSERT_EQ(aclrtMalloc(&memory, 64, ACL_MEM_MALLOC_HUGE_FIRST), 0);
        ASSERT_EQ(aclrtMemcpy(memory, sizeof value, &value, sizeof value, ACL_MEMCPY_HOST_TO_DEVICE), 0);
        ASSERT_EQ(aclrtMemcpy(&copy, sizeof copy, memory, sizeof copy, ACL_MEMCPY_DEVICE_TO_HOST), 0);
        EXPECT_EQ(copy, i);
        ASSERT_EQ(aclrtFree(memory), 0);
    }
    EXPECT_EQ(put(in, 1), 0);
    EXPECT_TRUE(says(2));
}

// A kernel whose runs were short is run by a worker the next time. One that can wait must not: there are few workers.
TEST_F(QueueKernel, AKernelThatMayWaitIsNeverRunByAWorker) {
    const uint32_t in = new_queue(64), out = new_queue(64);
    aclrtStream stream = new_stream();
    for (int round = 0; round < 20; ++round) {
        for (int i = 0; i < 10; ++i) {
            ASSERT_EQ(put(in, 1), 0);
            start("name_thread", stream, {in, out});
        }
        ASSERT_EQ(aclrtSynchronizeStreamWithTimeout(stream, 20000), 0);
        EXPECT_STREQ(reinterpret_cast<const char*>(seen_), "canopy-cpu");
        uint64_t value = 0;
        for (int i = 0; i < 10; ++i) ASSERT_EQ(take(out, value, 20000), 0);
    }
    for (int i = 0; i < 6; ++i) start("name_thread", new_stream(), {in, out});
    aclrtStream other = new_stream();
    for (int i = 0; i < 50; ++i) EXPECT_EQ(aclrtMemsetAsync(seen_ + 8, 4, 1, 4, other), 0);
    EXPECT_EQ(aclrtSynchronizeStreamWithTimeout(other, 20000), 0);
    for (int i = 0; i < 6; ++i) ASSERT_EQ(put(in, 1), 0);
    EXPECT_EQ(aclrtSynchronizeDevice(), 0);
}

TEST_F(QueueKernel, CallsGiveTheirCodesAndLeaveTheHostsErrorAlone) {
    const uint32_t queue = new_queue();
    aclrtGetLastError(ACL_RT_THREAD_LEVEL);  // of the tests before
    start("say_codes", new_stream(), {queue, queue});
    EXPECT_EQ(aclrtSynchronizeDevice(), 0);
    EXPECT_EQ(seen_[0], 207013u);
    EXPECT_EQ(seen_[1], 207013u);
    EXPECT_EQ(seen_[2], in_own_process() ? 207006u : 100032u);
    EXPECT_EQ(seen_[3], 107017u);
    EXPECT_EQ(aclrtGetLastError(ACL_RT_THREAD_LEVEL), 0);
}

TEST_F(QueueKernel, KernelsOfTheProgramsProcessMayCreateQueues) {
    start("make_queue", new_stream(), {});
    EXPECT_EQ(aclrtSynchronizeDevice(), 0);
    EXPECT_EQ(seen_[0], in_own_process() ? 207000u : 0u);
    EXPECT_EQ(seen_[1], 0u);
    EXPECT_EQ(seen_[2], 0u);
}

TEST_F(QueueKernel, DataMayLieInDeviceMemory) {
    const uint32_t in = new_queue(), out = new_queue();
    void* memory = nullptr;
    ASSERT_EQ(aclrtMalloc(&memory, 4096, ACL_MEM_MALLOC_HUGE_FIRST), 0);
    start("to_device", new_stream(), {in, out, 0, static_cast<uint32_t*>(memory)});
    EXPECT_EQ(put(in, 77), 0);
    uint64_t value = 0, copy = 0;
    EXPECT_EQ(take(out, value, 20000), 0);
    EXPECT_EQ(value, 77u);
    EXPECT_EQ(aclrtSynchronizeDevice(), 0);
    EXPECT_EQ(aclrtMemcpy(&copy, sizeof copy, memory, sizeof copy, ACL_MEMCPY_DEVICE_TO_HOST), 0);
    EXPECT_EQ(copy, 77u);
    EXPECT_EQ(aclrtFree(memory), 0);
}

// ---- kernels that are ended ----------------------------------------------------------------------------------------

TEST_F(QueueKernel, AnAbortEndsAWaitForAnItem) {
    const uint32_t queue = new_queue();
    aclrtStream stream = new_stream();
    for (int round = 0; round < 3; ++round) {
        *seen_ = 0;
        start("wait_for_item", stream, {queue});
        ASSERT_TRUE(says(1));
        EXPECT_EQ(aclrtStreamAbort(stream), 0);
        EXPECT_EQ(aclrtSynchronizeStreamWithTimeout(stream, 20000), ACL_ERROR_RT_STREAM_ABORT);
        EXPECT_EQ(*seen_, 1u);
        expect_usable(queue);
    }
    // The stream and the queue work on.
    start("wait_for_item", stream, {queue});
    EXPECT_EQ(put(queue, 1), 0);
    EXPECT_TRUE(says(2));
}

TEST_F(QueueKernel, AnAbortEndsAWaitForRoom) {
    const uint32_t queue = new_queue(2);
    aclrtStream stream = new_stream();
    start("wait_for_room", stream, {0, queue, 100});
    ASSERT_TRUE(says(1));
    EXPECT_EQ(aclrtStreamAbort(stream), 0);
    EXPECT_EQ(aclrtSynchronizeStreamWithTimeout(stream, 20000), ACL_ERROR_RT_STREAM_ABORT);
    uint64_t value = 0;
    while (take(queue, value) == 0) continue;
    for (uint64_t i = 0; i < 2; ++i) EXPECT_EQ(put(queue, i, 1000), 0);
}

TEST_F(QueueKernel, TheTimeLimitOfALaunchEndsAWait) {
    const uint32_t queue = new_queue();
    aclrtStream stream = new_stream();
    start("wait_for_item", stream, {queue}, 20);
    EXPECT_EQ(aclrtSynchronizeStreamWithTimeout(stream, 20000), ACL_ERROR_RT_AICPU_TIMEOUT);
    expect_usable(queue);
}

// Here the thread that synchronises runs the kernel itself.
TEST_F(QueueKernel, TheTimeLimitEndsAWaitOnTheThreadThatSynchronises) {
    const uint32_t queue = new_queue();
    aclrtStream stream = new_stream();
    start("wait_for_item", stream, {queue}, 20);
    EXPECT_EQ(aclrtSynchronizeStream(stream), ACL_ERROR_RT_AICPU_TIMEOUT);
    expect_usable(queue);
}

TEST_F(QueueKernel, AnAbortEndsAWaitInAChannel) {
    if (in_own_process()) GTEST_SKIP() << "channels are of one process";
    acltdtChannelHandle* channel = acltdtCreateChannelWithCapacity(0, "kernels", 2);
    aclrtStream stream = new_stream();
    start("wait_for_message", stream, {0, 0, reinterpret_cast<uint64_t>(channel)});
    ASSERT_TRUE(says(1));
    EXPECT_EQ(aclrtStreamAbort(stream), 0);
    EXPECT_EQ(aclrtSynchronizeStreamWithTimeout(stream, 20000), ACL_ERROR_RT_STREAM_ABORT);
    acltdtDataset* dataset = acltdtCreateDataset();
    acltdtDataItem* item =
        acltdtCreateDataItem(ACL_TENSOR_DATA_END_OF_SEQUENCE, nullptr, 0, ACL_DT_UNDEFINED, nullptr, 0);
    EXPECT_EQ(acltdtAddDataItem(dataset, item), 0);
    EXPECT_EQ(acltdtSendTensor(channel, dataset, 1000), 0);
    EXPECT_EQ(acltdtDestroyDataItem(item), 0);
    EXPECT_EQ(acltdtDestroyDataset(dataset), 0);
    EXPECT_EQ(acltdtDestroyChannel(channel), 0);
}

TEST_F(QueueKernel, AResetOfTheDeviceEndsWaits) {
    const uint32_t queue = make_queue(4);
    aclrtStream stream = nullptr;
    ASSERT_EQ(aclrtCreateStream(&stream), 0);
    start("wait_for_item", stream, {queue});
    ASSERT_TRUE(says(1));
    EXPECT_EQ(aclrtResetDeviceForce(0), 0);
    ASSERT_EQ(aclrtSetDevice(0), 0);
    expect_usable(queue);
    EXPECT_EQ(acltdtDestroyQueue(queue), 0);
}

TEST_F(QueueKernel, DestroyingTheQueueEndsWaits) {
    const uint32_t queue = make_queue(4);
    aclrtStream stream = new_stream();
    start("wait_for_item", stream, {queue});
    ASSERT_TRUE(says(1));
    EXPECT_EQ(acltdtDestroyQueue(queue), 0);
    EXPECT_EQ(aclrtSynchronizeStreamWithTimeout(stream, 20000), ACL_ERROR_RT_AICPU_EXCEPTION);
}

TEST_F(QueueKernel, AFaultBetweenTwoCallsFailsItsTaskOnly) {
    const uint32_t queue = new_queue(), in = new_queue(), out = new_queue();
    aclrtStream stream = new_stream(), other = new_stream();
    if (!in_own_process()) start("add_one", other, {in, out, 1});
    start("fail_between", stream, {0, queue});
    EXPECT_EQ(aclrtSynchronizeStreamWithTimeout(stream, 20000), ACL_ERROR_RT_AICPU_EXCEPTION);
    uint64_t value = 0;
    EXPECT_EQ(take(queue, value, 1000), 0);
    EXPECT_EQ(value, 5u);
    expect_usable(queue);
    if (in_own_process()) start("add_one", other, {in, out, 1});
    EXPECT_EQ(put(in, 1), 0);
    EXPECT_EQ(take(out, value, 20000), 0);
    EXPECT_EQ(aclrtSynchronizeStreamWithTimeout(other, 20000), 0);
}

TEST_F(QueueKernel, AnAddressThatIsNoMemoryFailsTheTaskAndHoldsNoLock) {
    const uint32_t queue = new_queue();
    aclrtStream stream = new_stream();
    for (uint64_t call = 0; call < 4; ++call) {
        EXPECT_EQ(put(queue, 1), 0);
        start("fail_inside", stream, {queue, queue, call});
        EXPECT_EQ(aclrtSynchronizeStreamWithTimeout(stream, 20000), ACL_ERROR_RT_AICPU_EXCEPTION) << call;
        expect_usable(queue);
    }
}

// Kernels in the middle of calls are ended, again and again; nothing may stay locked.
TEST_F(QueueKernel, AbortsAtAnyMomentLeaveQueuesWhole) {
    const uint32_t a = new_queue(4), b = new_queue(4);
    const int rounds = in_own_process() ? 10 : 100;
    aclrtStream streams[] = {new_stream(), new_stream()};
    for (int round = 0; round < rounds; ++round) {
        *seen_ = 0;
        start("work_for_ever", streams[0], {a, b});
        start("work_for_ever", streams[1], {b, a});
        ASSERT_TRUE(says(1));
        for (int i = 0; i < round % 7; ++i) std::this_thread::yield();
        for (aclrtStream stream : streams) EXPECT_EQ(aclrtStreamAbort(stream), 0);
        for (aclrtStream stream : streams)
            EXPECT_NE(aclrtSynchronizeStreamWithTimeout(stream, 20000), ACL_ERROR_RT_STREAM_SYNC_TIMEOUT);
        expect_usable(a);
        expect_usable(b);
    }
}

}  // namespace
