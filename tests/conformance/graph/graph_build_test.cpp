// SPDX-License-Identifier: Apache-2.0
// Models built from persistent streams.
#include "fixtures/build_fixture.h"

namespace conformance {
namespace {

class GraphBuild : public BuildTest {};

TEST_F(GraphBuild, RunsTheTasksOfABoundStreamAtEachExecution) {
    aclrtStream stream = bound();
    ASSERT_ACL_OK(append(stream, 1));
    ASSERT_ACL_OK(append(stream, 2));
    finish(stream);
    if (device_computes()) EXPECT_TRUE(take_log().empty());
    expect_replay({1, 2});
    ASSERT_ACL_OK(aclmdlRIExecuteAsync(model_, stream_));
    ASSERT_ACL_OK(aclmdlRIExecuteAsync(model_, stream_));
    ASSERT_ACL_OK(aclrtSynchronizeStream(stream_));
    if (device_computes()) EXPECT_EQ(take_log(), (std::vector<uint32_t>{1, 2, 1, 2}));
    EXPECT_ACL_OK(aclmdlRIUnbindStream(model_, stream));
    expect_replay({1, 2});  // a completed model stays complete
}

TEST_F(GraphBuild, ExecutesAndWaits) {
    aclrtStream stream = bound();
    ASSERT_ACL_OK(append(stream, 1));
    finish(stream);
    ASSERT_ACL_OK(aclmdlRIExecute(model_, -1));
    ASSERT_ACL_OK(aclmdlRIExecute(model_, 10000));
    if (device_computes()) EXPECT_EQ(take_log(), (std::vector<uint32_t>{1, 1}));
}

TEST_F(GraphBuild, TakesWhatAStreamRecordedBeforeItWasBound) {
    aclrtStream stream = persistent();
    ASSERT_ACL_OK(append(stream, 1));
    uint32_t count = 0;
    ASSERT_ACL_OK(aclmdlRIGetTasksByStream(stream, nullptr, &count));
    EXPECT_EQ(count, 1u);
    ASSERT_ACL_OK(aclmdlRIBindStream(model_, stream, head));
    ASSERT_ACL_OK(append(stream, 2));
    ASSERT_ACL_OK(aclmdlRIGetTasksByStream(stream, nullptr, &count));
    EXPECT_EQ(count, 2u);
    finish(stream);
    expect_replay({1, 2});
}

TEST_F(GraphBuild, PersistentStreamsNeverWaitAndNeverRun) {
    aclrtStream stream = persistent();
    ASSERT_ACL_OK(append(stream, 1));
    EXPECT_ACL_OK(aclrtSynchronizeStream(stream));
    if (device_computes()) EXPECT_TRUE(take_log().empty());
}

TEST_F(GraphBuild, KeepsEverythingATaskPointsAt) {
    aclrtStream stream = bound();
    auto* words = device_array<uint32_t>({0, 0, 0, 0});
    {
        std::vector<uint32_t> gone = {5, 6};
        ASSERT_ACL_OK(aclrtMemcpyAsync(words, 8, gone.data(), 8, ACL_MEMCPY_HOST_TO_BUF_TO_DEVICE, stream));
        gone.assign(2, 0);
    }
    ASSERT_ACL_OK(aclrtMemsetAsync(words + 2, 4, 1, 4, stream));
    ASSERT_ACL_OK(aclrtMemcpyAsync(words + 3, 4, words + 1, 4, ACL_MEMCPY_DEVICE_TO_DEVICE, stream));
    finish(stream);
    replay();
    if (device_computes()) EXPECT_EQ(read_back(words, 4), (std::vector<uint32_t>{5, 6, 0x01010101, 6}));
}

TEST_F(GraphBuild, EventsOrderHeadStreamsAtEachExecution) {
    aclrtStream first = bound(), second = bound();
    aclrtEvent done = event();
    ASSERT_ACL_OK(aclrtStreamWaitEvent(second, done));
    ASSERT_ACL_OK(append(second, 2));
    ASSERT_ACL_OK(append(first, 1));
    ASSERT_ACL_OK(aclrtRecordEvent(done, first));
    finish(second);
    for (int round = 0; round < 5; ++round) expect_replay({1, 2});
}

TEST_F(GraphBuild, AResetEventHoldsTheNextWait) {
    aclrtStream first = bound(), second = bound();
    aclrtEvent there = event(), back = event();
    ASSERT_ACL_OK(append(first, 1));
    ASSERT_ACL_OK(aclrtRecordEvent(there, first));
    ASSERT_ACL_OK(aclrtStreamWaitEvent(first, back));
    ASSERT_ACL_OK(append(first, 3));
    ASSERT_ACL_OK(aclrtRecordEvent(there, first));
    ASSERT_ACL_OK(aclrtStreamWaitEvent(second, there));
    ASSERT_ACL_OK(aclrtResetEvent(there, second));
    ASSERT_ACL_OK(append(second, 2));
    ASSERT_ACL_OK(aclrtRecordEvent(back, second));
    ASSERT_ACL_OK(aclrtStreamWaitEvent(second, there));
    ASSERT_ACL_OK(append(second, 4));
    finish(second);
    expect_replay({1, 2, 3, 4});
    expect_replay({1, 2, 3, 4});
}

TEST_F(GraphBuild, AnActivatedStreamRunsBesideTheOneThatStartedIt) {
    aclrtStream first = bound(), second = bound(later), never = bound(later);
    aclrtEvent done = event();
    ASSERT_ACL_OK(append(first, 1));
    ASSERT_ACL_OK(aclrtActiveStream(second, first));
    ASSERT_ACL_OK(aclrtStreamWaitEvent(first, done));
    ASSERT_ACL_OK(append(first, 3));
    ASSERT_ACL_OK(append(second, 2));
    ASSERT_ACL_OK(aclrtRecordEvent(done, second));
    ASSERT_ACL_OK(append(never, 9));
    finish(first);
    expect_replay({1, 2, 3});
    expect_replay({1, 2, 3});
}

template <class T>
struct Comparing {
    T left, right;
    bool holds[6];  // indexed by aclrtCondition
};

class GraphSwitch : public BuildTest {
protected:
    template <class T>
    void expect(aclrtCompareDataType type, const std::vector<Comparing<T>>& cases) {
        auto* left = device_array<T>({0});
        auto* right = device_array<T>({0});
        for (int condition = ACL_RT_EQUAL; condition <= ACL_RT_LESS_OR_EQUAL; ++condition) {
            aclmdlRI model = nullptr;
            ASSERT_ACL_OK(aclmdlRIBuildBegin(&model, 0));
            aclrtStream stream = persistent(), other = persistent(), last = persistent();
            ASSERT_ACL_OK(aclmdlRIBindStream(model, stream, head));
            ASSERT_ACL_OK(aclmdlRIBindStream(model, other, later));
            ASSERT_ACL_OK(aclmdlRIBindStream(model, last, later));
            ASSERT_ACL_OK(
                aclrtSwitchStream(left, static_cast<aclrtCondition>(condition), right, type, other, nullptr, stream));
            ASSERT_ACL_OK(append(stream, 1));
            ASSERT_ACL_OK(aclrtActiveStream(last, stream));
            ASSERT_ACL_OK(append(other, 2));
            ASSERT_ACL_OK(aclrtActiveStream(last, other));
            ASSERT_ACL_OK(aclmdlRIEndTask(model, last));
            ASSERT_ACL_OK(aclmdlRIBuildEnd(model, nullptr));
            for (const Comparing<T>& one : cases) {
                write(left, one.left);
                write(right, one.right);
                ASSERT_ACL_OK(aclmdlRIExecuteAsync(model, stream_));
                ASSERT_ACL_OK(aclrtSynchronizeStream(stream_));
                if (device_computes())
                    EXPECT_EQ(take_log(), std::vector<uint32_t>{one.holds[condition] ? 2u : 1u})
                        << one.left << ' ' << condition << ' ' << one.right;
            }
            ASSERT_ACL_OK(aclmdlRIDestroy(model));
        }
    }
};

TEST_F(GraphSwitch, ComparesWordsOf32BitsWithTheirSign) {
    expect<int32_t>(ACL_RT_SWITCH_INT32, {{3, 3, {true, false, false, true, false, true}},
                                          {-1, 2, {false, true, false, false, true, true}},
                                          {7, -7, {false, true, true, true, false, false}}});
}

TEST_F(GraphSwitch, ComparesWordsOf64Bits) {
    constexpr int64_t large = int64_t{1} << 40;
    expect<int64_t>(ACL_RT_SWITCH_INT64, {{large, large, {true, false, false, true, false, true}},
                                          {large, 0, {false, true, true, true, false, false}},
                                          {-large, large, {false, true, false, false, true, true}}});
}

TEST_F(GraphSwitch, RefusesWhatItCannotCompare) {
    auto* word = device_array<int64_t>({0, 0});
    aclrtStream stream = bound(), other = bound(later);
    const auto call = [&](void* left, int condition, void* right, int type, aclrtStream to, aclrtStream otherwise,
                          aclrtStream on) {
        return aclrtSwitchStream(left, static_cast<aclrtCondition>(condition), right,
                                 static_cast<aclrtCompareDataType>(type), to, otherwise, on);
    };
    EXPECT_ACL_FAILS(100000, "leftValue", call(nullptr, 0, word, 0, other, nullptr, stream));
    EXPECT_ACL_FAILS(100000, "rightValue", call(word, 0, nullptr, 0, other, nullptr, stream));
    EXPECT_ACL_FAILS(100000, "trueStream", call(word, 0, word, 0, nullptr, nullptr, stream));
    EXPECT_ACL_FAILS(100000, "stream", call(word, 0, word, 0, other, nullptr, nullptr));
    EXPECT_ACL_FAILS(100000, "falseStream", call(word, 0, word, 0, other, other, stream));
    EXPECT_ACL_FAILS(100000, "cond", call(word, 6, word, 0, other, nullptr, stream));
    EXPECT_ACL_FAILS(100000, "cond", call(word, -1, word, 0, other, nullptr, stream));
    EXPECT_ACL_FAILS(100000, "dataType", call(word, 0, word, 2, other, nullptr, stream));
    int64_t host = 0;
    EXPECT_ACL_FAILS(107000, "not device memory", call(&host, 0, word, 0, other, nullptr, stream));
    auto* odd = reinterpret_cast<char*>(word) + 2;
    EXPECT_ACL_FAILS(107000, "multiple of 4", call(odd, 0, word, 0, other, nullptr, stream));
    EXPECT_ACL_FAILS(107005, "not bound", call(word, 0, word, 0, stream_, nullptr, stream));
    EXPECT_ACL_FAILS(107005, "not bound", call(word, 0, word, 0, other, nullptr, stream_));
    EXPECT_ACL_FAILS(107005, "not bound", call(word, 0, word, 0, persistent(), nullptr, stream));
    EXPECT_ACL_FAILS(107017, "not a live stream", call(word, 0, word, 0, model_, nullptr, stream));
    aclmdlRI second = nullptr;
    ASSERT_ACL_OK(aclmdlRIBuildBegin(&second, 0));
    aclrtStream elsewhere = persistent();
    ASSERT_ACL_OK(aclmdlRIBindStream(second, elsewhere, later));
    EXPECT_ACL_FAILS(107005, "different graphs", call(word, 0, word, 0, elsewhere, nullptr, stream));
    EXPECT_ACL_FAILS(107005, "different graphs", aclrtActiveStream(elsewhere, stream));
    ASSERT_ACL_OK(aclmdlRIDestroy(second));
}

TEST_F(GraphBuild, ActiveStreamRefusesStreamsThatAreNotBound) {
    aclrtStream stream = bound(), free = persistent();
    EXPECT_ACL_FAILS(100000, "activeStream", aclrtActiveStream(nullptr, stream));
    EXPECT_ACL_FAILS(100000, "stream", aclrtActiveStream(stream, nullptr));
    EXPECT_ACL_FAILS(107005, "not bound", aclrtActiveStream(free, stream));
    EXPECT_ACL_FAILS(107005, "not bound", aclrtActiveStream(stream, free));
    EXPECT_ACL_FAILS(107005, "not bound", aclrtActiveStream(stream, stream_));
    EXPECT_ACL_FAILS(107017, "not a live stream", aclrtActiveStream(model_, stream));
}

TEST_F(GraphBuild, BeginRefusesFlags) {
    aclmdlRI model = nullptr;
    EXPECT_ACL_FAILS(100000, "modelRI", aclmdlRIBuildBegin(nullptr, 0));
    EXPECT_ACL_FAILS(100000, "flag", aclmdlRIBuildBegin(&model, 1));
}

TEST_F(GraphBuild, OnlyFreePersistentStreamsCanBeBound) {
    aclrtStream stream = bound();
    EXPECT_ACL_FAILS(100000, "modelRI", aclmdlRIBindStream(nullptr, persistent(), head));
    EXPECT_ACL_FAILS(107017, "not a live graph", aclmdlRIBindStream(stream_, persistent(), head));
    EXPECT_ACL_FAILS(107000, "default stream", aclmdlRIBindStream(model_, nullptr, head));
    EXPECT_ACL_FAILS(107000, "flag", aclmdlRIBindStream(model_, persistent(), 1));
    EXPECT_ACL_FAILS(107000, "ACL_STREAM_PERSISTENT", aclmdlRIBindStream(model_, stream_, head));
    EXPECT_ACL_FAILS(107005, "bound", aclmdlRIBindStream(model_, stream, head));
    EXPECT_ACL_FAILS(107017, "not a live stream", aclmdlRIBindStream(model_, model_, head));
    aclmdlRI second = nullptr;
    ASSERT_ACL_OK(aclmdlRIBuildBegin(&second, 0));
    EXPECT_ACL_FAILS(107005, "bound", aclmdlRIBindStream(second, stream, head));
    ASSERT_ACL_OK(aclmdlRIDestroy(second));
}

TEST_F(GraphBuild, CapturedStreamsAreRefused) {
    ASSERT_ACL_OK(aclmdlRICaptureBegin(stream_, ACL_MODEL_RI_CAPTURE_MODE_RELAXED));
    EXPECT_ACL_FAILS(107027, "captured", aclmdlRIBindStream(model_, stream_, head));
    EXPECT_ACL_FAILS(107027, "captured", aclmdlRIUnbindStream(model_, stream_));
    EXPECT_ACL_FAILS(107027, "captured", aclmdlRIEndTask(model_, stream_));
    aclmdlRI captured = nullptr;
    aclmdlRICaptureEnd(stream_, &captured);
    if (captured) ASSERT_ACL_OK(aclmdlRIDestroy(captured));
}

TEST_F(GraphBuild, ModelsAndStreamsOfOtherContextsAreRefused) {
    aclrtStream stream = persistent();
    aclrtContext before = nullptr, other = nullptr;
    ASSERT_ACL_OK(aclrtGetCurrentContext(&before));
    ASSERT_ACL_OK(aclrtCreateContext(&other, 0));
    EXPECT_ACL_FAILS(107004, "another context", aclmdlRIBindStream(model_, stream, head));
    EXPECT_ACL_FAILS(107004, "another context", aclmdlRIUnbindStream(model_, stream));
    EXPECT_ACL_FAILS(107004, "another context", aclmdlRIEndTask(model_, stream));
    EXPECT_ACL_FAILS(107004, "another context", aclmdlRIBuildEnd(model_, nullptr));
    aclmdlRI here = nullptr;
    ASSERT_ACL_OK(aclmdlRIBuildBegin(&here, 0));
    EXPECT_ACL_FAILS(107003, "another context", aclmdlRIBindStream(here, stream, head));
    EXPECT_ACL_FAILS(107003, "another context", aclmdlRIEndTask(here, stream));
    ASSERT_ACL_OK(aclmdlRIDestroy(here));
    ASSERT_ACL_OK(aclrtDestroyContext(other));
    ASSERT_ACL_OK(aclrtSetCurrentContext(before));
}

TEST_F(GraphBuild, NeedsAContext) {
    const int code = std::invoke([] {
        int result = 0;
        std::thread([&] {
            aclmdlRI model = nullptr;
            result = aclmdlRIBuildBegin(&model, 0);
        }).join();
        return result;
    });
    EXPECT_EQ(code, 107002);
}

TEST_F(GraphBuild, HasExactlyOneEnd) {
    aclrtStream stream = bound();
    ASSERT_ACL_OK(append(stream, 1));
    EXPECT_ACL_FAILS(507000, "aclmdlRIEndTask", aclmdlRIBuildEnd(model_, nullptr));
    EXPECT_ACL_FAILS(100000, "modelRI", aclmdlRIEndTask(nullptr, stream));
    EXPECT_ACL_FAILS(107005, "not bound", aclmdlRIEndTask(model_, persistent()));
    EXPECT_ACL_FAILS(107017, "not a live graph", aclmdlRIEndTask(stream, stream));
    ASSERT_ACL_OK(aclmdlRIEndTask(model_, stream));
    EXPECT_ACL_FAILS(107000, "has its end", aclmdlRIEndTask(model_, stream));
    ASSERT_ACL_OK(aclmdlRIBuildEnd(model_, nullptr));
    expect_replay({1});
}

TEST_F(GraphBuild, AnEndNeedsAStreamThatStarts) {
    EXPECT_ACL_FAILS(507000, "no tasks", aclmdlRIBuildEnd(model_, nullptr));
    aclrtStream stream = bound(later);
    ASSERT_ACL_OK(aclmdlRIEndTask(model_, stream));
    EXPECT_ACL_FAILS(507000, "no tasks on a stream that starts", aclmdlRIBuildEnd(model_, nullptr));
    aclrtStream first = bound();
    ASSERT_ACL_OK(append(first, 1));
    ASSERT_ACL_OK(aclrtActiveStream(stream, first));
    ASSERT_ACL_OK(aclmdlRIBuildEnd(model_, nullptr));
    expect_replay({1});
}

TEST_F(GraphBuild, NothingIsAddedAfterTheEnd) {
    aclrtStream stream = bound();
    ASSERT_ACL_OK(append(stream, 1));
    finish(stream);
    EXPECT_ACL_FAILS(107005, "complete", append(stream, 2));
    EXPECT_ACL_FAILS(107005, "complete", aclrtMemsetAsync(log_, 4, 0, 4, stream));
    EXPECT_ACL_FAILS(107005, "complete", aclrtRecordEvent(event(), stream));
    EXPECT_ACL_FAILS(107005, "complete", aclrtActiveStream(stream, stream));
    EXPECT_ACL_FAILS(107000, "not being built", aclmdlRIBindStream(model_, persistent(), head));
    EXPECT_ACL_FAILS(507000, "not being built", aclmdlRIBuildEnd(model_, nullptr));
    EXPECT_ACL_FAILS(100000, "reserve", aclmdlRIBuildEnd(model_, this));
    expect_replay({1});
}

TEST_F(GraphBuild, CannotBeExecutedBeforeItsEnd) {
    aclrtStream stream = bound();
    ASSERT_ACL_OK(append(stream, 1));
    EXPECT_ACL_FAILS(107000, "still being built", aclmdlRIExecuteAsync(model_, stream_));
    EXPECT_ACL_FAILS(107000, "still being built", aclmdlRIExecute(model_, -1));
    finish(stream);
    EXPECT_ACL_FAILS(107005, "persistent", aclmdlRIExecuteAsync(model_, stream));
}

TEST_F(GraphBuild, AnUnboundStreamTakesItsTasksOutOfAModelThatIsBeingBuilt) {
    aclrtStream first = bound(), second = bound();
    ASSERT_ACL_OK(append(first, 1));
    ASSERT_ACL_OK(append(second, 2));
    EXPECT_ACL_FAILS(107005, "not bound", aclmdlRIUnbindStream(model_, persistent()));
    ASSERT_ACL_OK(aclmdlRIUnbindStream(model_, second));
    EXPECT_ACL_FAILS(107005, "not bound", aclmdlRIUnbindStream(model_, second));
    finish(first);
    expect_replay({1});
    ASSERT_ACL_OK(aclmdlRIUnbindStream(model_, first));
}

TEST_F(GraphBuild, AStreamThatIsStartedMustStayBound) {
    aclrtStream first = bound(), second = bound(later);
    ASSERT_ACL_OK(aclrtActiveStream(second, first));
    ASSERT_ACL_OK(aclmdlRIEndTask(model_, first));
    ASSERT_ACL_OK(aclmdlRIUnbindStream(model_, second));
    EXPECT_ACL_FAILS(107005, "was unbound", aclmdlRIBuildEnd(model_, nullptr));
}

TEST_F(GraphBuild, ADestroyedModelLetsGoOfItsStreams) {
    aclrtStream stream = bound();
    ASSERT_ACL_OK(append(stream, 1));
    finish(stream);
    ASSERT_ACL_OK(aclmdlRIDestroy(model_));
    EXPECT_ACL_FAILS(107017, "not a live graph", aclmdlRIUnbindStream(model_, stream));
    ASSERT_ACL_OK(aclmdlRIBuildBegin(&model_, 0));
    ASSERT_ACL_OK(aclmdlRIBindStream(model_, stream, head));
    ASSERT_ACL_OK(append(stream, 2));
    finish(stream);
    expect_replay({2});
}

TEST_F(GraphBuild, AStreamMayEndBeforeItsModel) {
    aclrtStream stream = nullptr;
    ASSERT_ACL_OK(aclrtCreateStreamWithConfig(&stream, 0, ACL_STREAM_PERSISTENT));
    ASSERT_ACL_OK(aclmdlRIBindStream(model_, stream, head));
    ASSERT_ACL_OK(append(stream, 1));
    finish(stream);
    ASSERT_ACL_OK(aclrtDestroyStream(stream));
    expect_replay({1});
    aclrtStream other = nullptr;  // its tasks belong to no model
    ASSERT_ACL_OK(aclrtCreateStreamWithConfig(&other, 0, ACL_STREAM_PERSISTENT));
    ASSERT_ACL_OK(append(other, 1));
    ASSERT_ACL_OK(aclrtDestroyStream(other));
}

TEST_F(GraphBuild, CleaningEmptiesAPersistentStream) {
    aclrtStream free = persistent(), stream = bound();
    ASSERT_ACL_OK(append(free, 7));
    ASSERT_ACL_OK(aclrtPersistentTaskClean(free));
    ASSERT_ACL_OK(aclmdlRIBindStream(model_, free, head));
    ASSERT_ACL_OK(append(stream, 8));
    ASSERT_ACL_OK(aclrtPersistentTaskClean(stream));
    ASSERT_ACL_OK(append(stream, 1));
    EXPECT_ACL_FAILS(207000, "not a persistent stream", aclrtPersistentTaskClean(stream_));
    finish(stream);
    EXPECT_ACL_FAILS(107005, "complete", aclrtPersistentTaskClean(stream));
    expect_replay({1});
}

TEST_F(GraphBuild, TheEndOfAModelDropsALaunchThatWaitsForCores) {
    if (!device_reaches_all_memory()) GTEST_SKIP() << "a launch in another process has begun once it was sent";
    if (!device_computes()) GTEST_SKIP() << "needs kernels that keep cores busy";
    constexpr uint32_t all_cores = 48;
    SharedWord begun, go, done, gate;
    aclrtStream first = bound(), second = bound(later), holder = nullptr;
    ASSERT_ACL_OK(launch("append", all_cores, second, log_, 1u));
    ASSERT_ACL_OK(aclrtActiveStream(second, first));
    ASSERT_ACL_OK(aclrtValueWait(gate.device(), 1, 1, first));
    finish(first);
    ASSERT_ACL_OK(aclrtCreateStream(&holder));
    ASSERT_ACL_OK(launch("begin_and_wait_for_word", all_cores, holder, begun.device(), go.device(), done.device()));
    begun.wait_until_set();
    ASSERT_ACL_OK(aclmdlRIExecuteAsync(model_, stream_));
    gate.set(1);
    EXPECT_ACL_OK(aclrtSynchronizeStream(stream_));
    go.set(1);
    EXPECT_ACL_OK(aclrtSynchronizeStream(holder));
    EXPECT_TRUE(take_log().empty());
    ASSERT_ACL_OK(launch("append", all_cores, stream_, log_, 2u));
    EXPECT_ACL_OK(aclrtSynchronizeStream(stream_));
    EXPECT_EQ(take_log(), std::vector<uint32_t>(all_cores, 2));
    ASSERT_ACL_OK(aclrtDestroyStream(holder));
}

TEST_F(GraphBuild, SeveralModelsRunAtOnce) {
    aclrtStream stream = bound(), other_stream = nullptr;
    Gate gate;
    gate.hold(stream);
    ASSERT_ACL_OK(append(stream, 1));
    finish(stream);
    aclmdlRI second = nullptr;
    ASSERT_ACL_OK(aclmdlRIBuildBegin(&second, 0));
    aclrtStream recorded = persistent();
    ASSERT_ACL_OK(aclmdlRIBindStream(second, recorded, head));
    ASSERT_ACL_OK(append(recorded, 2));
    ASSERT_ACL_OK(aclmdlRIEndTask(second, recorded));
    ASSERT_ACL_OK(aclmdlRIBuildEnd(second, nullptr));
    ASSERT_ACL_OK(aclrtCreateStream(&other_stream));
    ASSERT_ACL_OK(aclmdlRIExecuteAsync(model_, stream_));
    if (device_computes()) EXPECT_ACL_FAILS(107037, "running", aclmdlRIDestroy(model_));
    ASSERT_ACL_OK(aclmdlRIExecuteAsync(second, other_stream));
    ASSERT_ACL_OK(aclrtSynchronizeStream(other_stream));
    gate.open();
    ASSERT_ACL_OK(aclrtSynchronizeStream(stream_));
    if (device_computes()) EXPECT_EQ(take_log(), (std::vector<uint32_t>{2, 1}));
    ASSERT_ACL_OK(aclrtDestroyStream(other_stream));
    ASSERT_ACL_OK(aclmdlRIDestroy(second));
}

}  // namespace
}  // namespace conformance
