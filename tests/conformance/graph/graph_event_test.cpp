// SPDX-License-Identifier: Apache-2.0
// Events in captures: they join streams and order tasks, or remain real events at each replay.
#include "fixtures/capture_fixture.h"

namespace conformance {
namespace {

class CapturedEvent : public CaptureTest {};

// ---- joining -------------------------------------------------------------------------------------------------------

TEST_F(CapturedEvent, AWaitBringsAStreamIntoTheCapture) {
    begin();
    ASSERT_ACL_OK(append(stream_, 1));
    join(stream_, other_);
    EXPECT_EQ(status(other_), ACL_MODEL_RI_CAPTURE_STATUS_ACTIVE);
    aclmdlRI first = nullptr, second = nullptr;
    ASSERT_ACL_OK(aclmdlRICaptureGetInfo(stream_, nullptr, &first));
    ASSERT_ACL_OK(aclmdlRICaptureGetInfo(other_, nullptr, &second));
    EXPECT_EQ(first, second);
    ASSERT_ACL_OK(append(other_, 2));
    join(other_, stream_);
    ASSERT_ACL_OK(append(stream_, 3));
    aclmdlRI graph = end();
    EXPECT_EQ(status(other_), ACL_MODEL_RI_CAPTURE_STATUS_NONE);
    EXPECT_TRUE(take_log().empty());
    replay(graph, third_);
    replay(graph, third_);
    if (device_computes()) EXPECT_EQ(take_log(), (std::vector<uint32_t>{1, 2, 3, 1, 2, 3}));
}

TEST_F(CapturedEvent, StreamsJoinThroughOthers) {
    begin();
    ASSERT_ACL_OK(append(stream_, 1));
    join(stream_, other_);
    ASSERT_ACL_OK(append(other_, 2));
    join(other_, third_);
    EXPECT_EQ(status(third_), ACL_MODEL_RI_CAPTURE_STATUS_ACTIVE);
    ASSERT_ACL_OK(append(third_, 3));
    join(third_, other_);  // rejoins through other_
    ASSERT_ACL_OK(append(other_, 4));
    join(other_, stream_);
    ASSERT_ACL_OK(append(stream_, 5));
    aclmdlRI graph = end();
    replay(graph, stream_);
    if (device_computes()) EXPECT_EQ(take_log(), (std::vector<uint32_t>{1, 2, 3, 4, 5}));
}

TEST_F(CapturedEvent, OneEventJoinsManyTimes) {
    aclrtEvent there = plain_event(), back = plain_event();
    begin();
    std::vector<uint32_t> expected;
    for (uint32_t round = 0; round < 20; ++round) {
        ASSERT_ACL_OK(append(stream_, 2 * round));
        ASSERT_ACL_OK(aclrtRecordEvent(there, stream_));
        ASSERT_ACL_OK(aclrtStreamWaitEvent(other_, there));
        ASSERT_ACL_OK(aclrtResetEvent(there, other_));
        ASSERT_ACL_OK(append(other_, 2 * round + 1));
        ASSERT_ACL_OK(aclrtRecordEvent(back, other_));
        ASSERT_ACL_OK(aclrtStreamWaitEvent(stream_, back));
        expected.insert(expected.end(), {2 * round, 2 * round + 1});
    }
    aclmdlRI graph = end();
    replay(graph, stream_);
    if (device_computes()) EXPECT_EQ(take_log(), expected);
}

TEST_F(CapturedEvent, BranchesDoNotWaitForEachOther) {
    if (!device_computes()) GTEST_SKIP() << "needs kernels that run";
    SharedWord word, done;
    begin();
    join(stream_, other_);
    // One branch waits for the other.
    ASSERT_ACL_OK(launch("wait_for_word", 1, other_, word.device(), done.device()));
    ASSERT_ACL_OK(launch("set_word", 1, stream_, word.device()));
    join(other_, stream_);
    aclmdlRI graph = end();
    replay(graph, stream_);
    EXPECT_EQ(done.get(), 1u);
}

TEST_F(CapturedEvent, AStreamThatDidNotComeBackIsNamed) {
    aclrtEvent there = event();
    begin();
    ASSERT_ACL_OK(aclrtRecordEvent(there, stream_));
    ASSERT_ACL_OK(aclrtStreamWaitEvent(other_, there));
    ASSERT_ACL_OK(increment(other_));
    ASSERT_ACL_OK(increment(other_));
    aclmdlRI graph = &graph;
    recent_error();
    EXPECT_EQ(aclmdlRICaptureEnd(stream_, &graph), ACL_ERROR_RT_STREAM_UNJOINED);
    EXPECT_EQ(graph, nullptr);
    const std::string text = recent_error();
    EXPECT_NE(text.find("stream " + std::to_string(id(other_)) + " was not joined"), std::string::npos) << text;
    EXPECT_NE(text.find("event " + std::to_string(id_of_event(there))), std::string::npos) << text;
    EXPECT_NE(text.find("recorded on stream " + std::to_string(id(stream_))), std::string::npos) << text;
    EXPECT_NE(text.find("2 of its tasks"), std::string::npos) << text;
    expect_usable(stream_);
    expect_usable(other_);
}

TEST_F(CapturedEvent, WorkAfterTheWayBackIsNotJoined) {
    begin();
    join(stream_, other_);
    ASSERT_ACL_OK(increment(other_));
    join(other_, stream_);
    ASSERT_ACL_OK(increment(other_));
    expect_end_fails(ACL_ERROR_RT_STREAM_UNJOINED, "1 of its tasks after that is not waited for");
    expect_usable(other_);
}

TEST_F(CapturedEvent, AStreamThatOnlyWaitedIsNotJoined) {
    begin();
    join(stream_, other_);
    expect_end_fails(ACL_ERROR_RT_STREAM_UNJOINED, "stream " + std::to_string(id(other_)) + " was not joined");
}

TEST_F(CapturedEvent, AStreamThatCameBackToAnUnjoinedOneIsNotJoined) {
    begin();
    join(stream_, other_);
    join(other_, third_);
    ASSERT_ACL_OK(increment(third_));
    join(third_, other_);  // other_ never rejoins stream_
    expect_end_fails(ACL_ERROR_RT_STREAM_UNJOINED, "stream " + std::to_string(id(third_)) + " was not joined");
    expect_usable(other_);
    expect_usable(third_);
}

// ---- waits without a record ----------------------------------------------------------------------------------------

TEST_F(CapturedEvent, AWaitNeedsARecordInTheCapture) {
    aclrtEvent outside = event(), never = event();
    ASSERT_ACL_OK(aclrtRecordEvent(outside, other_));
    for (aclrtEvent one : {outside, never}) {
        begin();
        EXPECT_ACL_FAILS(ACL_ERROR_RT_CAPTURE_DEPENDENCY, "event " + std::to_string(id_of_event(one)),
                         aclrtStreamWaitEvent(stream_, one));
        expect_end_fails(ACL_ERROR_RT_STREAM_CAPTURE_INVALIDATED, "aclrtStreamWaitEvent");
    }
}

TEST_F(CapturedEvent, AResetEventHasNoRecord) {
    aclrtEvent one = plain_event();
    begin();
    ASSERT_ACL_OK(aclrtRecordEvent(one, stream_));
    ASSERT_ACL_OK(aclrtResetEvent(one, stream_));
    EXPECT_ACL_FAILS(ACL_ERROR_RT_CAPTURE_DEPENDENCY, "not recorded", aclrtStreamWaitEvent(stream_, one));
    expect_end_fails(ACL_ERROR_RT_STREAM_CAPTURE_INVALIDATED, "aclrtStreamWaitEvent");
}

TEST_F(CapturedEvent, AnEventOfAnEndedCaptureCountsAsNotRecorded) {
    aclrtEvent one = event();
    begin();
    ASSERT_ACL_OK(aclrtRecordEvent(one, stream_));
    end();
    ASSERT_ACL_OK(aclrtStreamWaitEvent(other_, one));
    EXPECT_EQ(status(other_), ACL_MODEL_RI_CAPTURE_STATUS_NONE);
    ASSERT_ACL_OK(aclrtSynchronizeStream(other_));
    begin();
    EXPECT_ACL_FAILS(ACL_ERROR_RT_CAPTURE_DEPENDENCY, "not recorded", aclrtStreamWaitEvent(stream_, one));
    expect_end_fails(ACL_ERROR_RT_STREAM_CAPTURE_INVALIDATED, "aclrtStreamWaitEvent");
}

TEST_F(CapturedEvent, ARecordInACaptureReplacesTheOneBefore) {
    aclrtEvent one = plain_event();
    ASSERT_ACL_OK(aclrtRecordEvent(one, other_));
    ASSERT_ACL_OK(aclrtSynchronizeStream(other_));
    begin();
    ASSERT_ACL_OK(aclrtRecordEvent(one, stream_));
    end();
    auto state = ACL_EVENT_RECORDED_STATUS_COMPLETE;
    EXPECT_ACL_OK(aclrtQueryEventStatus(one, &state));
    EXPECT_EQ(state, ACL_EVENT_RECORDED_STATUS_NOT_READY);
    ASSERT_ACL_OK(aclrtRecordEvent(one, other_));
    EXPECT_ACL_OK(aclrtSynchronizeEvent(one));
    EXPECT_ACL_OK(aclrtQueryEventStatus(one, &state));
    EXPECT_EQ(state, ACL_EVENT_RECORDED_STATUS_COMPLETE);
}

TEST_F(CapturedEvent, TwoCapturesAreNotLinked) {
    aclrtEvent one = event();
    const auto link = [&](auto&& call) {
        begin(relaxed);
        ASSERT_ACL_OK(aclmdlRICaptureBegin(other_, relaxed));
        ASSERT_ACL_OK(aclrtRecordEvent(one, stream_));
        EXPECT_ACL_FAILS(ACL_ERROR_STREAM_CAPTURE_CONFLICT, "another capture", call());
        EXPECT_EQ(status(stream_), ACL_MODEL_RI_CAPTURE_STATUS_INVALIDATED);
        EXPECT_EQ(status(other_), ACL_MODEL_RI_CAPTURE_STATUS_INVALIDATED);
        aclmdlRI graph = nullptr;
        EXPECT_ACL_FAILS(ACL_ERROR_RT_STREAM_CAPTURE_INVALIDATED, "event " + std::to_string(id_of_event(one)),
                         aclmdlRICaptureEnd(other_, &graph));
        expect_end_fails(ACL_ERROR_RT_STREAM_CAPTURE_INVALIDATED, "event " + std::to_string(id_of_event(one)));
        expect_usable(other_);
    };
    link([&] { return aclrtStreamWaitEvent(other_, one); });
    link([&] { return aclrtRecordEvent(one, other_); });
}

TEST_F(CapturedEvent, TheDefaultStreamDoesNotJoin) {
    aclrtEvent one = event();
    begin();
    ASSERT_ACL_OK(aclrtRecordEvent(one, stream_));
    EXPECT_ACL_FAILS(ACL_ERROR_RT_STREAM_CAPTURE_IMPLICIT, "default stream", aclrtStreamWaitEvent(nullptr, one));
    expect_end_fails(ACL_ERROR_RT_STREAM_CAPTURE_INVALIDATED, "aclrtStreamWaitEvent");
}

TEST_F(CapturedEvent, ARecordOutsideTakesTheEventOutOfTheCapture) {
    aclrtEvent one = event();
    begin();
    ASSERT_ACL_OK(aclrtRecordEvent(one, stream_));
    ASSERT_ACL_OK(aclrtRecordEvent(one, other_));
    EXPECT_ACL_OK(aclrtSynchronizeEvent(one));
    EXPECT_EQ(status(stream_), ACL_MODEL_RI_CAPTURE_STATUS_ACTIVE);
    end();
}

// ---- external events -----------------------------------------------------------------------------------------------

TEST_F(CapturedEvent, ExternalEventsHoldEachReplayUntilTheyAreRecorded) {
    aclrtEvent outside = event(ACL_EVENT_EXTERNAL);
    begin();
    ASSERT_ACL_OK(append(stream_, 1));
    ASSERT_ACL_OK(aclrtStreamWaitEvent(stream_, outside));
    ASSERT_ACL_OK(aclrtResetEvent(outside, stream_));
    ASSERT_ACL_OK(append(stream_, 2));
    aclmdlRI graph = end();
    for (int round = 0; round < 3; ++round) {
        ASSERT_ACL_OK(aclmdlRIExecuteAsync(graph, other_));
        ASSERT_ACL_OK(append(third_, 9));
        ASSERT_ACL_OK(aclrtSynchronizeStream(third_));
        EXPECT_TRUE(stands_still(other_));
        ASSERT_ACL_OK(aclrtRecordEvent(outside, third_));
        ASSERT_ACL_OK(aclrtSynchronizeStream(other_));
        if (!device_computes()) continue;
        const std::vector<uint32_t> log = take_log();
        ASSERT_EQ(log.size(), 3u);
        EXPECT_EQ(log.back(), 2u);
    }
}

TEST_F(CapturedEvent, ExternalEventsDoNotSpreadACapture) {
    aclrtEvent outside = event(ACL_EVENT_EXTERNAL);
    begin();
    ASSERT_ACL_OK(aclrtRecordEvent(outside, stream_));
    aclmdlRI graph = end();
    begin();
    ASSERT_ACL_OK(aclrtRecordEvent(outside, stream_));
    ASSERT_ACL_OK(aclrtStreamWaitEvent(other_, outside));
    EXPECT_EQ(status(other_), ACL_MODEL_RI_CAPTURE_STATUS_NONE);
    end();
    EXPECT_TRUE(stands_still(other_));
    replay(graph, stream_);  // records now
    EXPECT_ACL_OK(aclrtSynchronizeStream(other_));
}

TEST_F(CapturedEvent, ExternalEventsOutsideOfGraphsAreSetAndReset) {
    aclrtEvent outside = event(ACL_EVENT_EXTERNAL);
    ASSERT_ACL_OK(aclrtRecordEvent(outside, stream_));
    ASSERT_ACL_OK(aclrtSynchronizeStream(stream_));
    auto state = ACL_EVENT_RECORDED_STATUS_NOT_READY;
    EXPECT_ACL_OK(aclrtQueryEventStatus(outside, &state));
    EXPECT_EQ(state, ACL_EVENT_RECORDED_STATUS_COMPLETE);
    ASSERT_ACL_OK(aclrtStreamWaitEvent(other_, outside));
    ASSERT_ACL_OK(aclrtSynchronizeStream(other_));
    ASSERT_ACL_OK(aclrtResetEvent(outside, stream_));
    ASSERT_ACL_OK(aclrtSynchronizeStream(stream_));
    EXPECT_ACL_OK(aclrtQueryEventStatus(outside, &state));
    EXPECT_EQ(state, ACL_EVENT_RECORDED_STATUS_NOT_READY);
}

TEST_F(CapturedEvent, TheExternalFlagIsForCapturedStreams) {
    aclrtEvent one = event();
    EXPECT_ACL_FAILS(ACL_ERROR_RT_PARAM_INVALID, "captured", aclrtRecordEventWithFlag(one, stream_, 1));
    EXPECT_ACL_FAILS(ACL_ERROR_RT_PARAM_INVALID, "captured", aclrtStreamWaitEventWithFlag(stream_, one, 0, 1));
}

TEST_F(CapturedEvent, ARecordWithTheExternalFlagHappensAtEachReplay) {
    aclrtEvent one = event();
    Gate gate;
    begin();
    gate.hold(stream_);
    ASSERT_ACL_OK(append(stream_, 1));
    ASSERT_ACL_OK(aclrtRecordEventWithFlag(one, stream_, 1));
    aclmdlRI graph = end();
    for (int round = 0; round < 3; ++round) {
        gate.close();
        ASSERT_ACL_OK(aclmdlRIExecuteAsync(graph, stream_));
        ASSERT_ACL_OK(aclrtStreamWaitEvent(other_, one));
        ASSERT_ACL_OK(append(other_, 2));
        if (device_computes()) EXPECT_TRUE(stands_still(other_));
        gate.open();
        ASSERT_ACL_OK(aclrtSynchronizeEvent(one));
        ASSERT_ACL_OK(aclrtSynchronizeStream(other_));
        if (device_computes()) EXPECT_EQ(take_log(), (std::vector<uint32_t>{1, 2}));
    }
    ASSERT_ACL_OK(aclrtSynchronizeStream(stream_));
}

TEST_F(CapturedEvent, AWaitWithTheExternalFlagBindsToTheLastRecordAtEachReplay) {
    aclrtEvent one = event();
    Gate gate;
    begin();
    ASSERT_ACL_OK(aclrtStreamWaitEventWithFlag(stream_, one, 0, 1));
    ASSERT_ACL_OK(append(stream_, 2));
    aclmdlRI graph = end();
    replay(graph, stream_);  // not recorded yet, so nothing to wait for
    if (device_computes()) EXPECT_EQ(take_log(), std::vector<uint32_t>{2});
    for (int round = 0; round < 3; ++round) {
        gate.close();
        gate.hold(other_);
        ASSERT_ACL_OK(append(other_, 1));
        ASSERT_ACL_OK(aclrtRecordEvent(one, other_));
        ASSERT_ACL_OK(aclmdlRIExecuteAsync(graph, stream_));
        if (device_computes()) EXPECT_TRUE(stands_still(stream_));
        gate.open();
        ASSERT_ACL_OK(aclrtSynchronizeStream(stream_));
        if (device_computes()) EXPECT_EQ(take_log(), (std::vector<uint32_t>{1, 2}));
        ASSERT_ACL_OK(aclrtSynchronizeStream(other_));
    }
}

TEST_F(CapturedEvent, AReplayWhoseEventIsGoneIsRefused) {
    aclrtEvent gone = nullptr;
    ASSERT_ACL_OK(aclrtCreateEventExWithFlag(&gone, ACL_EVENT_SYNC));
    begin();
    ASSERT_ACL_OK(aclrtStreamWaitEventWithFlag(stream_, gone, 0, 1));
    aclmdlRI graph = end();
    ASSERT_ACL_OK(aclrtDestroyEvent(gone));
    EXPECT_ACL_FAILS(ACL_ERROR_RT_INVALID_HANDLE, "event", aclmdlRIExecuteAsync(graph, stream_));
}

}  // namespace
}  // namespace conformance
