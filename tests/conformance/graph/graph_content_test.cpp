// SPDX-License-Identifier: Apache-2.0
// Every kind of stream task can be captured, and has the same effect at each replay as on a stream.
#include <pthread.h>

#include <atomic>

#include "fixtures/capture_fixture.h"
#include "until.h"

namespace conformance {
namespace {

template <class T>
aclrtRandomParaInfo by_value(T value) {
    aclrtRandomParaInfo parameter = {};
    parameter.size = sizeof(value);
    std::memcpy(parameter.valueOrAddr, &value, sizeof(value));
    return parameter;
}

class CapturedTask : public CaptureTest {};

TEST_F(CapturedTask, CopiesAndFills) {
    uint32_t* from = device_array<uint32_t>({1, 2, 3, 4});
    uint32_t* to = device_array<uint32_t>({0, 0, 0, 0});
    uint32_t* rows = device_array<uint32_t>({0, 0, 0, 0});
    begin();
    ASSERT_ACL_OK(aclrtMemcpyAsync(to, 16, from, 16, ACL_MEMCPY_DEVICE_TO_DEVICE, stream_));
    ASSERT_ACL_OK(aclrtMemsetAsync(to, 16, 0xFF, 4, stream_));
    ASSERT_ACL_OK(aclrtMemcpy2dAsync(rows, 8, to, 8, 4, 2, ACL_MEMCPY_DEVICE_TO_DEVICE, stream_));
    aclmdlRI graph = end();
    EXPECT_EQ(read_back(to, 4), (std::vector<uint32_t>{0, 0, 0, 0}));
    for (uint32_t round = 0; round < 2; ++round) {
        const uint32_t last = 10 + round;
        ASSERT_ACL_OK(aclrtMemcpy(from + 3, 4, &last, 4, ACL_MEMCPY_HOST_TO_DEVICE));
        replay(graph, stream_);
        if (!device_computes()) continue;
        EXPECT_EQ(read_back(to, 4), (std::vector<uint32_t>{UINT32_MAX, 2, 3, last}));
        EXPECT_EQ(read_back(rows, 4), (std::vector<uint32_t>{UINT32_MAX, 0, 3, 0}));
    }
}

TEST_F(CapturedTask, PinnedHostMemoryIsReadAtEachReplay) {
    uint32_t* to = device_array<uint32_t>({0});
    uint32_t* host = nullptr;
    ASSERT_ACL_OK(aclrtMallocHost(reinterpret_cast<void**>(&host), 64));
    *host = 1;
    begin();
    ASSERT_ACL_OK(aclrtMemcpyAsync(to, 4, host, 4, ACL_MEMCPY_HOST_TO_DEVICE, stream_));
    aclmdlRI graph = end();
    *host = 2;
    replay(graph, stream_);
    if (device_computes()) EXPECT_EQ(read_back(to, 1)[0], 2u);
    ASSERT_ACL_OK(aclrtFreeHost(host));
}

TEST_F(CapturedTask, PageableHostMemoryIsReadAtEachReplayOfARelaxedCapture) {
    uint32_t* to = device_array<uint32_t>({0});
    uint32_t host = 1;
    begin(relaxed);
    ASSERT_ACL_OK(aclrtMemcpyAsync(to, 4, &host, 4, ACL_MEMCPY_HOST_TO_DEVICE, stream_));
    aclmdlRI graph = end();
    EXPECT_EQ(read_back(to, 1)[0], 0u);
    host = 2;
    replay(graph, stream_);
    if (device_computes()) EXPECT_EQ(read_back(to, 1)[0], 2u);
}

TEST_F(CapturedTask, BufferedHostMemoryIsTakenWhenItIsCaptured) {
    for (const std::size_t count : {std::size_t{1}, std::size_t{100'000}}) {
        uint32_t* to = device_array(std::vector<uint32_t>(count, 0));
        std::vector<uint32_t> host(count, 5);
        begin();
        ASSERT_ACL_OK(
            aclrtMemcpyAsync(to, 4 * count, host.data(), 4 * count, ACL_MEMCPY_HOST_TO_BUF_TO_DEVICE, stream_));
        aclmdlRI graph = end();
        host.assign(count, 6);
        replay(graph, stream_);
        replay(graph, stream_);
        if (device_computes()) EXPECT_EQ(read_back(to, count), std::vector<uint32_t>(count, 5));
    }
}

TEST_F(CapturedTask, CopiesBehindPointersInMemory) {
    uint32_t* first = device_array<uint32_t>({1});
    uint32_t* second = device_array<uint32_t>({2});
    uint32_t* to = device_array<uint32_t>({0});
    auto** source = device_array<const void*>({first});
    auto** target = device_array<void*>({to});
    begin();
    ASSERT_ACL_OK(aclrtMemcpyAsyncWithOffset(target, 4, 0, source, 4, 0, ACL_MEMCPY_DEVICE_TO_DEVICE, stream_));
    aclmdlRI graph = end();
    replay(graph, stream_);
    if (!device_computes()) return;
    EXPECT_EQ(read_back(to, 1)[0], 1u);
    ASSERT_ACL_OK(aclrtMemcpy(source, 8, &second, 8, ACL_MEMCPY_HOST_TO_DEVICE));
    replay(graph, stream_);
    EXPECT_EQ(read_back(to, 1)[0], 2u);
    const void* nowhere = nullptr;
    ASSERT_ACL_OK(aclrtMemcpy(source, 8, &nowhere, 8, ACL_MEMCPY_HOST_TO_DEVICE));
    ASSERT_ACL_OK(aclmdlRIExecuteAsync(graph, other_));
    EXPECT_ACL_FAILS(ACL_ERROR_RT_PARAM_INVALID, "a copy with offsets", aclrtSynchronizeStream(other_));
    EXPECT_ACL_OK(aclrtSynchronizeStream(stream_));
}

TEST_F(CapturedTask, Reductions) {
    float* sum = device_array<float>({0, 0});
    float* one = device_array<float>({1, 2});
    begin();
    ASSERT_ACL_OK(aclrtReduceAsync(sum, one, 8, ACL_RT_MEMCPY_SDMA_AUTOMATIC_SUM, ACL_FLOAT, stream_, nullptr));
    aclmdlRI graph = end();
    replay(graph, stream_);
    replay(graph, stream_);
    if (device_computes()) EXPECT_EQ(read_back(sum, 2), (std::vector<float>{2, 4}));
}

TEST_F(CapturedTask, RandomNumbersGoOnAtEachReplay) {
    constexpr uint64_t count = 64;
    const auto draw = [&](aclrtRandomNumTaskInfo& info) {
        info.dataType = ACL_FLOAT;
        info.randomResultAddr = device_memory(count * 4);
        info.randomCounterAddr = device_memory(16);
        info.randomSeed = by_value(uint64_t{77});
        info.randomNum = by_value(count);
        info.randomNumFuncParaInfo.funcType = ACL_RT_RANDOM_NUM_FUNC_TYPE_UNIFORM_DIS;
        info.randomNumFuncParaInfo.paramInfo.uniformDisInfo = {by_value(0.0f), by_value(1.0f)};
        EXPECT_ACL_OK(aclrtMemset(info.randomCounterAddr, 16, 0, 16));
    };
    aclrtRandomNumTaskInfo eager = {}, captured = {};
    draw(eager);
    draw(captured);
    begin();
    ASSERT_ACL_OK(aclrtRandomNumAsync(&captured, stream_, nullptr));
    aclmdlRI graph = end();
    for (int round = 0; round < 3; ++round) {
        ASSERT_ACL_OK(aclrtRandomNumAsync(&eager, other_, nullptr));
        ASSERT_ACL_OK(aclrtSynchronizeStream(other_));
        replay(graph, stream_);
        if (!device_computes()) continue;
        EXPECT_EQ(read_back(static_cast<float*>(captured.randomResultAddr), count),
                  read_back(static_cast<float*>(eager.randomResultAddr), count));
    }
}

TEST_F(CapturedTask, ValuesAreWrittenAndWaitedFor) {
    auto* words = device_array<uint64_t>({0, 0});
    begin();
    ASSERT_ACL_OK(aclrtValueWait(words, 1, ACL_STREAM_WAIT_VALUE_EQ, stream_));
    ASSERT_ACL_OK(aclrtValueWrite(words, 0, 0, stream_));
    ASSERT_ACL_OK(aclrtValueWrite(words + 1, 9, 0, stream_));
    aclmdlRI graph = end();
    for (int round = 0; round < 2; ++round) {
        ASSERT_ACL_OK(aclrtValueWrite(words + 1, 0, 0, other_));
        ASSERT_ACL_OK(aclrtSynchronizeStream(other_));
        ASSERT_ACL_OK(aclmdlRIExecuteAsync(graph, stream_));
        EXPECT_TRUE(stands_still(stream_));
        ASSERT_ACL_OK(aclrtValueWrite(words, 1, 0, other_));
        ASSERT_ACL_OK(aclrtSynchronizeStream(stream_));
        EXPECT_EQ(read_back(words, 2), (std::vector<uint64_t>{0, 9}));
        ASSERT_ACL_OK(aclrtSynchronizeStream(other_));
    }
}

TEST_F(CapturedTask, NotifiesConnectReplaysWithStreams) {
    aclrtNotify go = nullptr, done = nullptr;
    ASSERT_ACL_OK(aclrtCreateNotify(&go, 0));
    ASSERT_ACL_OK(aclrtCreateNotify(&done, 0));
    begin();
    ASSERT_ACL_OK(aclrtWaitAndResetNotify(go, stream_, 0));
    ASSERT_ACL_OK(append(stream_, 2));
    ASSERT_ACL_OK(aclrtRecordNotify(done, stream_));
    aclmdlRI graph = end();
    for (int round = 0; round < 3; ++round) {
        ASSERT_ACL_OK(aclmdlRIExecuteAsync(graph, stream_));
        ASSERT_ACL_OK(append(other_, 1));
        ASSERT_ACL_OK(aclrtRecordNotify(go, other_));
        ASSERT_ACL_OK(aclrtWaitAndResetNotify(done, other_, 0));
        ASSERT_ACL_OK(append(other_, 3));
        ASSERT_ACL_OK(aclrtSynchronizeStream(other_));
        ASSERT_ACL_OK(aclrtSynchronizeStream(stream_));
        if (device_computes()) EXPECT_EQ(take_log(), (std::vector<uint32_t>{1, 2, 3}));
    }
    ASSERT_ACL_OK(aclrtDestroyNotify(go));
    ASSERT_ACL_OK(aclrtDestroyNotify(done));
}

TEST_F(CapturedTask, CountingNotifiesCount) {
    aclrtCntNotify counting = nullptr;
    ASSERT_ACL_OK(aclrtCntNotifyCreate(&counting, 0));
    aclrtCntNotifyRecordInfo add = {ACL_RT_CNT_NOTIFY_RECORD_ADD_MODE, 1};
    aclrtCntNotifyWaitInfo two = {ACL_RT_CNT_NOTIFY_WAIT_EQUAL_MODE, 2, 0, 1, {}};
    begin();
    ASSERT_ACL_OK(aclrtCntNotifyRecord(counting, stream_, &add));
    ASSERT_ACL_OK(aclrtCntNotifyRecord(counting, stream_, &add));
    ASSERT_ACL_OK(aclrtCntNotifyWaitWithTimeout(counting, stream_, &two));
    aclmdlRI graph = end();
    replay(graph, stream_);
    replay(graph, stream_);
    ASSERT_ACL_OK(aclrtCntNotifyDestroy(counting));
}

TEST_F(CapturedTask, HostFunctionsRunInTheirPlace) {
    struct State {
        std::atomic<int> calls{0};
        SharedWord word;
        uint32_t seen = 0;
    } state;
    begin();
    ASSERT_ACL_OK(launch("set_word", 1, stream_, state.word.device()));
    ASSERT_ACL_OK(aclrtLaunchHostFunc(
        stream_,
        [](void* data) {
            auto* at = static_cast<State*>(data);
            at->seen = at->word.get();
            at->word.set(0);
            ++at->calls;
        },
        &state));
    ASSERT_ACL_OK(increment(stream_));
    aclmdlRI graph = end();
    EXPECT_EQ(state.calls, 0);
    for (int round = 1; round <= 3; ++round) {
        replay(graph, other_);
        EXPECT_EQ(state.calls, round);
        if (device_computes()) EXPECT_EQ(state.seen, 1u);
    }
    if (device_computes()) EXPECT_EQ(count(), 3u);
}

TEST_F(CapturedTask, CallbacksRunOnTheThreadThatWasSubscribed) {
    struct State {
        std::atomic<int> blocking{0}, others{0};
        std::atomic<bool> stop{false};
        std::atomic<pthread_t> thread{};
    } state;
    std::thread reports([&] {
        while (!state.stop) aclrtProcessReport(20);
    });
    const auto subscriber = static_cast<uint64_t>(reports.native_handle());
    ASSERT_ACL_OK(aclrtSubscribeReport(subscriber, stream_));
    begin();
    ASSERT_ACL_OK(aclrtLaunchCallback(
        [](void* data) {
            static_cast<State*>(data)->thread = pthread_self();
            ++static_cast<State*>(data)->blocking;
        },
        &state, ACL_CALLBACK_BLOCK, stream_));
    ASSERT_ACL_OK(aclrtLaunchCallback([](void* data) { ++static_cast<State*>(data)->others; }, &state,
                                      ACL_CALLBACK_NO_BLOCK, stream_));
    aclmdlRI graph = end();
    for (int round = 1; round <= 3; ++round) {
        replay(graph, other_);
        if (device_computes()) EXPECT_EQ(state.blocking, round);
        EXPECT_TRUE(eventually([&] { return state.others == round && state.blocking == round; }));
    }
    EXPECT_EQ(static_cast<uint64_t>(state.thread.load()), subscriber);
    ASSERT_ACL_OK(aclrtUnSubscribeReport(subscriber, stream_));
    // With no thread to run the callbacks, replays skip them.
    replay(graph, other_);
    EXPECT_EQ(state.blocking, 3);
    state.stop = true;
    reports.join();
}

TEST_F(CapturedTask, PoolMemoryBelongsToTheGraph) {
    aclrtMemPoolProps properties = {};
    properties.allocType = ACL_MEM_ALLOCATION_TYPE_PINNED;
    properties.handleType = ACL_MEM_HANDLE_TYPE_NONE;
    properties.location = {0, ACL_MEM_LOCATION_TYPE_DEVICE};
    aclrtMemPool pool = nullptr;
    ASSERT_ACL_OK(aclrtMemPoolCreate(&pool, &properties));
    void* before = nullptr;
    ASSERT_ACL_OK(aclrtMemPoolMallocAsync(&before, 256, pool, stream_));
    begin();
    uint32_t* inside = nullptr;
    ASSERT_ACL_OK(aclrtMemPoolMallocAsync(reinterpret_cast<void**>(&inside), 4096, pool, stream_));
    ASSERT_ACL_OK(aclrtMemsetAsync(inside, 4096, 1, 4096, stream_));
    ASSERT_ACL_OK(aclrtMemcpyAsync(counter_, 4, inside, 4, ACL_MEMCPY_DEVICE_TO_DEVICE, stream_));
    ASSERT_ACL_OK(aclrtMemPoolFreeAsync(inside, stream_));
    ASSERT_ACL_OK(aclrtMemPoolFreeAsync(before, stream_));
    aclmdlRI graph = end();
    // The pool does not hand out the block again while the graph lives.
    void* outside = nullptr;
    ASSERT_ACL_OK(aclrtMemPoolMallocAsync(&outside, 4096, pool, stream_));
    EXPECT_NE(outside, inside);
    for (int round = 0; round < 2; ++round) {
        replay(graph, stream_);
        if (device_computes()) EXPECT_EQ(count(), 0x01010101u);
        ASSERT_ACL_OK(aclrtMemset(counter_, 4, 0, 4));
    }
    ASSERT_ACL_OK(aclrtMemPoolFreeAsync(outside, stream_));
    EXPECT_ACL_FAILS(ACL_ERROR_RT_PARAM_INVALID, "in use", aclrtMemPoolDestroy(pool));
    ASSERT_ACL_OK(aclmdlRIDestroy(graph));
    graphs_.clear();
    ASSERT_ACL_OK(aclrtSynchronizeStream(stream_));
    ASSERT_ACL_OK(aclrtMemPoolDestroy(pool));
}

TEST_F(CapturedTask, PoolMemoryOfAFailedCaptureGoesBack) {
    aclrtMemPoolProps properties = {};
    properties.allocType = ACL_MEM_ALLOCATION_TYPE_PINNED;
    properties.handleType = ACL_MEM_HANDLE_TYPE_NONE;
    properties.location = {0, ACL_MEM_LOCATION_TYPE_DEVICE};
    aclrtMemPool pool = nullptr;
    ASSERT_ACL_OK(aclrtMemPoolCreate(&pool, &properties));
    begin();
    void* inside = nullptr;
    ASSERT_ACL_OK(aclrtMemPoolMallocAsync(&inside, 4096, pool, stream_));
    EXPECT_EQ(aclrtSynchronizeStream(stream_), ACL_ERROR_RT_STREAM_CAPTURED);
    expect_end_fails(ACL_ERROR_RT_STREAM_CAPTURE_INVALIDATED, "aclrtSynchronizeStream");
    EXPECT_ACL_OK(aclrtMemPoolDestroy(pool));
}

TEST_F(CapturedTask, GraphsOfManyKernels) {
    constexpr uint32_t tasks = 10'000;
    begin();
    for (uint32_t i = 0; i < tasks; ++i) ASSERT_EQ(increment(stream_), ACL_SUCCESS);
    aclmdlRI graph = end();
    replay(graph, stream_);
    replay(graph, stream_);
    if (device_computes()) EXPECT_EQ(count(), 2 * tasks);
}

TEST_F(CapturedTask, OneGraphIsReplayedFromSeveralThreadsInOrder) {
    constexpr int rounds = 50;
    begin();
    for (int i = 0; i < 10; ++i) ASSERT_ACL_OK(increment(stream_));  // not atomic: replays must not overlap
    aclmdlRI graph = end();
    const auto work = [&] {
        EXPECT_ACL_OK(aclrtSetDevice(0));
        aclrtStream own = nullptr;
        EXPECT_ACL_OK(aclrtCreateStream(&own));
        for (int i = 0; i < rounds; ++i) EXPECT_ACL_OK(aclmdlRIExecuteAsync(graph, own));
        EXPECT_ACL_OK(aclrtSynchronizeStream(own));
        EXPECT_ACL_OK(aclrtDestroyStream(own));
        EXPECT_ACL_OK(aclrtResetDevice(0));
    };
    std::thread first(work), second(work), third(work);
    first.join();
    second.join();
    third.join();
    if (device_computes()) EXPECT_EQ(count(), 3u * rounds * 10);
}

}  // namespace
}  // namespace conformance
