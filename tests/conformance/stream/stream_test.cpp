// SPDX-License-Identifier: Apache-2.0
// Streams: creation options, waiting for their work, dropping it, and destroying streams.
#include <thread>

#include "fixtures/fixture.h"
#include "fixtures/holding.h"

namespace conformance {
namespace {

class Stream : public KernelTest {
protected:
    uint32_t* counter() {
        if (!counter_) counter_ = device_array<uint32_t>({0});
        return counter_;
    }
    uint32_t count() { return read_back(counter(), 1)[0]; }

private:
    uint32_t* counter_ = nullptr;
};

// ---- arguments -----------------------------------------------------------------------------------------------------

TEST_F(Stream, NullArgumentsAreRefused) {
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "stream", aclrtCreateStream(nullptr));
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "stream", aclrtCreateStreamWithConfig(nullptr, 0, 0));
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "stream", aclrtDestroyStream(nullptr));
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "stream", aclrtDestroyStreamForce(nullptr));
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "stream", aclrtStreamStop(nullptr));
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "status", aclrtStreamQuery(stream_, nullptr));
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "streamId", aclrtStreamGetId(stream_, nullptr));
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "priority", aclrtStreamGetPriority(stream_, nullptr));
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "flags", aclrtStreamGetFlags(stream_, nullptr));
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "streamCount", aclrtGetStreamAvailableNum(nullptr));
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "value",
                     aclrtSetStreamAttribute(stream_, ACL_STREAM_ATTR_PRIORITY, nullptr));
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "value",
                     aclrtGetStreamAttribute(stream_, ACL_STREAM_ATTR_PRIORITY, nullptr));
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "flag", aclrtGetStreamOverflowSwitch(stream_, nullptr));
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "regName", aclrtRegStreamStateCallback(nullptr, nullptr, nullptr));
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "handle", aclrtDestroyStreamConfigHandle(nullptr));
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "handle", aclrtCreateStreamV2(&stream_, nullptr));
}

TEST_F(Stream, HandlesThatAreNoneAreRefused) {
    aclrtStream stale = nullptr;
    ASSERT_ACL_OK(aclrtCreateStream(&stale));
    ASSERT_ACL_OK(aclrtDestroyStream(stale));
    aclrtEvent foreign = nullptr;
    ASSERT_ACL_OK(aclrtCreateEvent(&foreign));
    aclrtNotify notify = nullptr, counting = nullptr;
    ASSERT_ACL_OK(aclrtCreateNotify(&notify, 0));
    ASSERT_ACL_OK(aclrtCntNotifyCreate(&counting, 0));
    aclrtFuncHandle nothing = function("nothing");
    void* memory = device_memory(64);
    aclrtStreamStatus status;
    int32_t id;
    uint32_t number;
    uint64_t arguments = 0;
    aclrtStreamAttrValue value = {};
    aclrtCntNotifyRecordInfo record = {};
    aclrtCntNotifyWaitInfo wait = {};
    const std::vector<HandleCall> calls = {
        {"aclrtDestroyStream", aclrtDestroyStream},
        {"aclrtDestroyStreamForce", aclrtDestroyStreamForce},
        {"aclrtSynchronizeStream", aclrtSynchronizeStream},
        {"aclrtSynchronizeStreamWithTimeout", [](void* s) { return aclrtSynchronizeStreamWithTimeout(s, 1); }},
        {"aclrtStreamQuery", [&](void* s) { return aclrtStreamQuery(s, &status); }},
        {"aclrtStreamAbort", aclrtStreamAbort},
        {"aclrtStreamStop", aclrtStreamStop},
        {"aclrtPersistentTaskClean", aclrtPersistentTaskClean},
        {"aclrtStreamGetId", [&](void* s) { return aclrtStreamGetId(s, &id); }},
        {"aclrtStreamGetPriority", [&](void* s) { return aclrtStreamGetPriority(s, &number); }},
        {"aclrtStreamGetFlags", [&](void* s) { return aclrtStreamGetFlags(s, &number); }},
        {"aclrtSetStreamFailureMode", [](void* s) { return aclrtSetStreamFailureMode(s, 0); }},
        {"aclrtSetStreamAttribute",
         [&](void* s) { return aclrtSetStreamAttribute(s, ACL_STREAM_ATTR_PRIORITY, &value); }},
        {"aclrtGetStreamAttribute",
         [&](void* s) { return aclrtGetStreamAttribute(s, ACL_STREAM_ATTR_PRIORITY, &value); }},
        {"aclrtSetStreamOverflowSwitch", [](void* s) { return aclrtSetStreamOverflowSwitch(s, 0); }},
        {"aclrtGetStreamOverflowSwitch", [&](void* s) { return aclrtGetStreamOverflowSwitch(s, &number); }},
        {"aclrtRecordEvent", [&](void* s) { return aclrtRecordEvent(foreign, s); }},
        {"aclrtStreamWaitEvent", [&](void* s) { return aclrtStreamWaitEvent(s, foreign); }},
        {"aclrtStreamWaitEventWithTimeout", [&](void* s) { return aclrtStreamWaitEventWithTimeout(s, foreign, 1); }},
        {"aclrtResetEvent", [&](void* s) { return aclrtResetEvent(foreign, s); }},
        {"aclrtRecordNotify", [&](void* s) { return aclrtRecordNotify(notify, s); }},
        {"aclrtWaitAndResetNotify", [&](void* s) { return aclrtWaitAndResetNotify(notify, s, 0); }},
        {"aclrtCntNotifyRecord", [&](void* s) { return aclrtCntNotifyRecord(counting, s, &record); }},
        {"aclrtCntNotifyWaitWithTimeout", [&](void* s) { return aclrtCntNotifyWaitWithTimeout(counting, s, &wait); }},
        {"aclrtCntNotifyReset", [&](void* s) { return aclrtCntNotifyReset(counting, s); }},
        {"aclrtLaunchKernel", [&](void* s) { return aclrtLaunchKernel(nothing, 1, memory, 8, s); }},
        {"aclrtLaunchKernelV2", [&](void* s) { return aclrtLaunchKernelV2(nothing, 1, memory, 8, nullptr, s); }},
        {"aclrtLaunchKernelWithHostArgs",
         [&](void* s) { return aclrtLaunchKernelWithHostArgs(nothing, 1, s, nullptr, &arguments, 8, nullptr, 0); }},
        {"aclrtLaunchKernelWithArgsArray",
         [&](void* s) { return aclrtLaunchKernelWithArgsArray(nothing, 1, s, nullptr, nullptr); }},
        {"aclrtLaunchHostFunc",
         [](void* s) {
             return aclrtLaunchHostFunc(
                 s, [](void*) {}, nullptr);
         }},
        {"aclrtLaunchCallback",
         [](void* s) { return aclrtLaunchCallback([](void*) {}, nullptr, ACL_CALLBACK_BLOCK, s); }},
        {"aclrtSubscribeReport", [](void* s) { return aclrtSubscribeReport(1, s); }},
        {"aclrtUnSubscribeReport", [](void* s) { return aclrtUnSubscribeReport(1, s); }},
        {"aclrtSubscribeHostFunc", [](void* s) { return aclrtSubscribeHostFunc(1, s); }},
        {"aclrtUnSubscribeHostFunc", [](void* s) { return aclrtUnSubscribeHostFunc(1, s); }},
        {"aclrtMemcpyAsync",
         [&](void* s) { return aclrtMemcpyAsync(memory, 8, memory, 8, ACL_MEMCPY_DEVICE_TO_DEVICE, s); }},
        {"aclrtValueWait", [&](void* s) { return aclrtValueWait(memory, 0, 0, s); }},
    };
    expect_all_refuse(calls, handles_that_are_none(stale, foreign), ACL_ERROR_RT_INVALID_HANDLE);
    EXPECT_EQ(aclrtGetLastError(ACL_RT_THREAD_LEVEL), ACL_ERROR_RT_INVALID_HANDLE);
    EXPECT_ACL_OK(aclrtDestroyEvent(foreign));
    EXPECT_ACL_OK(aclrtDestroyNotify(notify));
    EXPECT_ACL_OK(aclrtCntNotifyDestroy(counting));
}

TEST_F(Stream, NumbersOutOfRangeAreRefused) {
    EXPECT_ACL_FAILS(ACL_ERROR_RT_PARAM_INVALID, "timeout", aclrtSynchronizeStreamWithTimeout(stream_, 0));
    EXPECT_ACL_FAILS(ACL_ERROR_RT_PARAM_INVALID, "timeout", aclrtSynchronizeStreamWithTimeout(stream_, -2));
    EXPECT_ACL_FAILS(ACL_ERROR_RT_PARAM_INVALID, "mode", aclrtSetStreamFailureMode(stream_, 2));
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "flag", aclrtSetStreamOverflowSwitch(stream_, 2));
    aclrtStreamAttrValue value = {};
    EXPECT_ACL_FAILS(ACL_ERROR_RT_PARAM_INVALID, "attribute",
                     aclrtSetStreamAttribute(stream_, static_cast<aclrtStreamAttr>(0), &value));
    EXPECT_ACL_FAILS(ACL_ERROR_RT_PARAM_INVALID, "attribute",
                     aclrtGetStreamAttribute(stream_, static_cast<aclrtStreamAttr>(6), &value));
    value.streamPriority = 8;
    EXPECT_ACL_FAILS(ACL_ERROR_RT_PARAM_INVALID, "Priority",
                     aclrtSetStreamAttribute(stream_, ACL_STREAM_ATTR_PRIORITY, &value));
    value.overflowSwitch = 2;
    EXPECT_ACL_FAILS(ACL_ERROR_RT_PARAM_INVALID, "overflowSwitch",
                     aclrtSetStreamAttribute(stream_, ACL_STREAM_ATTR_FLOAT_OVERFLOW_CHECK, &value));
}

// ---- making streams ------------------------------------------------------------------------------------------------

TEST_F(Stream, PlainOneHasTheHighestPriorityAndNoFlags) {
    uint32_t priority = 9, flags = 9;
    ASSERT_ACL_OK(aclrtStreamGetPriority(stream_, &priority));
    ASSERT_ACL_OK(aclrtStreamGetFlags(stream_, &flags));
    EXPECT_EQ(priority, 0u);
    EXPECT_EQ(flags, 0u);
    ASSERT_ACL_OK(aclrtStreamGetPriority(nullptr, &priority));
    ASSERT_ACL_OK(aclrtStreamGetFlags(nullptr, &flags));
    EXPECT_EQ(priority, 0u);
    EXPECT_EQ(flags, 0u);
}

TEST_F(Stream, PrioritiesAboveSevenCountAsSeven) {
    for (const uint32_t wanted : {0u, 3u, 7u, 8u, 1000u, UINT32_MAX}) {
        aclrtStream stream = nullptr;
        ASSERT_ACL_OK(aclrtCreateStreamWithConfig(&stream, wanted, 0));
        uint32_t priority = 99;
        ASSERT_ACL_OK(aclrtStreamGetPriority(stream, &priority));
        EXPECT_EQ(priority, std::min(wanted, 7u));
        EXPECT_ACL_OK(aclrtDestroyStream(stream));
    }
}

TEST_F(Stream, FlagsAreKeptAndUnknownBitsIgnored) {
    for (const uint32_t wanted :
         {ACL_STREAM_FAST_LAUNCH, ACL_STREAM_FAST_SYNC, ACL_STREAM_FAST_LAUNCH | ACL_STREAM_FAST_SYNC,
          ACL_STREAM_PERSISTENT, ACL_STREAM_HUGE, ACL_STREAM_CPU_SCHEDULE, ACL_STREAM_DEVICE_USE_ONLY}) {
        aclrtStream stream = nullptr;
        ASSERT_ACL_OK(aclrtCreateStreamWithConfig(&stream, 0, wanted | 0x4000u));
        uint32_t flags = 0;
        ASSERT_ACL_OK(aclrtStreamGetFlags(stream, &flags));
        EXPECT_EQ(flags, wanted);
        EXPECT_ACL_OK(aclrtDestroyStreamForce(stream));
    }
}

TEST_F(Stream, KindsThatExcludeEachOtherAreRefused) {
    aclrtStream stream = nullptr;
    EXPECT_ACL_FAILS(ACL_ERROR_RT_PARAM_INVALID, "exclude",
                     aclrtCreateStreamWithConfig(&stream, 0, ACL_STREAM_PERSISTENT | ACL_STREAM_DEVICE_USE_ONLY));
    EXPECT_ACL_FAILS(ACL_ERROR_RT_PARAM_INVALID, "exclude",
                     aclrtCreateStreamWithConfig(&stream, 0, ACL_STREAM_CPU_SCHEDULE | ACL_STREAM_DEVICE_USE_ONLY));
    EXPECT_EQ(stream, nullptr);
}

TEST_F(Stream, ConfigurationHandleSetsFlagsAndPriority) {
    aclrtStreamConfigHandle* handle = aclrtCreateStreamConfigHandle();
    ASSERT_NE(handle, nullptr);
    const size_t flag = ACL_STREAM_FAST_LAUNCH | ACL_STREAM_FAST_SYNC;
    const uint32_t priority = 5;
    void* work = nullptr;
    const size_t work_size = 0;
    EXPECT_ACL_OK(aclrtSetStreamConfigOpt(handle, ACL_RT_STREAM_FLAG, &flag, sizeof(flag)));
    EXPECT_ACL_OK(aclrtSetStreamConfigOpt(handle, ACL_RT_STREAM_PRIORITY, &priority, sizeof(priority)));
    EXPECT_ACL_OK(aclrtSetStreamConfigOpt(handle, ACL_RT_STREAM_WORK_ADDR_PTR, &work, sizeof(work)));
    EXPECT_ACL_OK(aclrtSetStreamConfigOpt(handle, ACL_RT_STREAM_WORK_SIZE, &work_size, sizeof(work_size)));
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "valueSize",
                     aclrtSetStreamConfigOpt(handle, ACL_RT_STREAM_PRIORITY, &priority, sizeof(size_t)));
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "attr",
                     aclrtSetStreamConfigOpt(handle, static_cast<aclrtStreamConfigAttr>(9), &priority, 4));
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "attrValue",
                     aclrtSetStreamConfigOpt(handle, ACL_RT_STREAM_PRIORITY, nullptr, 4));
    aclrtStream stream = nullptr;
    ASSERT_ACL_OK(aclrtCreateStreamV2(&stream, handle));
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "stream", aclrtCreateStreamV2(nullptr, handle));
    uint32_t flags = 0, found = 0;
    EXPECT_ACL_OK(aclrtStreamGetFlags(stream, &flags));
    EXPECT_ACL_OK(aclrtStreamGetPriority(stream, &found));
    EXPECT_EQ(flags, 3u);
    EXPECT_EQ(found, 5u);
    EXPECT_ACL_OK(aclrtDestroyStream(stream));
    EXPECT_ACL_OK(aclrtDestroyStreamConfigHandle(handle));
    EXPECT_ACL_FAILS(ACL_ERROR_RT_INVALID_HANDLE, "handle", aclrtDestroyStreamConfigHandle(handle));
    EXPECT_ACL_FAILS(ACL_ERROR_RT_INVALID_HANDLE, "handle", aclrtCreateStreamV2(&stream, handle));
    EXPECT_ACL_FAILS(
        ACL_ERROR_RT_INVALID_HANDLE, "handle",
        aclrtSetStreamConfigOpt(reinterpret_cast<aclrtStreamConfigHandle*>(0x40), ACL_RT_STREAM_FLAG, &flag, 8));
}

TEST_F(Stream, IdsDiffer) {
    aclrtStream other = nullptr;
    ASSERT_ACL_OK(aclrtCreateStream(&other));
    int32_t first = -1, second = -1, none = -1;
    ASSERT_ACL_OK(aclrtStreamGetId(stream_, &first));
    ASSERT_ACL_OK(aclrtStreamGetId(other, &second));
    ASSERT_ACL_OK(aclrtStreamGetId(nullptr, &none));
    EXPECT_NE(first, second);
    EXPECT_NE(first, none);
    EXPECT_GE(none, 0);
    EXPECT_ACL_OK(aclrtDestroyStream(other));
}

TEST_F(Stream, AttributesAreReadBack) {
    aclrtStreamAttrValue value = {};
    ASSERT_ACL_OK(aclrtGetStreamAttribute(stream_, ACL_STREAM_ATTR_FAILURE_MODE, &value));
    EXPECT_EQ(value.failureMode, ACL_CONTINUE_ON_FAILURE);
    value = {};
    value.userCustomTag = 77;
    ASSERT_ACL_OK(aclrtSetStreamAttribute(stream_, ACL_STREAM_ATTR_USER_CUSTOM_TAG, &value));
    value = {};
    value.overflowSwitch = 1;
    ASSERT_ACL_OK(aclrtSetStreamAttribute(stream_, ACL_STREAM_ATTR_FLOAT_OVERFLOW_CHECK, &value));
    value = {};
    value.cacheOpInfoSwitch = 1;
    ASSERT_ACL_OK(aclrtSetStreamAttribute(stream_, ACL_STREAM_ATTR_CACHE_OP_INFO, &value));
    value = {};
    value.streamPriority = 6;
    ASSERT_ACL_OK(aclrtSetStreamAttribute(stream_, ACL_STREAM_ATTR_PRIORITY, &value));
    value = {};
    value.failureMode = ACL_STOP_ON_FAILURE;
    ASSERT_ACL_OK(aclrtSetStreamAttribute(stream_, ACL_STREAM_ATTR_FAILURE_MODE, &value));

    ASSERT_ACL_OK(aclrtGetStreamAttribute(stream_, ACL_STREAM_ATTR_USER_CUSTOM_TAG, &value));
    EXPECT_EQ(value.userCustomTag, 77u);
    ASSERT_ACL_OK(aclrtGetStreamAttribute(stream_, ACL_STREAM_ATTR_FLOAT_OVERFLOW_CHECK, &value));
    EXPECT_EQ(value.overflowSwitch, 1u);
    uint32_t overflow = 9, priority = 9;
    ASSERT_ACL_OK(aclrtGetStreamOverflowSwitch(stream_, &overflow));
    EXPECT_EQ(overflow, 1u);
    ASSERT_ACL_OK(aclrtGetStreamAttribute(stream_, ACL_STREAM_ATTR_CACHE_OP_INFO, &value));
    EXPECT_EQ(value.cacheOpInfoSwitch, 1u);
    ASSERT_ACL_OK(aclrtGetStreamAttribute(stream_, ACL_STREAM_ATTR_PRIORITY, &value));
    EXPECT_EQ(value.streamPriority, 6u);
    ASSERT_ACL_OK(aclrtStreamGetPriority(stream_, &priority));
    EXPECT_EQ(priority, 6u);
    ASSERT_ACL_OK(aclrtGetStreamAttribute(stream_, ACL_STREAM_ATTR_FAILURE_MODE, &value));
    EXPECT_EQ(value.failureMode, ACL_STOP_ON_FAILURE);
}

TEST_F(Stream, NewOneKnowsNothingOfTheOneBeforeInItsPlace) {
    aclrtStream stream = nullptr;
    ASSERT_ACL_OK(aclrtCreateStreamWithConfig(&stream, 4, ACL_STREAM_FAST_LAUNCH));
    aclrtStreamAttrValue value = {};
    value.userCustomTag = 5;
    ASSERT_ACL_OK(aclrtSetStreamAttribute(stream, ACL_STREAM_ATTR_USER_CUSTOM_TAG, &value));
    ASSERT_ACL_OK(aclrtSetStreamOverflowSwitch(stream, 1));
    ASSERT_ACL_OK(aclrtSetStreamFailureMode(stream, ACL_STOP_ON_FAILURE));
    ASSERT_ACL_OK(aclrtDestroyStream(stream));
    ASSERT_ACL_OK(aclrtCreateStream(&stream));
    uint32_t number = 9;
    EXPECT_ACL_OK(aclrtStreamGetFlags(stream, &number));
    EXPECT_EQ(number, 0u);
    EXPECT_ACL_OK(aclrtStreamGetPriority(stream, &number));
    EXPECT_EQ(number, 0u);
    EXPECT_ACL_OK(aclrtGetStreamOverflowSwitch(stream, &number));
    EXPECT_EQ(number, 0u);
    EXPECT_ACL_OK(aclrtGetStreamAttribute(stream, ACL_STREAM_ATTR_USER_CUSTOM_TAG, &value));
    EXPECT_EQ(value.userCustomTag, 0u);
    EXPECT_ACL_OK(aclrtGetStreamAttribute(stream, ACL_STREAM_ATTR_FAILURE_MODE, &value));
    EXPECT_EQ(value.failureMode, ACL_CONTINUE_ON_FAILURE);
    EXPECT_ACL_OK(aclrtDestroyStream(stream));
}

TEST_F(Stream, DeviceHas1984AndEachOfThemWorks) {
    uint32_t available = 0;
    ASSERT_ACL_OK(aclrtGetStreamAvailableNum(&available));
    EXPECT_EQ(available, 1984u - 2);  // minus the default stream and the test's stream
    std::vector<aclrtStream> streams(available);
    for (aclrtStream& stream : streams) ASSERT_ACL_OK(aclrtCreateStream(&stream));
    aclrtStream more = nullptr;
    EXPECT_ACL_FAILS(ACL_ERROR_RT_NO_STREAM_RESOURCE, "1984", aclrtCreateStream(&more));
    EXPECT_EQ(aclrtCreateStreamWithConfig(&more, 0, 0), ACL_ERROR_RT_NO_STREAM_RESOURCE);
    aclrtContext context = nullptr;
    EXPECT_EQ(aclrtCreateContext(&context, 0), ACL_ERROR_RT_NO_STREAM_RESOURCE);
    ASSERT_ACL_OK(aclrtGetStreamAvailableNum(&available));
    EXPECT_EQ(available, 0u);
    auto* total = device_array<uint64_t>({0});
    for (aclrtStream stream : streams)
        for (int i = 0; i < 3; ++i) ASSERT_ACL_OK(launch("add_atomically", 1, stream, total, uint64_t{1}));
    ASSERT_ACL_OK(aclrtSynchronizeDevice());
    if (device_computes()) EXPECT_EQ(read_back(total, 1)[0], 3 * streams.size());
    ASSERT_ACL_OK(aclrtDestroyStream(streams.back()));
    ASSERT_ACL_OK(aclrtCreateStream(&streams.back()));
    for (aclrtStream stream : streams) ASSERT_ACL_OK(aclrtDestroyStream(stream));
    ASSERT_ACL_OK(aclrtGetStreamAvailableNum(&available));
    EXPECT_EQ(available, 1984u - 2);
}

// ---- order and waiting ---------------------------------------------------------------------------------------------

TEST_F(Stream, WorkRunsInTheOrderOfItsSubmission) {
    if (!device_computes()) GTEST_SKIP();
    constexpr uint32_t tasks = 3000;
    auto* log = device_array(std::vector<uint32_t>(tasks + 1, 0));
    for (uint32_t i = 0; i < tasks; ++i) ASSERT_ACL_OK(launch("append", 1, stream_, log, i));
    ASSERT_ACL_OK(aclrtSynchronizeStream(stream_));
    const std::vector<uint32_t> found = read_back(log, tasks + 1);
    ASSERT_EQ(found[0], tasks);
    for (uint32_t i = 0; i < tasks; ++i) ASSERT_EQ(found[i + 1], i);
}

TEST_F(Stream, DefaultOneAndOthersDoNotWaitForEachOther) {
    if (!device_computes()) GTEST_SKIP();
    Gate gate;
    gate.hold(nullptr);
    ASSERT_ACL_OK(launch("increment", 1, stream_, counter()));
    EXPECT_ACL_OK(aclrtSynchronizeStream(stream_));
    EXPECT_EQ(count(), 1u);
    EXPECT_TRUE(stands_still(nullptr));
    aclrtStream named = nullptr;
    ASSERT_ACL_OK(aclrtCtxGetCurrentDefaultStream(&named));
    EXPECT_TRUE(stands_still(named));
    gate.open();
    EXPECT_ACL_OK(aclrtSynchronizeStream(nullptr));
    EXPECT_FALSE(stands_still(named));
}

TEST_F(Stream, DefaultOneCannotBeDestroyed) {
    aclrtStream named = nullptr;
    ASSERT_ACL_OK(aclrtCtxGetCurrentDefaultStream(&named));
    EXPECT_ACL_FAILS(ACL_ERROR_RT_PARAM_INVALID, "default stream", aclrtDestroyStream(named));
    EXPECT_ACL_FAILS(ACL_ERROR_RT_PARAM_INVALID, "default stream", aclrtDestroyStreamForce(named));
    EXPECT_ACL_OK(aclrtSynchronizeStream(named));
}

TEST_F(Stream, QueryTellsWhetherWorkIsLeft) {
    EXPECT_FALSE(stands_still(stream_));
    if (!device_computes()) GTEST_SKIP();
    Gate gate;
    gate.hold(stream_);
    EXPECT_TRUE(stands_still(stream_));
    gate.open();
    ASSERT_ACL_OK(aclrtSynchronizeStream(stream_));
    EXPECT_FALSE(stands_still(stream_));
}

TEST_F(Stream, SynchronisingTimesOutAndTheWorkGoesOn) {
    if (!device_computes()) GTEST_SKIP();
    Gate gate;
    gate.hold(stream_);
    ASSERT_ACL_OK(launch("increment", 1, stream_, counter()));
    EXPECT_ACL_FAILS(ACL_ERROR_RT_STREAM_SYNC_TIMEOUT, "in time", aclrtSynchronizeStreamWithTimeout(stream_, 5));
    EXPECT_EQ(aclrtPeekAtLastError(ACL_RT_THREAD_LEVEL), ACL_ERROR_RT_STREAM_SYNC_TIMEOUT);
    EXPECT_EQ(count(), 0u);
    EXPECT_TRUE(stands_still(stream_));
    gate.open();
    EXPECT_ACL_OK(aclrtSynchronizeStreamWithTimeout(stream_, 100000));
    EXPECT_EQ(count(), 1u);
    EXPECT_ACL_OK(aclrtSynchronizeStreamWithTimeout(stream_, -1));
}

TEST_F(Stream, ManyThreadsWaitForOneStream) {
    Gate gate;
    gate.hold(stream_);
    std::vector<std::thread> threads;
    for (int i = 0; i < 8; ++i)
        threads.emplace_back([&, i] {
            if (i % 2)
                EXPECT_ACL_OK(aclrtSynchronizeStream(stream_));
            else
                EXPECT_ACL_OK(aclrtSynchronizeStreamWithTimeout(stream_, 100000));
        });
    gate.open();
    for (std::thread& thread : threads) thread.join();
}

TEST_F(Stream, DeviceOnlyAndPersistentOnesAreNeverWaitedFor) {
    for (const uint32_t flag : {ACL_STREAM_PERSISTENT, ACL_STREAM_DEVICE_USE_ONLY, ACL_STREAM_CPU_SCHEDULE}) {
        Gate gate;
        aclrtStream stream = nullptr;
        ASSERT_ACL_OK(aclrtCreateStreamWithConfig(&stream, 0, flag));
        gate.hold(stream);
        EXPECT_ACL_OK(aclrtSynchronizeStream(stream));
        EXPECT_ACL_OK(aclrtSynchronizeStreamWithTimeout(stream, 1));
        EXPECT_ACL_OK(aclrtStreamStop(stream));
        EXPECT_ACL_OK(aclrtDestroyStream(stream));
    }
}

TEST_F(Stream, CleaningIsForPersistentOnes) {
    EXPECT_ACL_FAILS(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, "persistent", aclrtPersistentTaskClean(stream_));
    aclrtStream stream = nullptr;
    ASSERT_ACL_OK(aclrtCreateStreamWithConfig(&stream, 0, ACL_STREAM_PERSISTENT));
    EXPECT_ACL_OK(aclrtPersistentTaskClean(stream));
    EXPECT_ACL_OK(aclrtDestroyStream(stream));
}

// ---- ending streams ------------------------------------------------------------------------------------------------

TEST_F(Stream, DestroyingWaitsForTheWork) {
    aclrtStream stream = nullptr;
    ASSERT_ACL_OK(aclrtCreateStream(&stream));
    Gate gate;
    gate.hold(stream);
    ASSERT_ACL_OK(launch("increment", 1, stream, counter()));
    std::thread opener([&] {
        EXPECT_ACL_OK(aclrtSetDevice(0));
        gate.open();
    });
    EXPECT_ACL_OK(aclrtDestroyStream(stream));
    opener.join();
    if (device_computes()) EXPECT_EQ(count(), 1u);
    EXPECT_EQ(aclrtDestroyStream(stream), ACL_ERROR_RT_INVALID_HANDLE);
}

TEST_F(Stream, ForcedDestroyingRunsWhatCanRunAndDropsTheRest) {
    aclrtStream stream = nullptr;
    ASSERT_ACL_OK(aclrtCreateStream(&stream));
    Gate gate;
    for (int i = 0; i < 500; ++i) ASSERT_ACL_OK(launch("increment", 1, stream, counter()));
    gate.hold(stream);
    for (int i = 0; i < 500; ++i) ASSERT_ACL_OK(launch("increment", 1, stream, counter()));
    EXPECT_ACL_OK(aclrtDestroyStreamForce(stream));
    if (device_computes()) EXPECT_EQ(count(), 500u);
}

TEST_F(Stream, ForcedDestroyingFinishesAKernelThatRuns) {
    if (!device_computes()) GTEST_SKIP();
    SharedWord go, done;
    aclrtStream stream = nullptr;
    ASSERT_ACL_OK(aclrtCreateStream(&stream));
    ASSERT_ACL_OK(launch("wait_for_word", 1, stream, go.device(), done.device()));
    std::thread releaser([&] { go.set(1); });
    EXPECT_ACL_OK(aclrtDestroyStreamForce(stream));
    EXPECT_EQ(done.get(), 1u);
    releaser.join();
}

TEST_F(Stream, StateCallbacksFollowEveryStream) {
    struct Seen {
        std::vector<std::pair<aclrtStream, int>> all;
    } seen;
    const auto callback = [](aclrtStream stream, aclrtStreamState state, void* argument) {
        static_cast<Seen*>(argument)->all.emplace_back(stream, static_cast<int>(state));
    };
    ASSERT_ACL_OK(aclrtRegStreamStateCallback("observer", callback, &seen));
    EXPECT_ACL_FAILS(ACL_ERROR_RT_PARAM_INVALID, "observer", aclrtRegStreamStateCallback("observer", callback, &seen));
    aclrtStream stream = nullptr, by_default = nullptr;
    ASSERT_ACL_OK(aclrtCreateStream(&stream));
    ASSERT_ACL_OK(aclrtDestroyStream(stream));
    aclrtContext old = nullptr, context = nullptr;
    ASSERT_ACL_OK(aclrtGetCurrentContext(&old));
    ASSERT_ACL_OK(aclrtCreateContext(&context, 0));
    ASSERT_ACL_OK(aclrtCtxGetCurrentDefaultStream(&by_default));
    ASSERT_ACL_OK(aclrtDestroyContext(context));
    ASSERT_ACL_OK(aclrtSetCurrentContext(old));
    ASSERT_ACL_OK(aclrtRegStreamStateCallback("observer", nullptr, nullptr));
    ASSERT_ACL_OK(aclrtCreateStream(&stream));
    ASSERT_ACL_OK(aclrtDestroyStream(stream));
    const std::vector<std::pair<aclrtStream, int>> expected = {{seen.all.at(0).first, ACL_RT_STREAM_STATE_CREATE_POST},
                                                               {seen.all.at(0).first, ACL_RT_STREAM_STATE_DESTROY_PRE},
                                                               {by_default, ACL_RT_STREAM_STATE_CREATE_POST},
                                                               {by_default, ACL_RT_STREAM_STATE_DESTROY_PRE}};
    EXPECT_EQ(seen.all, expected);
    EXPECT_EQ(aclrtRegStreamStateCallback("observer", nullptr, nullptr), ACL_ERROR_RT_PARAM_INVALID);
}

// ---- aborting and stopping -----------------------------------------------------------------------------------------

TEST_F(Stream, AbortDropsWhatIsQueuedAndSaysSoOnce) {
    if (!device_computes()) GTEST_SKIP();
    Gate gate;
    gate.hold(stream_);
    for (int i = 0; i < 100; ++i) ASSERT_ACL_OK(launch("increment", 1, stream_, counter()));
    EXPECT_ACL_OK(aclrtStreamAbort(stream_));
    EXPECT_ACL_FAILS(ACL_ERROR_RT_STREAM_ABORT, "aborted", aclrtSynchronizeStream(stream_));
    EXPECT_ACL_OK(aclrtSynchronizeStream(stream_));
    EXPECT_EQ(count(), 0u);
    ASSERT_ACL_OK(launch("increment", 1, stream_, counter()));
    EXPECT_ACL_OK(aclrtSynchronizeStream(stream_));
    EXPECT_EQ(count(), 1u);
}

TEST_F(Stream, AbortReachesAThreadThatWaits) {
    if (!device_computes()) GTEST_SKIP();
    Gate gate;
    gate.hold(stream_);
    std::thread waiter([&] { EXPECT_EQ(aclrtSynchronizeStream(stream_), ACL_ERROR_RT_STREAM_ABORT); });
    while (aclrtSynchronizeStreamWithTimeout(stream_, 1) != ACL_ERROR_RT_STREAM_SYNC_TIMEOUT) {
    }
    EXPECT_ACL_OK(aclrtStreamAbort(stream_));
    waiter.join();
}

TEST_F(Stream, AbortEndsAKernelThatNeverReturns) {
    if (!device_computes()) GTEST_SKIP();
    SharedWord started;
    ASSERT_ACL_OK(launch("never_return", 1, stream_, started.device()));
    ASSERT_ACL_OK(launch("increment", 1, stream_, counter()));
    started.wait_until_set();
    EXPECT_ACL_OK(aclrtStreamAbort(stream_));
    EXPECT_EQ(aclrtSynchronizeStream(stream_), ACL_ERROR_RT_STREAM_ABORT);
    EXPECT_EQ(count(), 0u);
}

TEST_F(Stream, AbortEndsAKernelOfManyBlocksThatNeverReturns) {
    if (!device_computes()) GTEST_SKIP();
    for (const uint32_t together : {0u, 1u}) {
        ASSERT_ACL_OK(launch("never_return_in_block", 20, stream_, 7u, together));
        EXPECT_EQ(aclrtSynchronizeStreamWithTimeout(stream_, 5), ACL_ERROR_RT_STREAM_SYNC_TIMEOUT);
        EXPECT_ACL_OK(aclrtStreamAbort(stream_));
        EXPECT_EQ(aclrtSynchronizeStream(stream_), ACL_ERROR_RT_STREAM_ABORT);
    }
    ASSERT_ACL_OK(launch("increment", 1, stream_, counter()));
    EXPECT_ACL_OK(aclrtSynchronizeStream(stream_));
    EXPECT_EQ(count(), 1u);
}

TEST_F(Stream, AbortLeavesOtherStreamsAlone) {
    if (!device_computes()) GTEST_SKIP();
    aclrtStream other = nullptr;
    ASSERT_ACL_OK(aclrtCreateStream(&other));
    SharedWord go, done, started;
    ASSERT_ACL_OK(launch("wait_for_word", 1, other, go.device(), done.device()));
    ASSERT_ACL_OK(launch("never_return", 1, stream_, started.device()));
    started.wait_until_set();
    EXPECT_ACL_OK(aclrtStreamAbort(stream_));
    EXPECT_EQ(done.get(), 0u);
    go.set(1);
    EXPECT_ACL_OK(aclrtSynchronizeStream(other));
    EXPECT_EQ(done.get(), 1u);
    EXPECT_EQ(aclrtSynchronizeStream(stream_), ACL_ERROR_RT_STREAM_ABORT);
    EXPECT_ACL_OK(aclrtDestroyStream(other));
}

TEST_F(Stream, AbortOfOneThatWaitsForCoresDoesNotWaitForThem) {
    if (!device_computes()) GTEST_SKIP();
    SharedWord begun, go, done;
    aclrtStream holder = nullptr;
    ASSERT_ACL_OK(aclrtCreateStream(&holder));
    // Blocks that spin until the test releases them occupy all vector cores.
    ASSERT_ACL_OK(launch("begin_and_wait_for_word", 48, holder, begun.device(), go.device(), done.device()));
    begun.wait_until_set();
    ASSERT_ACL_OK(launch("identify", 48, stream_, device_memory(48 * 4)));
    ASSERT_EQ(aclrtSynchronizeStreamWithTimeout(stream_, 5), ACL_ERROR_RT_STREAM_SYNC_TIMEOUT);
    EXPECT_ACL_OK(aclrtStreamAbort(stream_));
    EXPECT_EQ(aclrtSynchronizeStream(stream_), ACL_ERROR_RT_STREAM_ABORT);
    EXPECT_EQ(done.get(), 0u);
    go.set(1);
    EXPECT_ACL_OK(aclrtSynchronizeStream(holder));
    EXPECT_ACL_OK(aclrtDestroyStream(holder));
}

TEST_F(Stream, AbortOfAnEmptyOneIsReported) {
    EXPECT_ACL_OK(aclrtStreamAbort(stream_));
    EXPECT_EQ(aclrtSynchronizeStream(stream_), ACL_ERROR_RT_STREAM_ABORT);
    EXPECT_ACL_OK(aclrtSynchronizeStream(stream_));
    EXPECT_ACL_OK(aclrtStreamAbort(nullptr));
    EXPECT_EQ(aclrtSynchronizeStream(nullptr), ACL_ERROR_RT_STREAM_ABORT);
}

TEST_F(Stream, StopEndsTheRunningTaskAndKeepsTheOthers) {
    if (!device_computes()) GTEST_SKIP();
    SharedWord started;
    ASSERT_ACL_OK(launch("never_return", 1, stream_, started.device()));
    ASSERT_ACL_OK(launch("increment", 1, stream_, counter()));
    started.wait_until_set();
    EXPECT_ACL_OK(aclrtStreamStop(stream_));
    EXPECT_NE(aclrtSynchronizeStream(stream_), ACL_SUCCESS);
    EXPECT_EQ(count(), 1u);
    EXPECT_ACL_OK(aclrtSynchronizeStream(stream_));
}

TEST_F(Stream, StopOfAnIdleOneDoesNothing) {
    EXPECT_ACL_OK(aclrtStreamStop(stream_));
    EXPECT_ACL_OK(aclrtSynchronizeStream(stream_));
}

}  // namespace
}  // namespace conformance
