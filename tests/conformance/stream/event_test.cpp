// SPDX-License-Identifier: Apache-2.0
// Events: recording, waiting, querying, timing.
#include <thread>

#include "fixtures/fixture.h"
#include "fixtures/holding.h"

// The old query is deprecated but still tested.
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"

namespace conformance {
namespace {

class Event : public KernelTest {
protected:
    void SetUp() override {
        KernelTest::SetUp();
        ASSERT_ACL_OK(aclrtCreateStream(&other_));
        counter_ = device_array<uint32_t>({0});
    }
    void TearDown() override {
        for (aclrtEvent event : events_) EXPECT_ACL_OK(aclrtDestroyEvent(event));
        EXPECT_ACL_OK(aclrtDestroyStream(other_));
        KernelTest::TearDown();
    }
    aclrtEvent plain(uint32_t flag = 0) {
        aclrtEvent event = nullptr;
        EXPECT_ACL_OK(flag ? aclrtCreateEventWithFlag(&event, flag) : aclrtCreateEvent(&event));
        events_.push_back(event);
        return event;
    }
    aclrtEvent extended(uint32_t flag = ACL_EVENT_SYNC) {
        aclrtEvent event = nullptr;
        EXPECT_ACL_OK(aclrtCreateEventExWithFlag(&event, flag));
        events_.push_back(event);
        return event;
    }
    static bool complete(aclrtEvent event) {
        auto status = ACL_EVENT_RECORDED_STATUS_NOT_READY;
        EXPECT_ACL_OK(aclrtQueryEventStatus(event, &status));
        return status == ACL_EVENT_RECORDED_STATUS_COMPLETE;
    }
    uint32_t count() { return read_back(counter_, 1)[0]; }
    aclError increment(aclrtStream stream) { return launch("increment", 1, stream, counter_); }

    aclrtStream other_ = nullptr;
    uint32_t* counter_ = nullptr;

private:
    std::vector<aclrtEvent> events_;
};

// ---- arguments -----------------------------------------------------------------------------------------------------

TEST_F(Event, NullArgumentsAreRefused) {
    aclrtEvent event = plain();
    auto recorded = ACL_EVENT_RECORDED_STATUS_NOT_READY;
    auto status = ACL_EVENT_STATUS_RESERVED;
    auto waited = ACL_EVENT_WAIT_STATUS_RESERVED;
    float time = 0;
    uint64_t stamp = 0;
    uint32_t id = 0;
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "event", aclrtCreateEvent(nullptr));
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "event", aclrtCreateEventWithFlag(nullptr, ACL_EVENT_SYNC));
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "event", aclrtCreateEventExWithFlag(nullptr, ACL_EVENT_SYNC));
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "event", aclrtDestroyEvent(nullptr));
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "event", aclrtRecordEvent(nullptr, stream_));
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "event", aclrtRecordEventWithFlag(nullptr, stream_, 0));
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "event", aclrtStreamWaitEvent(stream_, nullptr));
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "event", aclrtStreamWaitEventWithTimeout(stream_, nullptr, 1));
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "event", aclrtStreamWaitEventWithFlag(stream_, nullptr, 0, 0));
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "event", aclrtResetEvent(nullptr, stream_));
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "event", aclrtSynchronizeEvent(nullptr));
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "event", aclrtSynchronizeEventWithTimeout(nullptr, 1));
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "event", aclrtQueryEventStatus(nullptr, &recorded));
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "status", aclrtQueryEventStatus(event, nullptr));
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "event", aclrtQueryEvent(nullptr, &status));
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "status", aclrtQueryEvent(event, nullptr));
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "event", aclrtQueryEventWaitStatus(nullptr, &waited));
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "status", aclrtQueryEventWaitStatus(event, nullptr));
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "ms", aclrtEventElapsedTime(nullptr, event, event));
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "startEvent", aclrtEventElapsedTime(&time, nullptr, event));
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "endEvent", aclrtEventElapsedTime(&time, event, nullptr));
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "event", aclrtEventGetTimestamp(nullptr, &stamp));
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "timestamp", aclrtEventGetTimestamp(event, nullptr));
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "event", aclrtGetEventId(nullptr, &id));
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "eventId", aclrtGetEventId(event, nullptr));
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "eventCount", aclrtGetEventAvailNum(nullptr));
}

TEST_F(Event, HandlesThatAreNoneAreRefused) {
    aclrtEvent good = plain();
    aclrtEvent stale = nullptr;
    ASSERT_ACL_OK(aclrtCreateEvent(&stale));
    ASSERT_ACL_OK(aclrtDestroyEvent(stale));
    auto recorded = ACL_EVENT_RECORDED_STATUS_NOT_READY;
    auto status = ACL_EVENT_STATUS_RESERVED;
    auto waited = ACL_EVENT_WAIT_STATUS_RESERVED;
    float time = 0;
    uint64_t stamp = 0;
    uint32_t id = 0;
    const std::vector<HandleCall> calls = {
        {"aclrtDestroyEvent", aclrtDestroyEvent},
        {"aclrtRecordEvent", [&](void* e) { return aclrtRecordEvent(e, stream_); }},
        {"aclrtRecordEventWithFlag", [&](void* e) { return aclrtRecordEventWithFlag(e, stream_, 0); }},
        {"aclrtStreamWaitEvent", [&](void* e) { return aclrtStreamWaitEvent(stream_, e); }},
        {"aclrtStreamWaitEventWithTimeout", [&](void* e) { return aclrtStreamWaitEventWithTimeout(stream_, e, 1); }},
        {"aclrtStreamWaitEventWithFlag", [&](void* e) { return aclrtStreamWaitEventWithFlag(stream_, e, 0, 0); }},
        {"aclrtResetEvent", [&](void* e) { return aclrtResetEvent(e, stream_); }},
        {"aclrtSynchronizeEvent", aclrtSynchronizeEvent},
        {"aclrtSynchronizeEventWithTimeout", [](void* e) { return aclrtSynchronizeEventWithTimeout(e, 1); }},
        {"aclrtQueryEventStatus", [&](void* e) { return aclrtQueryEventStatus(e, &recorded); }},
        {"aclrtQueryEvent", [&](void* e) { return aclrtQueryEvent(e, &status); }},
        {"aclrtQueryEventWaitStatus", [&](void* e) { return aclrtQueryEventWaitStatus(e, &waited); }},
        {"aclrtEventElapsedTime start", [&](void* e) { return aclrtEventElapsedTime(&time, e, good); }},
        {"aclrtEventElapsedTime end", [&](void* e) { return aclrtEventElapsedTime(&time, good, e); }},
        {"aclrtEventGetTimestamp", [&](void* e) { return aclrtEventGetTimestamp(e, &stamp); }},
        {"aclrtGetEventId", [&](void* e) { return aclrtGetEventId(e, &id); }},
    };
    expect_all_refuse(calls, handles_that_are_none(stale, stream_), ACL_ERROR_RT_INVALID_HANDLE);
}

TEST_F(Event, FlagsThatMeanNothingAreRefused) {
    aclrtEvent event = nullptr;
    for (const uint32_t flag : {0u, 0x4u, 0x80u, ACL_EVENT_IPC, ACL_EVENT_DEVICE_USE_ONLY | ACL_EVENT_SYNC,
                                ACL_EVENT_EXTERNAL | ACL_EVENT_TIME_LINE, UINT32_MAX})
        EXPECT_ACL_FAILS(ACL_ERROR_RT_PARAM_INVALID, "flag", aclrtCreateEventWithFlag(&event, flag));
    for (const uint32_t flag : {0u, ACL_EVENT_DEVICE_USE_ONLY, ACL_EVENT_EXTERNAL, ACL_EVENT_IPC | ACL_EVENT_SYNC})
        EXPECT_ACL_FAILS(ACL_ERROR_RT_PARAM_INVALID, "flag", aclrtCreateEventExWithFlag(&event, flag));
    EXPECT_EQ(event, nullptr);
    for (const uint32_t flag : {ACL_EVENT_SYNC, ACL_EVENT_TIME_LINE, ACL_EVENT_CAPTURE_STREAM_PROGRESS,
                                ACL_EVENT_SYNC | ACL_EVENT_TIME_LINE | ACL_EVENT_CAPTURE_STREAM_PROGRESS,
                                ACL_EVENT_DEVICE_USE_ONLY, ACL_EVENT_EXTERNAL})
        EXPECT_NE(plain(flag), nullptr);
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "flag", aclrtRecordEventWithFlag(plain(), stream_, 2));
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "flag", aclrtStreamWaitEventWithFlag(stream_, plain(), 0, 2));
    EXPECT_ACL_FAILS(ACL_ERROR_RT_PARAM_INVALID, "external", aclrtRecordEventWithFlag(extended(), stream_, 1));
    EXPECT_ACL_FAILS(ACL_ERROR_RT_PARAM_INVALID, "external", aclrtStreamWaitEventWithFlag(stream_, extended(), 0, 1));
}

TEST_F(Event, TimeoutsOutOfRangeAreRefused) {
    aclrtEvent event = plain();
    EXPECT_ACL_FAILS(ACL_ERROR_RT_PARAM_INVALID, "timeout", aclrtSynchronizeEventWithTimeout(event, 0));
    EXPECT_ACL_FAILS(ACL_ERROR_RT_PARAM_INVALID, "timeout", aclrtSynchronizeEventWithTimeout(event, -2));
    EXPECT_ACL_FAILS(ACL_ERROR_RT_PARAM_INVALID, "timeout", aclrtStreamWaitEventWithTimeout(stream_, event, -1));
}

TEST_F(Event, WaitingNeedsTheSyncFlag) {
    for (aclrtEvent event :
         {plain(ACL_EVENT_TIME_LINE), plain(ACL_EVENT_CAPTURE_STREAM_PROGRESS), extended(ACL_EVENT_TIME_LINE)}) {
        ASSERT_ACL_OK(aclrtRecordEvent(event, stream_));
        EXPECT_ACL_FAILS(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, "SYNC", aclrtStreamWaitEvent(other_, event));
        EXPECT_ACL_OK(aclrtSynchronizeEvent(event));
    }
}

TEST_F(Event, ExtendedOnesHaveNeitherResetNorTheOldQueries) {
    aclrtEvent event = extended(ACL_EVENT_SYNC | ACL_EVENT_TIME_LINE);
    auto status = ACL_EVENT_STATUS_RESERVED;
    auto waited = ACL_EVENT_WAIT_STATUS_RESERVED;
    EXPECT_ACL_FAILS(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, "reset", aclrtResetEvent(event, stream_));
    EXPECT_ACL_FAILS(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, "aclrtQueryEvent", aclrtQueryEvent(event, &status));
    EXPECT_ACL_FAILS(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, "WaitStatus", aclrtQueryEventWaitStatus(event, &waited));
}

TEST_F(Event, DeviceHas65536PlainOnesAndAnyNumberOfExtendedOnes) {
    uint32_t available = 0;
    ASSERT_ACL_OK(aclrtGetEventAvailNum(&available));
    EXPECT_EQ(available, 65536u);
    std::vector<aclrtEvent> events(available);
    for (aclrtEvent& event : events) ASSERT_EQ(aclrtCreateEventWithFlag(&event, ACL_EVENT_SYNC), ACL_SUCCESS);
    aclrtEvent more = nullptr;
    EXPECT_ACL_FAILS(ACL_ERROR_RT_NO_EVENT_RESOURCE, "65536", aclrtCreateEvent(&more));
    ASSERT_ACL_OK(aclrtGetEventAvailNum(&available));
    EXPECT_EQ(available, 0u);
    EXPECT_NE(extended(), nullptr);
    ASSERT_ACL_OK(aclrtDestroyEvent(events.back()));
    ASSERT_ACL_OK(aclrtCreateEvent(&events.back()));
    for (aclrtEvent event : events) ASSERT_EQ(aclrtDestroyEvent(event), ACL_SUCCESS);
}

// ---- asking --------------------------------------------------------------------------------------------------------

TEST_F(Event, BeforeItsFirstRecordAPlainOneIsNotReadyAndAnExtendedOneComplete) {
    EXPECT_FALSE(complete(plain()));
    EXPECT_FALSE(complete(plain(ACL_EVENT_SYNC)));
    EXPECT_TRUE(complete(extended()));
    auto status = ACL_EVENT_STATUS_RESERVED;
    EXPECT_ACL_OK(aclrtQueryEvent(plain(), &status));
    EXPECT_EQ(status, ACL_EVENT_STATUS_NOT_READY);
    auto waited = ACL_EVENT_WAIT_STATUS_RESERVED;
    EXPECT_ACL_OK(aclrtQueryEventWaitStatus(plain(), &waited));
    EXPECT_EQ(waited, ACL_EVENT_WAIT_STATUS_NOT_READY);
    EXPECT_ACL_OK(aclrtSynchronizeEvent(plain()));
    EXPECT_ACL_OK(aclrtSynchronizeEvent(extended()));
}

TEST_F(Event, IsCompleteWhenItsStreamHasReachedIt) {
    for (aclrtEvent event : {plain(), extended()}) {
        Gate gate;
        gate.hold(stream_);
        ASSERT_ACL_OK(aclrtRecordEvent(event, stream_));
        if (device_computes()) {
            EXPECT_FALSE(complete(event));
            EXPECT_ACL_FAILS(ACL_ERROR_RT_EVENT_SYNC_TIMEOUT, "in time", aclrtSynchronizeEventWithTimeout(event, 5));
        }
        gate.open();
        EXPECT_ACL_OK(aclrtSynchronizeEvent(event));
        EXPECT_TRUE(complete(event));
        EXPECT_ACL_OK(aclrtSynchronizeEventWithTimeout(event, 1));
        EXPECT_ACL_OK(aclrtSynchronizeEventWithTimeout(event, -1));
    }
    aclrtEvent event = plain();
    ASSERT_ACL_OK(aclrtRecordEvent(event, nullptr));
    ASSERT_ACL_OK(aclrtSynchronizeStream(nullptr));
    auto status = ACL_EVENT_STATUS_RESERVED;
    EXPECT_ACL_OK(aclrtQueryEvent(event, &status));
    EXPECT_EQ(status, ACL_EVENT_STATUS_COMPLETE);
}

TEST_F(Event, SynchronisingWaitsForTheWorkBeforeTheRecordOnly) {
    if (!device_computes()) GTEST_SKIP();
    Gate gate;
    aclrtEvent event = extended();
    for (int i = 0; i < 100; ++i) ASSERT_ACL_OK(increment(stream_));
    ASSERT_ACL_OK(aclrtRecordEvent(event, stream_));
    gate.hold(stream_);
    ASSERT_ACL_OK(increment(stream_));
    EXPECT_ACL_OK(aclrtSynchronizeEvent(event));
    EXPECT_EQ(count(), 100u);
    EXPECT_TRUE(stands_still(stream_));
    gate.open();
    EXPECT_ACL_OK(aclrtSynchronizeStream(stream_));
}

TEST_F(Event, IsAskedAndWaitedForFromAThreadWithoutAContext) {
    aclrtEvent event = extended();
    ASSERT_ACL_OK(aclrtRecordEvent(event, stream_));
    std::thread([&] {
        EXPECT_ACL_OK(aclrtSynchronizeEvent(event));
        EXPECT_TRUE(complete(event));
    }).join();
}

// ---- waiting -------------------------------------------------------------------------------------------------------

TEST_F(Event, HoldsTheStreamThatWaits) {
    if (!device_computes()) GTEST_SKIP();
    for (aclrtEvent event : {plain(), plain(ACL_EVENT_SYNC), extended()}) {
        auto* log = device_array(std::vector<uint32_t>(4, 0));
        Gate gate;
        gate.hold(stream_);
        ASSERT_ACL_OK(launch("append", 1, stream_, log, 1u));
        ASSERT_ACL_OK(aclrtRecordEvent(event, stream_));
        ASSERT_ACL_OK(aclrtStreamWaitEvent(other_, event));
        ASSERT_ACL_OK(launch("append", 1, other_, log, 2u));
        EXPECT_TRUE(stands_still(other_));
        gate.open();
        ASSERT_ACL_OK(aclrtSynchronizeStream(other_));
        EXPECT_EQ(read_back(log, 3), (std::vector<uint32_t>{2, 1, 2}));
    }
}

TEST_F(Event, ReleasesEveryStreamThatWaits) {
    aclrtEvent event = extended();
    Gate gate;
    gate.hold(stream_);
    ASSERT_ACL_OK(aclrtRecordEvent(event, stream_));
    std::vector<aclrtStream> streams(20);
    auto* total = device_array<uint64_t>({0});
    for (aclrtStream& stream : streams) {
        ASSERT_ACL_OK(aclrtCreateStream(&stream));
        ASSERT_ACL_OK(aclrtStreamWaitEvent(stream, event));
        ASSERT_ACL_OK(launch("add_atomically", 1, stream, total, uint64_t{1}));
    }
    gate.open();
    for (aclrtStream stream : streams) ASSERT_ACL_OK(aclrtDestroyStream(stream));
    if (device_computes()) EXPECT_EQ(read_back(total, 1)[0], streams.size());
}

TEST_F(Event, WaitBindsToTheLastRecordAtTheTimeOfTheCall) {
    if (!device_computes()) GTEST_SKIP();
    aclrtEvent event = extended();
    ASSERT_ACL_OK(aclrtRecordEvent(event, stream_));
    ASSERT_ACL_OK(aclrtStreamWaitEvent(other_, event));
    Gate gate;
    gate.hold(stream_);
    ASSERT_ACL_OK(aclrtRecordEvent(event, stream_));  // does not affect the wait above
    ASSERT_ACL_OK(increment(other_));
    EXPECT_ACL_OK(aclrtSynchronizeStream(other_));
    EXPECT_EQ(count(), 1u);
    EXPECT_FALSE(complete(event));
    ASSERT_ACL_OK(aclrtStreamWaitEvent(other_, event));
    EXPECT_EQ(aclrtSynchronizeStreamWithTimeout(other_, 5), ACL_ERROR_RT_STREAM_SYNC_TIMEOUT);
    gate.open();
    EXPECT_ACL_OK(aclrtSynchronizeStream(other_));
    EXPECT_TRUE(complete(event));
}

TEST_F(Event, RecordOnAnotherStreamLeavesEarlierWaitersWithTheFirst) {
    if (!device_computes()) GTEST_SKIP();
    for (aclrtEvent event : {plain(), extended()}) {
        Gate gate;
        aclrtStream waiter = nullptr;
        ASSERT_ACL_OK(aclrtCreateStream(&waiter));
        gate.hold(stream_);
        ASSERT_ACL_OK(aclrtRecordEvent(event, stream_));
        ASSERT_ACL_OK(aclrtStreamWaitEvent(waiter, event));
        ASSERT_ACL_OK(aclrtRecordEvent(event, other_));  // completes at once
        EXPECT_ACL_OK(aclrtSynchronizeStream(other_));
        EXPECT_TRUE(complete(event));
        EXPECT_EQ(aclrtSynchronizeStreamWithTimeout(waiter, 5), ACL_ERROR_RT_STREAM_SYNC_TIMEOUT);
        gate.open();
        EXPECT_ACL_OK(aclrtDestroyStream(waiter));
        EXPECT_TRUE(complete(event));
        EXPECT_ACL_OK(aclrtSynchronizeStream(stream_));
    }
}

TEST_F(Event, WaitBeforeTheRecordHoldsForAPlainOneAndNotForAnExtendedOne) {
    if (!device_computes()) GTEST_SKIP();
    ASSERT_ACL_OK(aclrtStreamWaitEvent(other_, extended()));
    ASSERT_ACL_OK(aclrtSynchronizeStream(other_));
    aclrtEvent event = plain(ACL_EVENT_SYNC);
    ASSERT_ACL_OK(aclrtStreamWaitEvent(other_, event));
    ASSERT_ACL_OK(increment(other_));
    EXPECT_EQ(aclrtSynchronizeStreamWithTimeout(other_, 5), ACL_ERROR_RT_STREAM_SYNC_TIMEOUT);
    EXPECT_EQ(count(), 0u);
    ASSERT_ACL_OK(aclrtRecordEvent(event, stream_));
    EXPECT_ACL_OK(aclrtSynchronizeStream(other_));
    EXPECT_EQ(count(), 1u);
}

TEST_F(Event, StreamThatWaitsForItselfGoesOn) {
    aclrtEvent event = extended();
    ASSERT_ACL_OK(aclrtRecordEvent(event, stream_));
    ASSERT_ACL_OK(aclrtStreamWaitEvent(stream_, event));
    EXPECT_ACL_OK(aclrtSynchronizeStream(stream_));
}

TEST_F(Event, ResetMakesItUnrecordedAgain) {
    if (!device_computes()) GTEST_SKIP();
    for (aclrtEvent event : {plain(), plain(ACL_EVENT_SYNC)}) {
        ASSERT_ACL_OK(aclrtRecordEvent(event, stream_));
        ASSERT_ACL_OK(aclrtStreamWaitEvent(other_, event));
        ASSERT_ACL_OK(aclrtResetEvent(event, other_));
        ASSERT_ACL_OK(aclrtSynchronizeStream(other_));
        EXPECT_FALSE(complete(event));
        ASSERT_ACL_OK(aclrtStreamWaitEvent(other_, event));
        EXPECT_EQ(aclrtSynchronizeStreamWithTimeout(other_, 5), ACL_ERROR_RT_STREAM_SYNC_TIMEOUT);
        ASSERT_ACL_OK(aclrtRecordEvent(event, stream_));
        EXPECT_ACL_OK(aclrtSynchronizeStream(other_));
        EXPECT_TRUE(complete(event));
    }
}

TEST_F(Event, ResetDoesNotTakeAPendingRecordForTheNext) {
    if (!device_computes()) GTEST_SKIP();
    aclrtEvent event = plain(ACL_EVENT_SYNC);
    Gate gate;
    aclrtStream waiter = nullptr;
    ASSERT_ACL_OK(aclrtCreateStream(&waiter));
    gate.hold(stream_);
    ASSERT_ACL_OK(aclrtRecordEvent(event, stream_));
    ASSERT_ACL_OK(aclrtStreamWaitEvent(waiter, event));
    ASSERT_ACL_OK(aclrtResetEvent(event, other_));
    ASSERT_ACL_OK(aclrtStreamWaitEvent(other_, event));
    gate.open();
    EXPECT_ACL_OK(aclrtDestroyStream(waiter));
    EXPECT_ACL_OK(aclrtSynchronizeStream(stream_));
    EXPECT_EQ(aclrtSynchronizeStreamWithTimeout(other_, 5), ACL_ERROR_RT_STREAM_SYNC_TIMEOUT);
    EXPECT_FALSE(complete(event));
    ASSERT_ACL_OK(aclrtRecordEvent(event, stream_));
    EXPECT_ACL_OK(aclrtSynchronizeStream(other_));
}

// The interface counts in seconds, so the call's limit and the process default expire within the same second.
TEST_F(Event, WaitsThatTakeTooLongAreReportedAtTheNextSynchronisation) {
    if (!device_computes()) GTEST_SKIP();
    aclrtEvent event = plain(ACL_EVENT_SYNC);
    aclrtStream third = nullptr;
    ASSERT_ACL_OK(aclrtCreateStream(&third));
    ASSERT_ACL_OK(aclrtStreamWaitEvent(stream_, event));  // queued before the default is set, so it has no limit
    ASSERT_ACL_OK(aclrtStreamWaitEventWithTimeout(other_, event, 1));
    ASSERT_ACL_OK(increment(other_));
    ASSERT_ACL_OK(aclrtSetOpWaitTimeout(1));
    ASSERT_ACL_OK(aclrtStreamWaitEvent(third, event));
    EXPECT_ACL_FAILS(ACL_ERROR_RT_WAIT_TIMEOUT, "in time", aclrtSynchronizeStream(other_));
    EXPECT_EQ(count(), 1u);  // later work continues
    EXPECT_ACL_OK(aclrtSynchronizeStream(other_));
    EXPECT_EQ(aclrtSynchronizeStream(third), ACL_ERROR_RT_WAIT_TIMEOUT);
    ASSERT_ACL_OK(aclrtSetOpWaitTimeout(0));
    EXPECT_TRUE(stands_still(stream_));
    ASSERT_ACL_OK(aclrtRecordEvent(event, other_));
    EXPECT_ACL_OK(aclrtSynchronizeStream(stream_));
    EXPECT_ACL_OK(aclrtDestroyStream(third));
}

TEST_F(Event, WaitInTimeIsNotReported) {
    aclrtEvent event = plain(ACL_EVENT_SYNC);
    for (int i = 0; i < 200; ++i) {
        ASSERT_ACL_OK(aclrtStreamWaitEventWithTimeout(other_, event, 100));
        ASSERT_ACL_OK(aclrtRecordEvent(event, stream_));
        ASSERT_ACL_OK(aclrtSynchronizeStream(other_));
        ASSERT_ACL_OK(aclrtResetEvent(event, other_));
    }
}

TEST_F(Event, MayBeDestroyedBeforeItIsReached) {
    Gate gate;
    aclrtEvent event = nullptr;
    ASSERT_ACL_OK(aclrtCreateEvent(&event));
    gate.hold(stream_);
    ASSERT_ACL_OK(aclrtRecordEvent(event, stream_));
    ASSERT_ACL_OK(aclrtStreamWaitEvent(other_, event));
    ASSERT_ACL_OK(increment(other_));
    EXPECT_ACL_OK(aclrtDestroyEvent(event));
    EXPECT_EQ(aclrtSynchronizeEvent(event), ACL_ERROR_RT_INVALID_HANDLE);
    if (device_computes()) EXPECT_TRUE(stands_still(other_));
    gate.open();
    EXPECT_ACL_OK(aclrtSynchronizeStream(other_));
    if (device_computes()) EXPECT_EQ(count(), 1u);
}

TEST_F(Event, OutlivesTheStreamItWasRecordedOn) {
    aclrtEvent event = extended();
    aclrtStream stream = nullptr;
    ASSERT_ACL_OK(aclrtCreateStream(&stream));
    ASSERT_ACL_OK(aclrtRecordEvent(event, stream));
    ASSERT_ACL_OK(aclrtDestroyStream(stream));
    EXPECT_TRUE(complete(event));
    EXPECT_ACL_OK(aclrtSynchronizeEvent(event));
    ASSERT_ACL_OK(aclrtStreamWaitEvent(other_, event));
    EXPECT_ACL_OK(aclrtSynchronizeStream(other_));
}

TEST_F(Event, WaitersGoOnWhenTheStreamOfTheRecordIsAborted) {
    Gate gate;
    aclrtEvent event = extended();
    gate.hold(stream_);
    ASSERT_ACL_OK(aclrtRecordEvent(event, stream_));
    ASSERT_ACL_OK(aclrtStreamWaitEvent(other_, event));
    ASSERT_ACL_OK(aclrtStreamAbort(stream_));
    EXPECT_ACL_OK(aclrtSynchronizeStream(other_));
    EXPECT_ACL_OK(aclrtSynchronizeEvent(event));
    EXPECT_EQ(aclrtSynchronizeStream(stream_), ACL_ERROR_RT_STREAM_ABORT);
}

TEST_F(Event, StreamThatWaitsIsReleasedFromAnotherDevice) {
    aclrtContext home = nullptr, context = nullptr;
    ASSERT_ACL_OK(aclrtGetCurrentContext(&home));
    aclrtEvent event = extended();
    Gate gate;
    gate.hold(stream_);
    ASSERT_ACL_OK(aclrtRecordEvent(event, stream_));
    ASSERT_ACL_OK(aclrtCreateContext(&context, 1));
    EXPECT_ACL_FAILS(ACL_ERROR_RT_STREAM_CONTEXT, "device", aclrtRecordEvent(event, nullptr));
    ASSERT_ACL_OK(aclrtStreamWaitEvent(nullptr, event));
    if (device_computes()) EXPECT_TRUE(stands_still(nullptr));
    std::thread([&] {
        EXPECT_ACL_OK(aclrtSetDevice(0));
        gate.open();
    }).join();
    EXPECT_ACL_OK(aclrtSynchronizeStream(nullptr));
    EXPECT_ACL_OK(aclrtDestroyContext(context));
    ASSERT_ACL_OK(aclrtSetCurrentContext(home));
}

// ---- time ----------------------------------------------------------------------------------------------------------

TEST_F(Event, HasNoTimeBeforeItIsReached) {
    aclrtEvent start = plain(), end = plain();
    float time = -1;
    uint64_t stamp = 0;
    EXPECT_ACL_FAILS(ACL_ERROR_RT_EVENT_TIMESTAMP_INVALID, "time", aclrtEventElapsedTime(&time, start, end));
    EXPECT_ACL_FAILS(ACL_ERROR_RT_EVENT_TIMESTAMP_INVALID, "time", aclrtEventGetTimestamp(start, &stamp));
    Gate gate;
    ASSERT_ACL_OK(aclrtRecordEvent(start, stream_));
    gate.hold(stream_);
    ASSERT_ACL_OK(aclrtRecordEvent(end, stream_));
    if (device_computes()) EXPECT_EQ(aclrtEventElapsedTime(&time, start, end), ACL_ERROR_RT_EVENT_TIMESTAMP_INVALID);
    gate.open();
    ASSERT_ACL_OK(aclrtSynchronizeStream(stream_));
    ASSERT_ACL_OK(aclrtEventElapsedTime(&time, start, end));
    EXPECT_GE(time, 0.0f);
    // The elapsed time must be above 0 before it can be tested in reverse.
    while (time <= 0) {
        ASSERT_ACL_OK(aclrtRecordEvent(end, stream_));
        ASSERT_ACL_OK(aclrtSynchronizeStream(stream_));
        ASSERT_ACL_OK(aclrtEventElapsedTime(&time, start, end));
    }
    EXPECT_ACL_FAILS(ACL_ERROR_RT_EVENT_TIMESTAMP_REVERSAL, "before", aclrtEventElapsedTime(&time, end, start));
}

TEST_F(Event, TimesFollowTheOrderOfTheStream) {
    std::vector<aclrtEvent> events;
    for (int i = 0; i < 20; ++i) {
        events.push_back(i % 2 ? plain(ACL_EVENT_TIME_LINE) : extended(ACL_EVENT_TIME_LINE));
        ASSERT_ACL_OK(aclrtRecordEvent(events.back(), stream_));
        ASSERT_ACL_OK(increment(stream_));
    }
    ASSERT_ACL_OK(aclrtSynchronizeStream(stream_));
    uint64_t before = 0;
    for (size_t i = 0; i < events.size(); ++i) {
        uint64_t stamp = 0;
        ASSERT_ACL_OK(aclrtEventGetTimestamp(events[i], &stamp));
        EXPECT_GE(stamp, before);
        before = stamp;
        float time = -1;
        ASSERT_ACL_OK(aclrtEventElapsedTime(&time, events[0], events[i]));
        EXPECT_GE(time, 0.0f);
    }
}

TEST_F(Event, TimeNeedsTheTimelineFlag) {
    aclrtEvent without = plain(ACL_EVENT_SYNC), with = plain();
    ASSERT_ACL_OK(aclrtRecordEvent(with, stream_));
    ASSERT_ACL_OK(aclrtRecordEvent(without, stream_));
    ASSERT_ACL_OK(aclrtSynchronizeStream(stream_));
    float time = -1;
    uint64_t stamp = 0;
    EXPECT_ACL_FAILS(ACL_ERROR_RT_EVENT_TIMESTAMP_INVALID, "TIME_LINE", aclrtEventElapsedTime(&time, with, without));
    EXPECT_ACL_FAILS(ACL_ERROR_RT_EVENT_TIMESTAMP_INVALID, "TIME_LINE", aclrtEventGetTimestamp(without, &stamp));
    EXPECT_ACL_OK(aclrtEventElapsedTime(&time, with, with));
    EXPECT_EQ(time, 0.0f);
}

TEST_F(Event, IdsOfLiveOnesDiffer) {
    uint32_t first = 0, second = 0;
    EXPECT_ACL_OK(aclrtGetEventId(plain(), &first));
    EXPECT_ACL_OK(aclrtGetEventId(plain(), &second));
    EXPECT_NE(first, second);
}

TEST_F(Event, RecordedAndWaitedForByManyThreadsAtOnce) {
    aclrtEvent event = extended();
    aclrtContext context = nullptr;
    ASSERT_ACL_OK(aclrtGetCurrentContext(&context));
    std::vector<std::thread> threads;
    for (int t = 0; t < 6; ++t) {
        threads.emplace_back([&, t] {
            EXPECT_ACL_OK(aclrtSetCurrentContext(context));
            aclrtStream stream = nullptr;
            EXPECT_ACL_OK(aclrtCreateStream(&stream));
            for (int i = 0; i < 300; ++i) {
                if ((i + t) % 3 == 0)
                    EXPECT_EQ(aclrtRecordEvent(event, stream), ACL_SUCCESS);
                else if ((i + t) % 3 == 1)
                    EXPECT_EQ(aclrtStreamWaitEvent(stream, event), ACL_SUCCESS);
                else
                    EXPECT_EQ(aclrtSynchronizeEvent(event), ACL_SUCCESS);
            }
            EXPECT_ACL_OK(aclrtDestroyStream(stream));
        });
    }
    for (std::thread& thread : threads) thread.join();
    EXPECT_TRUE(complete(event));
}

TEST_F(Event, SynchronisingAfterAResetStillWaitsForTheRecordBeforeIt) {
    if (!device_computes()) GTEST_SKIP() << "needs a device that waits";
    const aclrtEvent event = plain(ACL_EVENT_SYNC);
    Gate gate;
    gate.hold(stream_);
    ASSERT_ACL_OK(aclrtRecordEvent(event, stream_));
    ASSERT_ACL_OK(aclrtStreamWaitEvent(other_, event));
    ASSERT_ACL_OK(aclrtResetEvent(event, other_));
    EXPECT_ACL_FAILS(ACL_ERROR_RT_EVENT_SYNC_TIMEOUT, "in time", aclrtSynchronizeEventWithTimeout(event, 1));
    gate.open();
    EXPECT_ACL_OK(aclrtSynchronizeEvent(event));
    EXPECT_ACL_OK(aclrtSynchronizeStream(other_));
    EXPECT_FALSE(complete(event));
}

}  // namespace
}  // namespace conformance
