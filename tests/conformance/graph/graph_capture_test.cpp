// SPDX-License-Identifier: Apache-2.0
// Capturing streams: how calls are captured, which calls are forbidden meanwhile, and how captures end.
#include <unistd.h>

#include <atomic>

#include "fixtures/capture_fixture.h"

namespace conformance {
namespace {

class Capture : public CaptureTest {};

// ---- arguments -----------------------------------------------------------------------------------------------------

TEST_F(Capture, NullArgumentsAreRefused) {
    aclmdlRI graph = nullptr;
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "stream", aclmdlRICaptureBegin(nullptr, global));
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "stream", aclmdlRICaptureEnd(nullptr, &graph));
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "modelRI", aclmdlRICaptureEnd(stream_, nullptr));
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "stream", aclmdlRICaptureGetInfo(nullptr, nullptr, &graph));
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "status", aclmdlRICaptureGetInfo(stream_, nullptr, nullptr));
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "mode", aclmdlRICaptureThreadExchangeMode(nullptr));
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "modelRI", aclmdlRICaptureToModelRIBegin(stream_, nullptr, global));
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "modelRI", aclmdlRIExecuteAsync(nullptr, stream_));
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "modelRI", aclmdlRIExecute(nullptr, -1));
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "modelRI", aclmdlRIAbort(nullptr));
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "modelRI", aclmdlRIDestroy(nullptr));
}

TEST_F(Capture, HandlesThatAreNoGraphsAreRefused) {
    begin();
    aclmdlRI graph = end();
    ASSERT_ACL_OK(aclmdlRIDestroy(graph));
    graphs_.clear();
    expect_all_refuse(
        {{"ExecuteAsync", [&](void* handle) { return aclmdlRIExecuteAsync(handle, stream_); }},
         {"Execute", [](void* handle) { return aclmdlRIExecute(handle, -1); }},
         {"Abort", [](void* handle) { return aclmdlRIAbort(handle); }},
         {"Destroy", [](void* handle) { return aclmdlRIDestroy(handle); }},
         {"CaptureTo", [&](void* handle) { return aclmdlRICaptureToModelRIBegin(stream_, handle, global); }},
         {"Register",
          [](void* handle) {
              return aclmdlRIDestroyRegisterCallback(
                  handle, [](void*) {}, nullptr);
          }}},
        handles_that_are_none(graph, stream_), ACL_ERROR_RT_INVALID_HANDLE);
}

TEST_F(Capture, TheDefaultStreamCannotBeCaptured) {
    aclrtContext context = nullptr;
    ASSERT_ACL_OK(aclrtGetCurrentContext(&context));
    aclrtStream standard = nullptr;
    ASSERT_ACL_OK(aclrtCtxGetCurrentDefaultStream(&standard));
    EXPECT_ACL_FAILS(ACL_ERROR_RT_STREAM_CAPTURE_IMPLICIT, "default stream", aclmdlRICaptureBegin(standard, relaxed));
}

TEST_F(Capture, UnknownModesAreRefused) {
    EXPECT_ACL_FAILS(ACL_ERROR_RT_PARAM_INVALID, "mode",
                     aclmdlRICaptureBegin(stream_, static_cast<aclmdlRICaptureMode>(3)));
    auto mode = static_cast<aclmdlRICaptureMode>(-1);
    EXPECT_ACL_FAILS(ACL_ERROR_RT_PARAM_INVALID, "mode", aclmdlRICaptureThreadExchangeMode(&mode));
    EXPECT_EQ(status(stream_), ACL_MODEL_RI_CAPTURE_STATUS_NONE);
}

TEST_F(Capture, AStreamIsCapturedOnceAtATime) {
    begin();
    EXPECT_ACL_FAILS(ACL_ERROR_RT_STREAM_CAPTURED, "already being captured", aclmdlRICaptureBegin(stream_, relaxed));
    EXPECT_EQ(status(stream_), ACL_MODEL_RI_CAPTURE_STATUS_ACTIVE);
    end();
}

TEST_F(Capture, PersistentStreamsBelongToTheGraphTheyAreBoundTo) {
    aclrtStream persistent = nullptr;
    ASSERT_ACL_OK(aclrtCreateStreamWithConfig(&persistent, 0, ACL_STREAM_PERSISTENT));
    EXPECT_ACL_FAILS(ACL_ERROR_RT_STREAM_MODEL, "persistent", aclmdlRICaptureBegin(persistent, relaxed));
    EXPECT_ACL_OK(aclrtDestroyStream(persistent));
}

TEST_F(Capture, EndingWithoutBeginningIsRefused) {
    aclmdlRI graph = nullptr;
    EXPECT_ACL_FAILS(ACL_ERROR_RT_STREAM_NOT_CAPTURED, "not being captured", aclmdlRICaptureEnd(stream_, &graph));
}

// ---- what is captured ----------------------------------------------------------------------------------------------

TEST_F(Capture, TasksRunAtEachReplayAndNotBefore) {
    begin();
    for (int i = 0; i < 5; ++i) ASSERT_ACL_OK(increment(stream_));
    aclmdlRI graph = end();
    EXPECT_ACL_OK(aclrtSynchronizeStream(stream_));
    EXPECT_EQ(count(), 0u);
    replay(graph, stream_);
    replay(graph, other_);
    EXPECT_ACL_OK(aclmdlRIExecuteAsync(graph, nullptr));
    EXPECT_ACL_OK(aclrtSynchronizeStream(nullptr));
    if (device_computes()) EXPECT_EQ(count(), 15u);
}

TEST_F(Capture, AnEmptyCaptureIsAGraphThatDoesNothing) {
    begin(global);
    aclmdlRI graph = end();
    replay(graph, stream_);
    EXPECT_ACL_OK(aclmdlRIExecute(graph, -1));
}

TEST_F(Capture, AReplayIsOneTaskInTheOrderOfItsStream) {
    begin();
    ASSERT_ACL_OK(append(stream_, 2));
    ASSERT_ACL_OK(append(stream_, 3));
    aclmdlRI graph = end();
    ASSERT_ACL_OK(append(other_, 1));
    ASSERT_ACL_OK(aclmdlRIExecuteAsync(graph, other_));
    ASSERT_ACL_OK(append(other_, 4));
    ASSERT_ACL_OK(aclmdlRIExecuteAsync(graph, other_));
    ASSERT_ACL_OK(aclrtSynchronizeStream(other_));
    if (device_computes()) EXPECT_EQ(take_log(), (std::vector<uint32_t>{1, 2, 3, 4, 2, 3}));
}

TEST_F(Capture, ArgumentsAreThoseOfTheCall) {
    uint32_t* words = device_array<uint32_t>({0, 0});
    begin();
    uint64_t slots[2] = {reinterpret_cast<uint64_t>(words), 7};
    ASSERT_ACL_OK(
        aclrtLaunchKernelWithHostArgs(function("store_at"), 1, stream_, nullptr, slots, sizeof(slots), nullptr, 0));
    slots[0] += 4;
    slots[1] = 9;
    aclmdlRI graph = end();
    replay(graph, stream_);
    if (device_computes()) EXPECT_EQ(read_back(words, 2), (std::vector<uint32_t>{7, 0}));
}

TEST_F(Capture, InformationSaysWhatGoesOn) {
    auto now = ACL_MODEL_RI_CAPTURE_STATUS_ACTIVE;
    aclmdlRI inside = stream_;
    EXPECT_ACL_OK(aclmdlRICaptureGetInfo(stream_, &now, &inside));
    EXPECT_EQ(now, ACL_MODEL_RI_CAPTURE_STATUS_NONE);
    EXPECT_EQ(inside, nullptr);
    begin();
    EXPECT_ACL_OK(aclmdlRICaptureGetInfo(stream_, &now, &inside));
    EXPECT_EQ(now, ACL_MODEL_RI_CAPTURE_STATUS_ACTIVE);
    EXPECT_NE(inside, nullptr);
    EXPECT_ACL_FAILS(ACL_ERROR_RT_MODEL_CAPTURED, "captured", aclmdlRIExecuteAsync(inside, other_));
    EXPECT_ACL_FAILS(ACL_ERROR_RT_MODEL_CAPTURED, "captured", aclmdlRIDestroy(inside));
    EXPECT_EQ(end(), inside);
}

TEST_F(Capture, SeveralStreamsAreCapturedAtTheSameTime) {
    begin(relaxed);
    ASSERT_ACL_OK(aclmdlRICaptureBegin(other_, relaxed));
    ASSERT_ACL_OK(append(stream_, 1));
    ASSERT_ACL_OK(append(other_, 2));
    aclmdlRI first = end(), second = nullptr;
    ASSERT_ACL_OK(aclmdlRICaptureEnd(other_, &second));
    graphs_.push_back(second);
    replay(second, stream_);
    replay(first, stream_);
    if (device_computes()) EXPECT_EQ(take_log(), (std::vector<uint32_t>{2, 1}));
}

// ---- ends ----------------------------------------------------------------------------------------------------------

TEST_F(Capture, OnlyItsThreadEndsACaptureUnlessItIsRelaxed) {
    begin(thread_local_);
    const std::string text = elsewhere([&] {
        aclmdlRI graph = nullptr;
        EXPECT_EQ(aclmdlRICaptureEnd(stream_, &graph), ACL_ERROR_RT_STREAM_CAPTURE_WRONG_THREAD);
        EXPECT_EQ(graph, nullptr);
        return recent_error();
    });
    EXPECT_NE(text.find("thread " + std::to_string(gettid())), std::string::npos) << text;
    expect_usable(stream_);  // the capture is gone
    begin(relaxed);
    aclmdlRI graph = elsewhere([&] {
        aclmdlRI made = nullptr;
        EXPECT_ACL_OK(aclmdlRICaptureEnd(stream_, &made));
        return made;
    });
    ASSERT_NE(graph, nullptr);
    graphs_.push_back(graph);
}

TEST_F(Capture, ItEndsOnTheStreamItBeganOn) {
    begin();
    join(stream_, other_);
    aclmdlRI graph = nullptr;
    EXPECT_ACL_FAILS(ACL_ERROR_RT_STREAM_CAPTURE_UNMATCHED, "began on stream", aclmdlRICaptureEnd(other_, &graph));
    join(other_, stream_);
    end();
}

TEST_F(Capture, DestroyingAGraphCallsTheRegisteredFunctions) {
    begin();
    aclmdlRI graph = end();
    std::vector<int> calls;
    const auto note = [](void* data) { static_cast<std::vector<int>*>(data)->push_back(1); };
    const auto other = [](void* data) { static_cast<std::vector<int>*>(data)->push_back(2); };
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "func", aclmdlRIDestroyRegisterCallback(graph, nullptr, &calls));
    EXPECT_ACL_OK(aclmdlRIDestroyRegisterCallback(graph, note, &calls));
    EXPECT_ACL_OK(aclmdlRIDestroyRegisterCallback(graph, other, &calls));
    EXPECT_ACL_OK(aclmdlRIDestroyUnregisterCallback(graph, other));
    EXPECT_ACL_FAILS(ACL_ERROR_RT_PARAM_INVALID, "func", aclmdlRIDestroyUnregisterCallback(graph, other));
    EXPECT_TRUE(calls.empty());
    EXPECT_ACL_OK(aclmdlRIDestroy(graph));
    graphs_.clear();
    EXPECT_EQ(calls, std::vector<int>{1});
}

TEST_F(Capture, ARunningGraphIsNotDestroyed) {
    if (!device_computes()) GTEST_SKIP() << "needs a replay that takes its time";
    Gate gate;
    aclmdlRI graph = gated_graph(gate);
    ASSERT_ACL_OK(aclmdlRIExecuteAsync(graph, other_));
    EXPECT_ACL_FAILS(ACL_ERROR_RT_MODEL_RUNNING, "still running", aclmdlRIDestroy(graph));
    gate.open();
    ASSERT_ACL_OK(aclrtSynchronizeStream(other_));
    EXPECT_EQ(count(), 1u);
}

TEST_F(Capture, SynchronousExecutionWaitsAndMayGiveUpWaiting) {
    if (!device_computes()) GTEST_SKIP() << "needs a replay that takes its time";
    Gate gate;
    aclmdlRI graph = gated_graph(gate);
    EXPECT_ACL_FAILS(ACL_ERROR_RT_PARAM_INVALID, "timeout", aclmdlRIExecute(graph, 0));
    EXPECT_ACL_FAILS(ACL_ERROR_RT_PARAM_INVALID, "timeout", aclmdlRIExecute(graph, -2));
    EXPECT_ACL_FAILS(ACL_ERROR_RT_STREAM_SYNC_TIMEOUT, "in time", aclmdlRIExecute(graph, 1));
    gate.open();
    EXPECT_ACL_OK(aclmdlRIExecute(graph, -1));
    EXPECT_EQ(count(), 2u);
}

TEST_F(Capture, AnAbortEndsTheReplayThatRuns) {
    if (!device_computes()) GTEST_SKIP() << "needs a replay that takes its time";
    SharedWord begun, word, done;
    begin();
    ASSERT_ACL_OK(launch("begin_and_wait_for_word", 1, stream_, begun.device(), word.device(), done.device()));
    ASSERT_ACL_OK(increment(stream_));
    aclmdlRI graph = end();
    ASSERT_ACL_OK(aclmdlRIExecuteAsync(graph, other_));
    begun.wait_until_set();
    EXPECT_ACL_OK(aclmdlRIAbort(graph));
    word.set(1);
    EXPECT_NE(aclrtSynchronizeStream(other_), ACL_SUCCESS);
    EXPECT_EQ(count(), 0u);
    replay(graph, other_);
    EXPECT_EQ(count(), 1u);
}

TEST_F(Capture, AStoppedStreamGivesUpAReplayThatWaitsForItsTurn) {
    if (!device_computes()) GTEST_SKIP() << "needs a replay that takes its time";
    Gate gate;
    aclmdlRI graph = gated_graph(gate);
    ASSERT_ACL_OK(aclmdlRIExecuteAsync(graph, other_));
    ASSERT_ACL_OK(aclmdlRIExecuteAsync(graph, third_));
    ASSERT_TRUE(eventually([&] {
        EXPECT_ACL_OK(aclrtStreamStop(third_));
        aclrtStreamStatus state = ACL_STREAM_STATUS_RESERVED;
        EXPECT_ACL_OK(aclrtStreamQuery(third_, &state));
        return state == ACL_STREAM_STATUS_COMPLETE;
    }));
    EXPECT_NE(aclrtSynchronizeStream(third_), ACL_SUCCESS);
    gate.open();
    ASSERT_ACL_OK(aclrtSynchronizeStream(other_));
    EXPECT_EQ(count(), 1u);
    replay(graph, third_);
    EXPECT_EQ(count(), 2u);
}

TEST_F(Capture, AFaultFailsTheReplayAndTheNextOneWorks) {
    if (!device_computes()) GTEST_SKIP() << "needs kernels that run";
    uint32_t* target = device_array<uint32_t>({0});

    begin();
    ASSERT_ACL_OK(increment(stream_));
    ASSERT_ACL_OK(launch("trap_always", 1, stream_));
    ASSERT_ACL_OK(launch("increment", 1, stream_, target));
    aclmdlRI graph = end();
    for (uint32_t round = 1; round <= 2; ++round) {
        ASSERT_ACL_OK(aclmdlRIExecuteAsync(graph, other_));
        EXPECT_ACL_FAILS(ACL_ERROR_RT_VECTOR_CORE_EXCEPTION, "trap_always", aclrtSynchronizeStream(other_));
        EXPECT_EQ(count(), round);
        EXPECT_EQ(read_back(target, 1)[0], 0u);
    }
}

// ---- what is forbidden ---------------------------------------------------------------------------------------------

// A call that invalidates the capture of stream_; the error messages then contain `function`.
struct Forbidden {
    const char* function;
    int code;
    std::function<aclError()> call;
};

class ForbiddenCall : public CaptureTest {
protected:
    // Expects each call to fail with its code and to invalidate a capture in this mode.
    void expect_each_spoils(aclmdlRICaptureMode mode, const std::vector<Forbidden>& calls) {
        for (const Forbidden& one : calls) {
            SCOPED_TRACE(one.function);
            begin(mode);
            EXPECT_ACL_OK(increment(stream_));
            recent_error();
            EXPECT_EQ(one.call(), one.code);
            EXPECT_FALSE(recent_error().empty());
            EXPECT_EQ(status(stream_), ACL_MODEL_RI_CAPTURE_STATUS_INVALIDATED);
            EXPECT_ACL_FAILS(ACL_ERROR_RT_STREAM_CAPTURE_INVALIDATED, one.function, increment(stream_));
            aclmdlRI graph = &graph;
            EXPECT_ACL_FAILS(ACL_ERROR_RT_STREAM_CAPTURE_INVALIDATED,
                             std::string(one.function) + ", called by thread " + std::to_string(gettid()),
                             aclmdlRICaptureEnd(stream_, &graph));
            EXPECT_EQ(graph, nullptr);
            expect_usable(stream_);
        }
    }
    void expect_none_spoils(aclmdlRICaptureMode mode, const std::vector<Forbidden>& calls) {
        begin(mode);
        for (const Forbidden& one : calls) {
            SCOPED_TRACE(one.function);
            EXPECT_ACL_OK(one.call());
            EXPECT_EQ(status(stream_), ACL_MODEL_RI_CAPTURE_STATUS_ACTIVE);
        }
        end();
    }
    std::vector<Forbidden> synchronous_copies() {
        void* memory = device_memory(64);
        return {
            {"aclrtMemcpy", ACL_ERROR_RT_CAPTURE_MODE_NOT_SUPPORT,
             [this, memory] { return aclrtMemcpy(memory, 64, host_, 64, ACL_MEMCPY_HOST_TO_DEVICE); }},
            {"aclrtMemset", ACL_ERROR_RT_CAPTURE_MODE_NOT_SUPPORT, [memory] { return aclrtMemset(memory, 64, 0, 64); }},
            {"aclrtMemcpy2d", ACL_ERROR_RT_CAPTURE_MODE_NOT_SUPPORT,
             [this, memory] { return aclrtMemcpy2d(memory, 8, host_, 8, 8, 2, ACL_MEMCPY_HOST_TO_DEVICE); }}};
    }
    Forbidden pageable_copy(aclrtStream stream) {
        void* memory = device_memory(64);
        return {"aclrtMemcpyAsync", ACL_ERROR_RT_CAPTURE_MODE_BLOCK_ASYNC, [this, memory, stream] {
                    return aclrtMemcpyAsync(memory, 64, host_, 64, ACL_MEMCPY_HOST_TO_DEVICE, stream);
                }};
    }
    Forbidden default_stream() {
        return {"aclrtLaunchKernelWithHostArgs", ACL_ERROR_RT_STREAM_CAPTURE_IMPLICIT,
                [this] { return increment(nullptr); }};
    }
    char host_[64] = {};
};

TEST_F(ForbiddenCall, StreamsThatAreCapturedAreNotWaitedForOrAskedOrEnded) {
    auto state = ACL_STREAM_STATUS_RESERVED;
    aclrtStreamAttrValue value = {};
    const std::vector<Forbidden> calls = {
        {"aclrtSynchronizeStream", ACL_ERROR_RT_STREAM_CAPTURED, [&] { return aclrtSynchronizeStream(stream_); }},
        {"aclrtSynchronizeStreamWithTimeout", ACL_ERROR_RT_STREAM_CAPTURED,
         [&] { return aclrtSynchronizeStreamWithTimeout(stream_, 10); }},
        {"aclrtStreamQuery", ACL_ERROR_RT_STREAM_CAPTURED, [&] { return aclrtStreamQuery(stream_, &state); }},
        {"aclrtStreamAbort", ACL_ERROR_RT_STREAM_CAPTURED, [&] { return aclrtStreamAbort(stream_); }},
        {"aclrtStreamStop", ACL_ERROR_RT_STREAM_CAPTURED, [&] { return aclrtStreamStop(stream_); }},
        {"aclrtDestroyStream", ACL_ERROR_RT_STREAM_CAPTURED, [&] { return aclrtDestroyStream(stream_); }},
        {"aclrtDestroyStreamForce", ACL_ERROR_RT_STREAM_CAPTURED, [&] { return aclrtDestroyStreamForce(stream_); }},
        {"aclrtSetStreamOverflowSwitch", ACL_ERROR_RT_STREAM_CAPTURED,
         [&] { return aclrtSetStreamOverflowSwitch(stream_, 0); }},
        {"aclrtSetStreamAttribute", ACL_ERROR_RT_STREAM_CAPTURED,
         [&] { return aclrtSetStreamAttribute(stream_, ACL_STREAM_ATTR_USER_CUSTOM_TAG, &value); }},
        {"aclrtResetOverflowStatus", ACL_ERROR_RT_STREAM_CAPTURED, [&] { return aclrtResetOverflowStatus(stream_); }},
    };
    for (auto mode : {global, thread_local_, relaxed}) expect_each_spoils(mode, calls);
}

TEST_F(ForbiddenCall, DevicesAndContextsAreNotWaitedForByTheThreadThatCaptures) {
    const std::vector<Forbidden> calls = {
        {"aclrtSynchronizeDevice", ACL_ERROR_RT_STREAM_CAPTURED, [] { return aclrtSynchronizeDevice(); }},
        {"aclrtSynchronizeDeviceWithTimeout", ACL_ERROR_RT_STREAM_CAPTURED,
         [] { return aclrtSynchronizeDeviceWithTimeout(10); }},
    };
    for (auto mode : {global, thread_local_, relaxed}) expect_each_spoils(mode, calls);
}

TEST_F(ForbiddenCall, CapturedEventsAreNotWaitedForOrAsked) {
    aclrtEvent recorded = plain_event();
    auto state = ACL_EVENT_RECORDED_STATUS_NOT_READY;
    auto waited = ACL_EVENT_WAIT_STATUS_RESERVED;
    float time = 0;
    uint64_t stamp = 0;
    const auto after_record = [&](std::function<aclError()> call) {
        return [this, recorded, call = std::move(call)] {
            EXPECT_ACL_OK(aclrtRecordEvent(recorded, stream_));
            return call();
        };
    };
    const std::vector<Forbidden> calls = {
        {"aclrtSynchronizeEvent", ACL_ERROR_RT_EVENT_CAPTURED,
         after_record([&] { return aclrtSynchronizeEvent(recorded); })},
        {"aclrtSynchronizeEventWithTimeout", ACL_ERROR_RT_EVENT_CAPTURED,
         after_record([&] { return aclrtSynchronizeEventWithTimeout(recorded, 10); })},
        {"aclrtQueryEventStatus", ACL_ERROR_RT_EVENT_CAPTURED,
         after_record([&] { return aclrtQueryEventStatus(recorded, &state); })},
        {"aclrtQueryEventWaitStatus", ACL_ERROR_RT_EVENT_CAPTURED,
         after_record([&] { return aclrtQueryEventWaitStatus(recorded, &waited); })},
        {"aclrtEventElapsedTime", ACL_ERROR_RT_EVENT_CAPTURED,
         after_record([&] { return aclrtEventElapsedTime(&time, recorded, recorded); })},
        {"aclrtEventGetTimestamp", ACL_ERROR_RT_EVENT_CAPTURED,
         after_record([&] { return aclrtEventGetTimestamp(recorded, &stamp); })},
    };
    for (auto mode : {thread_local_, relaxed}) expect_each_spoils(mode, calls);
    // After the capture the event counts as not recorded.
    EXPECT_ACL_OK(aclrtQueryEventStatus(recorded, &state));
    EXPECT_EQ(state, ACL_EVENT_RECORDED_STATUS_NOT_READY);
}

TEST_F(ForbiddenCall, UnsafeCallsOfTheCapturingThreadSpoilItsCapture) {
    std::vector<Forbidden> calls = synchronous_copies();
    calls.push_back(pageable_copy(stream_));
    calls.push_back(pageable_copy(other_));
    calls.push_back(default_stream());
    for (auto mode : {global, thread_local_}) expect_each_spoils(mode, calls);
}

TEST_F(ForbiddenCall, ARelaxedCaptureForbidsNoUnsafeCall) {
    std::vector<Forbidden> calls = synchronous_copies();
    calls.push_back(pageable_copy(stream_));
    calls.push_back(pageable_copy(other_));
    calls.push_back(default_stream());
    expect_none_spoils(relaxed, calls);
}

TEST_F(ForbiddenCall, SynchronousCopiesUnderRelaxedHappenAtOnce) {
    uint32_t* word = device_array<uint32_t>({1});
    begin(relaxed);
    const uint32_t two = 2;
    ASSERT_ACL_OK(aclrtMemcpy(word, 4, &two, 4, ACL_MEMCPY_HOST_TO_DEVICE));
    EXPECT_EQ(read_back(word, 1)[0], 2u);
    aclmdlRI graph = end();
    const uint32_t three = 3;
    ASSERT_ACL_OK(aclrtMemcpy(word, 4, &three, 4, ACL_MEMCPY_HOST_TO_DEVICE));
    replay(graph, stream_);
    EXPECT_EQ(read_back(word, 1)[0], 3u);
}

TEST_F(ForbiddenCall, AThreadMayRelaxWhatCapturesForbidIt) {
    auto mode = relaxed;
    ASSERT_ACL_OK(aclmdlRICaptureThreadExchangeMode(&mode));
    EXPECT_EQ(mode, global);
    expect_none_spoils(global, synchronous_copies());
    ASSERT_ACL_OK(aclmdlRICaptureThreadExchangeMode(&mode));
    EXPECT_EQ(mode, relaxed);
    expect_each_spoils(global, synchronous_copies());
}

TEST_F(ForbiddenCall, OtherThreadsSpoilAGlobalCaptureOnly) {
    const auto spoilt_by = [&](aclmdlRICaptureMode mode, aclmdlRICaptureMode of_thread, const Forbidden& one) {
        begin(mode);
        const pid_t caller = elsewhere([&] {
            auto own = of_thread;
            EXPECT_ACL_OK(aclmdlRICaptureThreadExchangeMode(&own));
            static_cast<void>(one.call());
            return gettid();
        });
        const bool invalidated = status(stream_) == ACL_MODEL_RI_CAPTURE_STATUS_INVALIDATED;
        if (!invalidated)
            end();
        else
            expect_end_fails(ACL_ERROR_RT_STREAM_CAPTURE_INVALIDATED,
                             std::string(one.function) + ", called by thread " + std::to_string(caller));
        return invalidated;
    };
    std::vector<Forbidden> calls = synchronous_copies();
    calls.push_back(pageable_copy(other_));
    calls.push_back(default_stream());
    calls.push_back({"aclrtSynchronizeDevice", ACL_ERROR_RT_STREAM_CAPTURED, [] { return aclrtSynchronizeDevice(); }});
    for (const Forbidden& one : calls) {
        SCOPED_TRACE(one.function);
        EXPECT_TRUE(spoilt_by(global, global, one));
        EXPECT_FALSE(spoilt_by(global, thread_local_, one));
        EXPECT_FALSE(spoilt_by(global, relaxed, one));
        EXPECT_FALSE(spoilt_by(thread_local_, global, one));
        EXPECT_FALSE(spoilt_by(relaxed, global, one));
    }
}

TEST_F(ForbiddenCall, ThreadsThatWorkOnTheirOwnStreamsDisturbNobody) {
    for (auto mode : {thread_local_, relaxed}) {
        begin(mode);
        std::atomic<bool> stop{false};
        std::thread worker([&] {
            EXPECT_ACL_OK(aclrtSetDevice(0));
            aclrtStream own = nullptr;
            EXPECT_ACL_OK(aclrtCreateStream(&own));
            void* memory = nullptr;
            EXPECT_ACL_OK(aclrtMalloc(&memory, 64, ACL_MEM_MALLOC_HUGE_FIRST));
            char host[64] = {};
            do {
                EXPECT_ACL_OK(aclrtMemcpyAsync(memory, 64, host, 64, ACL_MEMCPY_HOST_TO_DEVICE, own));
                EXPECT_ACL_OK(aclrtMemcpy(host, 64, memory, 64, ACL_MEMCPY_DEVICE_TO_HOST));
                EXPECT_ACL_OK(aclrtSynchronizeStream(own));
                EXPECT_ACL_OK(aclrtSynchronizeDevice());
            } while (!stop.load());
            EXPECT_ACL_OK(aclrtFree(memory));
            EXPECT_ACL_OK(aclrtDestroyStream(own));
            EXPECT_ACL_OK(aclrtResetDevice(0));
        });
        for (int i = 0; i < 200; ++i) ASSERT_ACL_OK(increment(stream_));
        stop = true;
        worker.join();
        aclmdlRI graph = end();
        replay(graph, stream_);
    }
    if (device_computes()) EXPECT_EQ(count(), 400u);
}

TEST_F(ForbiddenCall, GraphsAreNotExecutedOnCapturedStreams) {
    begin();
    aclmdlRI graph = end();
    expect_each_spoils(thread_local_, {{"aclmdlRIExecuteAsync", ACL_ERROR_RT_STREAM_CAPTURED,
                                        [&] { return aclmdlRIExecuteAsync(graph, stream_); }}});
}

// ---- streams and contexts that end meanwhile -----------------------------------------------------------------------

TEST_F(Capture, AResetOfTheDeviceEndsCaptures) {
    aclrtContext context = nullptr;
    ASSERT_ACL_OK(aclrtCreateContext(&context, 0));
    aclrtStream first = nullptr, second = nullptr;
    ASSERT_ACL_OK(aclrtCreateStream(&first));
    ASSERT_ACL_OK(aclrtCreateStream(&second));
    ASSERT_ACL_OK(aclmdlRICaptureBegin(first, global));
    join(first, second);
    ASSERT_ACL_OK(increment(second));
    ASSERT_ACL_OK(aclrtDestroyContext(context));
    ASSERT_ACL_OK(aclrtSetDevice(0));
    // The capture has ended: a synchronous copy is allowed.
    EXPECT_EQ(count(), 0u);
    expect_usable(stream_);
    ASSERT_ACL_OK(aclrtResetDevice(0));
}

TEST_F(Capture, GraphsOfAContextThatEndedCanOnlyBeDestroyed) {
    aclrtContext context = nullptr, before = nullptr;
    ASSERT_ACL_OK(aclrtGetCurrentContext(&before));
    ASSERT_ACL_OK(aclrtCreateContext(&context, 0));
    aclrtStream own = nullptr;
    ASSERT_ACL_OK(aclrtCreateStream(&own));
    ASSERT_ACL_OK(aclmdlRICaptureBegin(own, thread_local_));
    ASSERT_ACL_OK(increment(own));
    aclmdlRI graph = nullptr;
    ASSERT_ACL_OK(aclmdlRICaptureEnd(own, &graph));
    ASSERT_ACL_OK(aclmdlRIExecute(graph, -1));
    ASSERT_ACL_OK(aclrtSetCurrentContext(before));
    EXPECT_ACL_FAILS(ACL_ERROR_RT_MODEL_CONTEXT, "another context", aclmdlRIExecuteAsync(graph, stream_));
    EXPECT_ACL_FAILS(ACL_ERROR_RT_MODEL_CONTEXT, "another context", aclmdlRIDestroy(graph));
    ASSERT_ACL_OK(aclrtDestroyContext(context));
    ASSERT_ACL_OK(aclrtSetCurrentContext(before));
    EXPECT_ACL_FAILS(ACL_ERROR_RT_MODEL_CONTEXT, "another context", aclmdlRIExecuteAsync(graph, stream_));
    EXPECT_ACL_OK(aclmdlRIDestroy(graph));
    if (device_computes()) EXPECT_EQ(count(), 1u);
}

TEST_F(Capture, KernelsOfAnUnloadedBinaryStillReplay) {
    begin();
    ASSERT_ACL_OK(increment(stream_));
    aclmdlRI graph = end();
    ASSERT_ACL_OK(aclrtBinaryUnLoad(binary_));
    binary_ = nullptr;
    replay(graph, stream_);
    if (device_computes()) EXPECT_EQ(count(), 1u);
}

// ---- capturing into a graph that exists ----------------------------------------------------------------------------

TEST_F(Capture, TasksCapturedIntoAGraphRunAfterWhatIsInIt) {
    begin();
    join(stream_, other_);
    ASSERT_ACL_OK(append(stream_, 1));
    ASSERT_ACL_OK(append(other_, 1));
    join(other_, stream_);
    aclmdlRI graph = end();
    ASSERT_ACL_OK(aclmdlRICaptureToModelRIBegin(third_, graph, thread_local_));
    EXPECT_ACL_FAILS(ACL_ERROR_RT_MODEL_CAPTURED, "captured", aclmdlRIExecuteAsync(graph, stream_));
    ASSERT_ACL_OK(append(third_, 2));
    aclmdlRI same = nullptr;
    ASSERT_ACL_OK(aclmdlRICaptureEnd(third_, &same));
    EXPECT_EQ(same, graph);
    replay(graph, stream_);
    if (device_computes()) EXPECT_EQ(take_log(), (std::vector<uint32_t>{1, 1, 2}));
}

TEST_F(Capture, ReplaysUnderWayGoOnWhileMoreIsCapturedIntoTheirGraph) {
    if (!device_computes()) GTEST_SKIP() << "needs a replay that takes its time";
    Gate gate;
    begin();
    gate.hold(stream_);
    ASSERT_ACL_OK(append(stream_, 1));
    aclmdlRI graph = end();
    ASSERT_ACL_OK(aclmdlRIExecuteAsync(graph, other_));
    ASSERT_ACL_OK(aclmdlRICaptureToModelRIBegin(stream_, graph, thread_local_));
    ASSERT_ACL_OK(append(stream_, 2));
    aclmdlRI same = nullptr;
    ASSERT_ACL_OK(aclmdlRICaptureEnd(stream_, &same));
    EXPECT_ACL_FAILS(ACL_ERROR_RT_MODEL_RUNNING, "still running", aclmdlRIDestroy(graph));
    gate.open();
    ASSERT_ACL_OK(aclrtSynchronizeStream(other_));
    EXPECT_EQ(take_log(), std::vector<uint32_t>{1});
    replay(graph, other_);
    EXPECT_EQ(take_log(), (std::vector<uint32_t>{1, 2}));
}

TEST_F(Capture, AFailedCaptureIntoAGraphLeavesItAsItWas) {
    begin();
    ASSERT_ACL_OK(append(stream_, 1));
    aclmdlRI graph = end();
    ASSERT_ACL_OK(aclmdlRICaptureToModelRIBegin(stream_, graph, thread_local_));
    ASSERT_ACL_OK(append(stream_, 2));
    EXPECT_EQ(aclrtSynchronizeStream(stream_), ACL_ERROR_RT_STREAM_CAPTURED);
    expect_end_fails(ACL_ERROR_RT_STREAM_CAPTURE_INVALIDATED, "aclrtSynchronizeStream");
    replay(graph, stream_);
    if (device_computes()) EXPECT_EQ(take_log(), std::vector<uint32_t>{1});
}

TEST_F(Capture, AGraphIsCapturedIntoByOneCaptureAtATime) {
    begin();
    aclmdlRI inside = nullptr;
    ASSERT_ACL_OK(aclmdlRICaptureGetInfo(stream_, nullptr, &inside));
    EXPECT_ACL_FAILS(ACL_ERROR_RT_MODEL_CAPTURED, "already being captured",
                     aclmdlRICaptureToModelRIBegin(other_, inside, thread_local_));
    end();
}

}  // namespace
}  // namespace conformance
