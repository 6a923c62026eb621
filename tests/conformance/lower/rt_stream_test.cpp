// SPDX-License-Identifier: Apache-2.0
// The lower interface: streams, adding streams to captures, host functions, overflow status.
#include <pthread.h>

#include <atomic>

#include "fixtures/fixture.h"
#include "fixtures/holding.h"
#include "runtime/rt.h"
#include "runtime/runtime/rts/rts_kernel.h"

namespace conformance {
namespace {

class LowerStream : public KernelTest {};

TEST_F(LowerStream, LivesUntilItIsDestroyed) {
    rtStream_t stream = nullptr;
    ASSERT_ACL_OK(rtStreamCreate(&stream, 2));
    uint32_t priority = 0;
    EXPECT_ACL_OK(aclrtStreamGetPriority(stream, &priority));
    EXPECT_EQ(priority, 2u);
    EXPECT_ACL_OK(rtStreamQuery(stream));
    EXPECT_ACL_OK(rtStreamSynchronize(stream));
    EXPECT_ACL_OK(rtStreamDestroy(stream));
    expect_all_refuse({{"rtStreamDestroy", [](void* s) { return rtStreamDestroy(s); }},
                       {"rtStreamSynchronize", [](void* s) { return rtStreamSynchronize(s); }},
                       {"rtStreamQuery", [](void* s) { return rtStreamQuery(s); }}},
                      handles_that_are_none(stream, binary_), ACL_ERROR_RT_INVALID_HANDLE);
}

TEST_F(LowerStream, WrongArgumentsAreRefused) {
    rtStream_t stream = nullptr;
    EXPECT_ACL_FAILS(ACL_ERROR_RT_PARAM_INVALID, "stm", rtStreamCreate(nullptr, 0));
    EXPECT_ACL_FAILS(ACL_ERROR_RT_PARAM_INVALID, "priority", rtStreamCreate(&stream, -1));
    EXPECT_ACL_FAILS(ACL_ERROR_RT_PARAM_INVALID, "stm", rtStreamDestroy(nullptr));
}

TEST_F(LowerStream, NullIsTheDefaultStream) {
    EXPECT_ACL_OK(rtStreamSynchronize(nullptr));
    EXPECT_ACL_OK(rtStreamQuery(nullptr));
}

TEST_F(LowerStream, WorkingIsACodeButNotAnError) {
    if (!device_computes()) GTEST_SKIP();
    aclrtGetLastError(ACL_RT_THREAD_LEVEL);
    recent_error();
    Gate gate;
    gate.hold(stream_);
    EXPECT_EQ(rtStreamQuery(stream_), ACL_ERROR_RT_STREAM_NOT_COMPLETE);
    EXPECT_EQ(aclrtPeekAtLastError(ACL_RT_THREAD_LEVEL), ACL_SUCCESS);
    EXPECT_EQ(recent_error(), "");
    gate.open();
    EXPECT_ACL_OK(rtStreamSynchronize(stream_));
    EXPECT_ACL_OK(rtStreamQuery(stream_));
}

TEST_F(LowerStream, SynchronisingTellsTheFailure) {
    if (!device_computes()) GTEST_SKIP();
    ASSERT_ACL_OK(launch("trap_always", 1, stream_));
    EXPECT_EQ(rtStreamSynchronize(stream_), ACL_ERROR_RT_VECTOR_CORE_EXCEPTION);
}

TEST_F(LowerStream, AddedToACaptureBecomesPartOfItsGraph) {
    rtStream_t helper = nullptr;
    ASSERT_ACL_OK(rtStreamCreate(&helper, 0));
    uint32_t* counter = device_array(std::vector<uint32_t>{0});
    EXPECT_ACL_FAILS(ACL_ERROR_RT_PARAM_INVALID, "stm", rtStreamAddToModel(nullptr, binary_));
    EXPECT_ACL_FAILS(ACL_ERROR_RT_PARAM_INVALID, "captureMdl", rtStreamAddToModel(helper, nullptr));
    EXPECT_EQ(rtStreamAddToModel(helper, binary_), ACL_ERROR_RT_INVALID_HANDLE);

    ASSERT_ACL_OK(aclmdlRICaptureBegin(stream_, ACL_MODEL_RI_CAPTURE_MODE_RELAXED));
    aclmdlRICaptureStatus status = ACL_MODEL_RI_CAPTURE_STATUS_NONE;
    aclmdlRI model = nullptr;
    ASSERT_ACL_OK(aclmdlRICaptureGetInfo(stream_, &status, &model));
    ASSERT_ACL_OK(launch("increment", 1, stream_, counter));
    ASSERT_ACL_OK(rtStreamAddToModel(helper, model));
    ASSERT_ACL_OK(rtStreamAddToModel(helper, model));  // already part of it
    aclmdlRI of_helper = nullptr;
    ASSERT_ACL_OK(aclmdlRICaptureGetInfo(helper, &status, &of_helper));
    EXPECT_EQ(status, ACL_MODEL_RI_CAPTURE_STATUS_ACTIVE);
    EXPECT_EQ(of_helper, model);
    ASSERT_ACL_OK(launch("increment", 1, helper, counter));
    aclrtEvent joined = nullptr;
    ASSERT_ACL_OK(aclrtCreateEventExWithFlag(&joined, ACL_EVENT_SYNC));
    ASSERT_ACL_OK(aclrtRecordEvent(joined, helper));
    ASSERT_ACL_OK(aclrtStreamWaitEvent(stream_, joined));
    ASSERT_ACL_OK(aclmdlRICaptureEnd(stream_, &model));
    EXPECT_EQ(rtStreamAddToModel(helper, model), ACL_ERROR_RT_STREAM_NOT_CAPTURED);
    for (int i = 0; i < 3; ++i) ASSERT_ACL_OK(aclmdlRIExecuteAsync(model, stream_));
    ASSERT_ACL_OK(rtStreamSynchronize(stream_));
    if (device_computes()) EXPECT_EQ(read_back(counter, 1)[0], 6u);
    EXPECT_ACL_OK(aclmdlRIDestroy(model));
    EXPECT_ACL_OK(aclrtDestroyEvent(joined));
    EXPECT_ACL_OK(rtStreamDestroy(helper));
}

void count_call(void* count) { static_cast<std::atomic<int>*>(count)->fetch_add(1); }

TEST_F(LowerStream, RunsHostCodeOnAThreadOfTheRuntime) {
    std::atomic<int> count{0};
    EXPECT_ACL_OK(rtsLaunchHostFunc(stream_, &count_call, &count));
    EXPECT_ACL_OK(rtStreamSynchronize(stream_));
    EXPECT_EQ(count.load(), 1);
    EXPECT_ACL_FAILS(ACL_ERROR_RT_PARAM_INVALID, "callBackFunc", rtsLaunchHostFunc(stream_, nullptr, &count));
    EXPECT_EQ(rtsLaunchHostFunc(&count, &count_call, &count), ACL_ERROR_RT_INVALID_HANDLE);
}

TEST_F(LowerStream, RunsCallbacksOnTheThreadThatSubscribed) {
    std::atomic<int> count{0};
    const auto thread = static_cast<uint64_t>(pthread_self());
    EXPECT_EQ(rtsProcessReport(1), ACL_ERROR_RT_THREAD_SUBSCRIBE);
    EXPECT_EQ(rtsCallbackLaunch(&count_call, &count, stream_, false), ACL_ERROR_RT_STREAM_NO_CB_REG);
    ASSERT_ACL_OK(rtsSubscribeReport(thread, stream_));
    EXPECT_ACL_FAILS(ACL_ERROR_RT_PARAM_INVALID, "callBackFunc", rtsCallbackLaunch(nullptr, &count, stream_, true));
    ASSERT_ACL_OK(rtsCallbackLaunch(&count_call, &count, stream_, true));
    ASSERT_ACL_OK(rtsCallbackLaunch(&count_call, &count, stream_, false));
    ASSERT_TRUE(eventually([&] {
        const rtError_t result = rtsProcessReport(100);
        EXPECT_TRUE(result == 0 || result == ACL_ERROR_RT_REPORT_TIMEOUT) << result;
        return count.load() == 2;
    }));
    EXPECT_ACL_OK(rtStreamSynchronize(stream_));
    EXPECT_EQ(rtsProcessReport(1), ACL_ERROR_RT_REPORT_TIMEOUT);
    EXPECT_ACL_OK(rtsUnSubscribeReport(thread, stream_));
    EXPECT_NE(rtsUnSubscribeReport(thread, stream_), 0);
}

TEST_F(LowerStream, TellsAndResetsTheStateOfOverflow) {
    uint8_t* state = device_array(std::vector<uint8_t>(64, 1));
    const std::vector<uint8_t> none(64, 0);
    const auto expect_none = [&] {
        EXPECT_ACL_OK(rtStreamSynchronize(stream_));
        if (device_computes()) EXPECT_EQ(read_back(state, 64), none);
        EXPECT_ACL_OK(rtMemset(state, 64, 1, 64));
    };
    EXPECT_ACL_OK(rtsResetFloatOverflowStatus(stream_));
    EXPECT_ACL_OK(rtsGetFloatOverflowStatus(state, 64, stream_));
    expect_none();
    EXPECT_ACL_OK(rtsNpuClearFloatOverFlowStatus(0, stream_));
    EXPECT_ACL_OK(rtsNpuGetFloatOverFlowStatus(state, 64, 0, stream_));
    expect_none();
    EXPECT_ACL_OK(rtsNpuClearFloatOverFlowDebugStatus(0, stream_));
    EXPECT_ACL_OK(rtsNpuGetFloatOverFlowDebugStatus(state, 64, 0, stream_));
    expect_none();
    EXPECT_ACL_FAILS(ACL_ERROR_RT_PARAM_INVALID, "outputAddrPtr", rtsGetFloatOverflowStatus(nullptr, 64, stream_));
    EXPECT_ACL_FAILS(ACL_ERROR_RT_PARAM_INVALID, "outputAddrPtr",
                     rtsNpuGetFloatOverFlowStatus(nullptr, 64, 0, stream_));
    EXPECT_ACL_FAILS(ACL_ERROR_RT_PARAM_INVALID, "outputAddrPtr",
                     rtsNpuGetFloatOverFlowDebugStatus(nullptr, 64, 0, stream_));
    EXPECT_EQ(rtsGetFloatOverflowStatus(state, 63, stream_), ACL_ERROR_RT_PARAM_INVALID);
}

}  // namespace
}  // namespace conformance
