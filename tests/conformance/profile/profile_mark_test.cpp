// SPDX-License-Identifier: Apache-2.0
// Marks, ranges, steps and trace points: what they refuse, with and without a session that collects them.
#include <thread>

#include "profile/profile_fixture.h"

namespace conformance {
namespace {

using ProfileMarkTest = ProfileTest;

int no_stream = 0;  // whose address is no stream

TEST_F(ProfileMarkTest, WithoutASessionThereAreNoStamps) {
    uint32_t range = 0;
    EXPECT_EQ(aclprofCreateStamp(), nullptr);
    start(ACL_PROF_TASK_TIME);
    EXPECT_EQ(aclprofCreateStamp(), nullptr) << "the session does not ask for marks";
    int something = 0;
    EXPECT_ACL_FAILS(ACL_ERROR_PROF_NOT_RUN, "MSPROFTX", aclprofMark(&something));
    EXPECT_ACL_FAILS(ACL_ERROR_PROF_NOT_RUN, "MSPROFTX", aclprofPush(&something));
    EXPECT_ACL_FAILS(ACL_ERROR_PROF_NOT_RUN, "MSPROFTX", aclprofPop());
    EXPECT_ACL_FAILS(ACL_ERROR_PROF_NOT_RUN, "MSPROFTX", aclprofRangeStart(&something, &range));
    EXPECT_ACL_FAILS(ACL_ERROR_PROF_NOT_RUN, "MSPROFTX", aclprofRangeStop(1));
    EXPECT_ACL_FAILS(ACL_ERROR_PROF_NOT_RUN, "MSPROFTX", aclprofSetStampTraceMessage(&something, "text", 4));
    EXPECT_ACL_FAILS(ACL_ERROR_PROF_NOT_RUN, "MSPROFTX", aclprofMarkEx("text", 4, stream_));
}

TEST_F(ProfileMarkTest, StampsAreChecked) {
    start(ACL_PROF_MSPROFTX);
    void* const stamp = aclprofCreateStamp();
    ASSERT_NE(stamp, nullptr);
    int something = 0;
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "stamp", aclprofMark(nullptr));
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "stamp", aclprofMark(&something));
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "stamp", aclprofPush(&something));
    uint32_t range = 0;
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "rangeId", aclprofRangeStart(stamp, nullptr));
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "stamp", aclprofRangeStart(nullptr, &range));
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "rangeId", aclprofRangeStop(12345));
    const std::string text(128, 'x');
    EXPECT_ACL_OK(aclprofSetStampTraceMessage(stamp, text.c_str(), 127));
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "msgLen", aclprofSetStampTraceMessage(stamp, text.c_str(), 128));
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "msg", aclprofSetStampTraceMessage(stamp, nullptr, 4));
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "stamp", aclprofSetStampTraceMessage(nullptr, "text", 4));
    auto* const category = looked_up<int32_t(void*, uint32_t)>("aclprofSetStampCategory");
    auto* const category_name = looked_up<int32_t(uint32_t, const char*)>("aclprofSetCategoryName");
    auto* const payload = looked_up<int32_t(void*, int32_t, void*)>("aclprofSetStampPayload");
    ASSERT_TRUE(category != nullptr && category_name != nullptr && payload != nullptr);
    EXPECT_ACL_OK(category(stamp, 3));
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "category", category(stamp, 256));
    EXPECT_ACL_OK(category_name(3, "three"));
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "categoryName", category_name(3, nullptr));
    EXPECT_ACL_OK(payload(stamp, 0, &something));
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "value", payload(stamp, 0, nullptr));
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "type", payload(stamp, -1, &something));
    aclprofDestroyStamp(stamp);
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "stamp", aclprofMark(stamp));
    aclprofDestroyStamp(stamp);
    aclprofDestroyStamp(nullptr);
}

TEST_F(ProfileMarkTest, PushedRangesBelongToTheirThread) {
    start(ACL_PROF_MSPROFTX);
    void* const stamp = aclprofCreateStamp();
    EXPECT_ACL_FAILS(ACL_ERROR_PROFILING_FAILURE, "aclprofPop", aclprofPop());
    EXPECT_ACL_OK(aclprofPush(stamp));
    EXPECT_ACL_OK(aclprofPush(stamp));
    std::thread([] { EXPECT_ACL_FAILS(ACL_ERROR_PROFILING_FAILURE, "aclprofPop", aclprofPop()); }).join();
    EXPECT_ACL_OK(aclprofPop());
    EXPECT_ACL_OK(aclprofPop());
    EXPECT_ACL_FAILS(ACL_ERROR_PROFILING_FAILURE, "aclprofPop", aclprofPop());
    aclprofDestroyStamp(stamp);
}

TEST_F(ProfileMarkTest, StartedRangesEndOnAnyThread) {
    start(ACL_PROF_MSPROFTX);
    void* const stamp = aclprofCreateStamp();
    uint32_t first = 0, second = 0;
    EXPECT_ACL_OK(aclprofRangeStart(stamp, &first));
    EXPECT_ACL_OK(aclprofRangeStart(stamp, &second));
    EXPECT_NE(first, second);
    std::thread([&] { EXPECT_ACL_OK(aclprofRangeStop(first)); }).join();
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "rangeId", aclprofRangeStop(first));
    EXPECT_ACL_OK(aclprofRangeStop(second));
    aclprofDestroyStamp(stamp);
}

TEST_F(ProfileMarkTest, RangesThatOutliveTheirSession) {
    aclprofConfig* const made = start(ACL_PROF_MSPROFTX);
    void* const stamp = aclprofCreateStamp();
    uint32_t range = 0;
    EXPECT_ACL_OK(aclprofPush(stamp));
    EXPECT_ACL_OK(aclprofRangeStart(stamp, &range));
    EXPECT_ACL_OK(aclprofStop(made));
    EXPECT_ACL_FAILS(ACL_ERROR_PROF_NOT_RUN, "MSPROFTX", aclprofPop());
    EXPECT_ACL_FAILS(ACL_ERROR_PROF_NOT_RUN, "MSPROFTX", aclprofRangeStop(range));
    EXPECT_ACL_OK(aclprofStart(made));
    EXPECT_ACL_FAILS(ACL_ERROR_PROFILING_FAILURE, "aclprofPop", aclprofPop());
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "rangeId", aclprofRangeStop(range));
    aclprofDestroyStamp(stamp);
}

TEST_F(ProfileMarkTest, MarksOnStreams) {
    start(ACL_PROF_MSPROFTX);
    const std::string text(128, 'x');
    EXPECT_ACL_OK(aclprofMarkEx("text", 4, stream_));
    EXPECT_ACL_OK(aclprofMarkEx(text.c_str() + 1, 127, stream_));
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "msgLen", aclprofMarkEx(text.c_str(), 128, stream_));
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "msgLen", aclprofMarkEx("", 0, stream_));
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "length", aclprofMarkEx("text", 3, stream_));
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "length", aclprofMarkEx("text", 5, stream_));
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "msg", aclprofMarkEx(nullptr, 4, stream_));
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "stream", aclprofMarkEx("text", 4, nullptr));
    EXPECT_NE(aclprofMarkEx("text", 4, &no_stream), ACL_SUCCESS);
    EXPECT_ACL_OK(aclrtSynchronizeStream(stream_));
}

TEST_F(ProfileMarkTest, MarksInACapturedStreamAreReplayed) {
    start(ACL_PROF_MSPROFTX);
    aclmdlRI graph = nullptr;
    ASSERT_ACL_OK(aclmdlRICaptureBegin(stream_, ACL_MODEL_RI_CAPTURE_MODE_THREAD_LOCAL));
    EXPECT_ACL_OK(aclprofMarkEx("text", 4, stream_));
    EXPECT_ACL_OK(launch("nothing", 1, stream_));
    ASSERT_ACL_OK(aclmdlRICaptureEnd(stream_, &graph));
    for (int round = 0; round < 3; ++round) EXPECT_ACL_OK(aclmdlRIExecuteAsync(graph, stream_));
    EXPECT_ACL_OK(aclrtSynchronizeStream(stream_));
    EXPECT_ACL_OK(aclmdlRIDestroy(graph));
}

TEST_F(ProfileMarkTest, StepsStartAndEndInTurn) {
    for (const bool collected : {false, true}) {
        if (collected) start(ACL_PROF_TRAINING_TRACE);
        aclprofStepInfo* const step = aclprofCreateStepInfo();
        ASSERT_NE(step, nullptr);
        EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "stepInfo",
                         aclprofGetStepTimestamp(nullptr, ACL_STEP_START, stream_));
        EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "tag",
                         aclprofGetStepTimestamp(step, static_cast<aclprofStepTag>(2), stream_));
        EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "not started", aclprofGetStepTimestamp(step, ACL_STEP_END, stream_));
        for (int round = 0; round < 3; ++round) {
            EXPECT_ACL_OK(aclprofGetStepTimestamp(step, ACL_STEP_START, stream_));
            EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "started",
                             aclprofGetStepTimestamp(step, ACL_STEP_START, stream_));
            EXPECT_ACL_OK(aclprofGetStepTimestamp(step, ACL_STEP_END, nullptr));
            EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "not started",
                             aclprofGetStepTimestamp(step, ACL_STEP_END, stream_));
        }
        EXPECT_NE(aclprofGetStepTimestamp(step, ACL_STEP_START, &no_stream), ACL_SUCCESS);
        // The call before began nothing.
        EXPECT_ACL_OK(aclprofGetStepTimestamp(step, ACL_STEP_START, stream_));
        EXPECT_ACL_OK(aclrtSynchronizeStream(stream_));
        aclprofDestroyStepInfo(step);
        EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "stepInfo", aclprofGetStepTimestamp(step, ACL_STEP_END, stream_));
        aclprofDestroyStepInfo(nullptr);
    }
}

TEST_F(ProfileMarkTest, TracePointsHaveUpTo18Bytes) {
    unsigned char data[18] = {1, 2, 3};
    for (const bool collected : {false, true}) {
        if (collected) start(ACL_PROF_TRAINING_TRACE);
        EXPECT_ACL_OK(aclrtProfTrace(data, 18, stream_));
        EXPECT_ACL_OK(aclrtProfTrace(data, 1, nullptr));
        EXPECT_ACL_FAILS(ACL_ERROR_RT_PARAM_INVALID, "userdata", aclrtProfTrace(nullptr, 18, stream_));
        EXPECT_ACL_FAILS(ACL_ERROR_RT_PARAM_INVALID, "length", aclrtProfTrace(data, 0, stream_));
        EXPECT_ACL_FAILS(ACL_ERROR_RT_PARAM_INVALID, "length", aclrtProfTrace(data, -1, stream_));
        EXPECT_ACL_FAILS(ACL_ERROR_RT_PARAM_INVALID, "length", aclrtProfTrace(data, 19, stream_));
        std::thread([&] { EXPECT_ACL_FAILS(ACL_ERROR_RT_CONTEXT_NULL, "", aclrtProfTrace(data, 18, nullptr)); }).join();
        aclrtContext own = nullptr, other = nullptr;
        EXPECT_ACL_OK(aclrtGetCurrentContext(&own));
        EXPECT_ACL_OK(aclrtCreateContext(&other, 0));
        EXPECT_ACL_FAILS(ACL_ERROR_RT_STREAM_CONTEXT, "", aclrtProfTrace(data, 18, stream_));
        EXPECT_ACL_OK(aclrtDestroyContext(other));
        EXPECT_ACL_OK(aclrtSetCurrentContext(own));
        EXPECT_ACL_OK(aclrtSynchronizeStream(stream_));
    }
}

TEST_F(ProfileMarkTest, OperatorsOfFrameworks) {
    aclprofTensor tensor = {};
    tensor.shapeDim = 2;
    tensor.shape[0] = 4;
    tensor.shape[1] = 2;
    aclprofTensorInfo info = {};
    info.opNameId = aclprofStr2Id("add_1");
    info.opTypeId = aclprofStr2Id("Add");
    info.tensorNum = 1;
    info.tensors = &tensor;
    aclprofEventAttributes attributes = {};
    attributes.version = ACL_PROF_EVENT_ATTR_VERSION;
    attributes.size = sizeof attributes;
    attributes.message.tensorInfo = &info;
    for (const bool collected : {false, true}) {
        if (collected) start(ACL_PROF_MSPROFTX | ACL_PROF_TASK_TIME);
        EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "attr", aclprofRangePushEx(nullptr));
        aclprofEventAttributes wrong = attributes;
        wrong.version = 2;
        EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "version", aclprofRangePushEx(&wrong));
        wrong = attributes;
        wrong.size = 8;
        EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "size", aclprofRangePushEx(&wrong));
        wrong = attributes;
        wrong.messageType = 1;
        EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "messageType", aclprofRangePushEx(&wrong));
        wrong = attributes;
        wrong.message.tensorInfo = nullptr;
        EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "tensorInfo", aclprofRangePushEx(&wrong));
        tensor.shapeDim = 9;
        EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "shapeDim", aclprofRangePushEx(&attributes));
        tensor.shapeDim = 2;
        EXPECT_ACL_FAILS(ACL_ERROR_PROFILING_FAILURE, "aclprofRangePop", aclprofRangePop());
        EXPECT_ACL_OK(aclprofRangePushEx(&attributes));
        EXPECT_ACL_OK(launch("nothing", 1, stream_));
        EXPECT_ACL_OK(aclprofRangePop());
        EXPECT_ACL_FAILS(ACL_ERROR_PROFILING_FAILURE, "aclprofRangePop", aclprofRangePop());
    }
    EXPECT_ACL_OK(aclrtSynchronizeStream(stream_));
}

}  // namespace
}  // namespace conformance
