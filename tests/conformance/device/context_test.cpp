// SPDX-License-Identifier: Apache-2.0
// Contexts: what they own, which one is current, and what ends with them.
#include <thread>

#include "fixtures/fixture.h"
#include "fixtures/holding.h"

namespace conformance {
namespace {

class Context : public RuntimeTest {};

aclrtContext current() {
    aclrtContext context = nullptr;
    EXPECT_ACL_OK(aclrtGetCurrentContext(&context));
    return context;
}

TEST_F(Context, NullArgumentsAreRefused) {
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "context", aclrtCreateContext(nullptr, 0));
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "context", aclrtDestroyContext(nullptr));
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "context", aclrtSetCurrentContext(nullptr));
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "context", aclrtGetCurrentContext(nullptr));
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "stream", aclrtCtxGetCurrentDefaultStream(nullptr));
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "value", aclrtCtxGetSysParamOpt(ACL_OPT_DETERMINISTIC, nullptr));
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "active", aclrtGetPrimaryCtxState(0, nullptr, nullptr));
}

TEST_F(Context, NothingWorksWithoutOne) {
    aclrtContext context = nullptr;
    aclrtStream stream = nullptr;
    aclrtEvent event = nullptr;
    aclrtNotify notify = nullptr;
    int64_t value = 0;
    uint32_t count = 0;
    aclrtStreamStatus status = ACL_STREAM_STATUS_RESERVED;
    EXPECT_ACL_FAILS(ACL_ERROR_RT_CONTEXT_NULL, "context", aclrtGetCurrentContext(&context));
    EXPECT_ACL_FAILS(ACL_ERROR_RT_CONTEXT_NULL, "context", aclrtCtxGetCurrentDefaultStream(&stream));
    EXPECT_ACL_FAILS(ACL_ERROR_RT_CONTEXT_NULL, "context", aclrtCtxSetSysParamOpt(ACL_OPT_DETERMINISTIC, 1));
    EXPECT_ACL_FAILS(ACL_ERROR_RT_CONTEXT_NULL, "context", aclrtCtxGetSysParamOpt(ACL_OPT_DETERMINISTIC, &value));
    EXPECT_ACL_FAILS(ACL_ERROR_RT_CONTEXT_NULL, "context", aclrtCreateStream(&stream));
    EXPECT_ACL_FAILS(ACL_ERROR_RT_CONTEXT_NULL, "context", aclrtCreateStreamWithConfig(&stream, 0, 0));
    EXPECT_ACL_FAILS(ACL_ERROR_RT_CONTEXT_NULL, "context", aclrtSynchronizeStream(nullptr));
    EXPECT_ACL_FAILS(ACL_ERROR_RT_CONTEXT_NULL, "context", aclrtStreamQuery(nullptr, &status));
    EXPECT_ACL_FAILS(ACL_ERROR_RT_CONTEXT_NULL, "context", aclrtGetStreamAvailableNum(&count));
    EXPECT_ACL_FAILS(ACL_ERROR_RT_CONTEXT_NULL, "context", aclrtCreateEvent(&event));
    EXPECT_ACL_FAILS(ACL_ERROR_RT_CONTEXT_NULL, "context", aclrtCreateEventWithFlag(&event, ACL_EVENT_SYNC));
    EXPECT_ACL_FAILS(ACL_ERROR_RT_CONTEXT_NULL, "context", aclrtCreateEventExWithFlag(&event, ACL_EVENT_SYNC));
    EXPECT_ACL_FAILS(ACL_ERROR_RT_CONTEXT_NULL, "context", aclrtGetEventAvailNum(&count));
    EXPECT_ACL_FAILS(ACL_ERROR_RT_CONTEXT_NULL, "context", aclrtCreateNotify(&notify, 0));
    EXPECT_ACL_FAILS(ACL_ERROR_RT_CONTEXT_NULL, "context", aclrtCntNotifyCreate(&notify, 0));
    EXPECT_ACL_FAILS(ACL_ERROR_RT_CONTEXT_NULL, "context",
                     aclrtLaunchHostFunc(
                         nullptr, [](void*) {}, nullptr));
    aclrtBinHandle binary = nullptr;
    EXPECT_ACL_FAILS(ACL_ERROR_RT_CONTEXT_NULL, "context",
                     aclrtBinaryLoadFromFile(CANOPY_TEST_KERNELS, nullptr, &binary));
    EXPECT_EQ(aclrtGetLastError(ACL_RT_THREAD_LEVEL), ACL_ERROR_RT_CONTEXT_NULL);
}

TEST_F(Context, CreatingOneMakesItCurrentWithoutSettingTheDevice) {
    aclrtContext context = nullptr;
    ASSERT_ACL_OK(aclrtCreateContext(&context, 1));
    EXPECT_EQ(current(), context);
    int32_t device = -1;
    ASSERT_ACL_OK(aclrtGetDevice(&device));
    EXPECT_EQ(device, 1);
    aclrtStream stream = nullptr;
    ASSERT_ACL_OK(aclrtCtxGetCurrentDefaultStream(&stream));
    EXPECT_NE(stream, nullptr);
    EXPECT_ACL_OK(aclrtSynchronizeStream(stream));
    EXPECT_ACL_OK(aclrtSynchronizeStream(nullptr));
    EXPECT_ACL_OK(aclrtDestroyContext(context));
    EXPECT_ACL_FAILS(ACL_ERROR_RT_CONTEXT_NULL, "context", aclrtGetCurrentContext(&context));
}

TEST_F(Context, DeviceIdsOutOfRangeAreRefused) {
    uint32_t devices = 0;
    ASSERT_ACL_OK(aclrtGetDeviceCount(&devices));
    aclrtContext context = nullptr;
    int32_t active = 7;
    for (const int32_t device : {-1, static_cast<int32_t>(devices), INT32_MAX, INT32_MIN}) {
        EXPECT_ACL_FAILS(ACL_ERROR_RT_INVALID_DEVICEID, "device", aclrtCreateContext(&context, device));
        EXPECT_ACL_FAILS(ACL_ERROR_RT_INVALID_DEVICEID, "device", aclrtGetPrimaryCtxState(device, nullptr, &active));
    }
    EXPECT_EQ(context, nullptr);
    EXPECT_EQ(active, 7);
}

TEST_F(Context, EachHasItsOwnDefaultStream) {
    aclrtContext contexts[3] = {};
    aclrtStream streams[3] = {};
    for (int i = 0; i < 3; ++i) {
        ASSERT_ACL_OK(aclrtCreateContext(&contexts[i], 0));
        ASSERT_ACL_OK(aclrtCtxGetCurrentDefaultStream(&streams[i]));
    }
    EXPECT_NE(streams[0], streams[1]);
    EXPECT_NE(streams[1], streams[2]);
    for (int i = 0; i < 3; ++i) {
        ASSERT_ACL_OK(aclrtSetCurrentContext(contexts[i]));
        aclrtStream stream = nullptr;
        ASSERT_ACL_OK(aclrtCtxGetCurrentDefaultStream(&stream));
        EXPECT_EQ(stream, streams[i]);
        int32_t named = 0, unnamed = 0;
        ASSERT_ACL_OK(aclrtStreamGetId(stream, &named));
        ASSERT_ACL_OK(aclrtStreamGetId(nullptr, &unnamed));
        EXPECT_EQ(named, unnamed);
    }
    for (aclrtContext context : contexts) EXPECT_ACL_OK(aclrtDestroyContext(context));
}

TEST_F(Context, SettingTheDeviceReturnsToTheSharedOne) {
    ASSERT_ACL_OK(aclrtSetDevice(0));
    const aclrtContext primary = current();
    aclrtContext explicit_one = nullptr;
    ASSERT_ACL_OK(aclrtCreateContext(&explicit_one, 0));
    EXPECT_NE(current(), primary);
    ASSERT_ACL_OK(aclrtSetDevice(0));
    EXPECT_EQ(current(), primary);
    std::thread([&] {
        aclrtContext none = nullptr;
        EXPECT_EQ(aclrtGetCurrentContext(&none), ACL_ERROR_RT_CONTEXT_NULL);
        EXPECT_ACL_OK(aclrtSetDevice(0));
        EXPECT_EQ(current(), primary);
        EXPECT_ACL_OK(aclrtSetCurrentContext(explicit_one));
        EXPECT_EQ(current(), explicit_one);
    }).join();
    EXPECT_EQ(current(), primary);
    EXPECT_ACL_OK(aclrtDestroyContext(explicit_one));
    EXPECT_EQ(current(), primary);
}

TEST_F(Context, CurrentOneSwitchesTheDevice) {
    aclrtContext first = nullptr, second = nullptr;
    ASSERT_ACL_OK(aclrtCreateContext(&first, 0));
    ASSERT_ACL_OK(aclrtCreateContext(&second, 1));
    int32_t device = -1;
    ASSERT_ACL_OK(aclrtSetCurrentContext(first));
    ASSERT_ACL_OK(aclrtGetDevice(&device));
    EXPECT_EQ(device, 0);
    ASSERT_ACL_OK(aclrtSetCurrentContext(second));
    ASSERT_ACL_OK(aclrtGetDevice(&device));
    EXPECT_EQ(device, 1);
    EXPECT_ACL_OK(aclrtDestroyContext(first));
    EXPECT_EQ(current(), second);
    EXPECT_ACL_OK(aclrtDestroyContext(second));
}

TEST_F(Context, HandlesThatAreNoneAreRefused) {
    ASSERT_ACL_OK(aclrtSetDevice(0));
    aclrtContext stale = nullptr;
    ASSERT_ACL_OK(aclrtCreateContext(&stale, 0));
    ASSERT_ACL_OK(aclrtDestroyContext(stale));
    ASSERT_ACL_OK(aclrtSetDevice(0));
    aclrtStream foreign = nullptr;
    ASSERT_ACL_OK(aclrtCreateStream(&foreign));
    const auto handles = handles_that_are_none(stale, foreign);
    expect_all_refuse({{"aclrtSetCurrentContext", aclrtSetCurrentContext}}, handles, ACL_ERROR_RT_PARAM_INVALID);
    expect_all_refuse({{"aclrtDestroyContext", aclrtDestroyContext}}, handles, ACL_ERROR_RT_CONTEXT_NULL);
    EXPECT_NE(current(), nullptr);
    EXPECT_ACL_OK(aclrtDestroyStream(foreign));
}

TEST_F(Context, SharedOneCannotBeDestroyed) {
    ASSERT_ACL_OK(aclrtSetDevice(0));
    const aclrtContext primary = current();
    EXPECT_ACL_FAILS(ACL_ERROR_RT_CONTEXT_NULL, "default context", aclrtDestroyContext(primary));
    EXPECT_EQ(current(), primary);
}

TEST_F(Context, SharedOneExistsFromSetToReset) {
    int32_t active = -1;
    ASSERT_ACL_OK(aclrtGetPrimaryCtxState(2, nullptr, &active));
    EXPECT_EQ(active, 0);
    ASSERT_ACL_OK(aclrtSetDevice(2));
    ASSERT_ACL_OK(aclrtGetPrimaryCtxState(2, nullptr, &active));
    EXPECT_EQ(active, 1);
    const aclrtContext old = current();
    ASSERT_ACL_OK(aclrtResetDevice(2));
    ASSERT_ACL_OK(aclrtGetPrimaryCtxState(2, nullptr, &active));
    EXPECT_EQ(active, 0);
    EXPECT_EQ(aclrtSetCurrentContext(old), ACL_ERROR_RT_PARAM_INVALID);
    uint32_t flags = 0;
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "flags", aclrtGetPrimaryCtxState(2, &flags, &active));
}

TEST_F(Context, CreatingAnExplicitOneMakesTheSharedOneExist) {
    aclrtContext context = nullptr;
    ASSERT_ACL_OK(aclrtCreateContext(&context, 3));
    int32_t active = 0;
    ASSERT_ACL_OK(aclrtGetPrimaryCtxState(3, nullptr, &active));
    EXPECT_EQ(active, 1);
    EXPECT_ACL_OK(aclrtDestroyContext(context));
}

TEST_F(Context, ThreadWhoseContextEndedElsewhereHasNone) {
    aclrtContext context = nullptr;
    ASSERT_ACL_OK(aclrtCreateContext(&context, 0));
    std::thread([&] { EXPECT_ACL_OK(aclrtDestroyContext(context)); }).join();
    aclrtStream stream = nullptr;
    EXPECT_ACL_FAILS(ACL_ERROR_RT_CONTEXT_NULL, "context", aclrtCreateStream(&stream));
    EXPECT_ACL_FAILS(ACL_ERROR_RT_CONTEXT_NULL, "context", aclrtDestroyContext(context));
}

TEST_F(Context, ThreadsShareTheNewContextAfterAResetAndASet) {
    ASSERT_ACL_OK(aclrtSetDevice(0));
    const aclrtContext old = current();
    std::thread([&] {
        EXPECT_ACL_OK(aclrtResetDeviceForce(0));
        EXPECT_ACL_OK(aclrtSetDevice(0));
    }).join();
    EXPECT_NE(current(), old);
    EXPECT_ACL_OK(aclrtSynchronizeStream(nullptr));
}

TEST_F(Context, OptionsAreSetPerContext) {
    aclrtContext first = nullptr, second = nullptr;
    ASSERT_ACL_OK(aclrtCreateContext(&first, 0));
    int64_t value = -1;
    EXPECT_ACL_FAILS(ACL_ERROR_RT_SYSPARAMOPT_NOT_SET, "option", aclrtCtxGetSysParamOpt(ACL_OPT_DETERMINISTIC, &value));
    EXPECT_EQ(value, -1);
    ASSERT_ACL_OK(aclrtCtxSetSysParamOpt(ACL_OPT_DETERMINISTIC, 3));
    ASSERT_ACL_OK(aclrtCtxSetSysParamOpt(ACL_OPT_STRONG_CONSISTENCY, 1));
    ASSERT_ACL_OK(aclrtCtxGetSysParamOpt(ACL_OPT_DETERMINISTIC, &value));
    EXPECT_EQ(value, 3);
    EXPECT_EQ(aclrtCtxGetSysParamOpt(ACL_OPT_ENABLE_DEBUG_KERNEL, &value), ACL_ERROR_RT_SYSPARAMOPT_NOT_SET);
    ASSERT_ACL_OK(aclrtCreateContext(&second, 0));
    EXPECT_EQ(aclrtCtxGetSysParamOpt(ACL_OPT_DETERMINISTIC, &value), ACL_ERROR_RT_SYSPARAMOPT_NOT_SET);
    ASSERT_ACL_OK(aclrtSetCurrentContext(first));
    ASSERT_ACL_OK(aclrtCtxGetSysParamOpt(ACL_OPT_STRONG_CONSISTENCY, &value));
    EXPECT_EQ(value, 1);
    for (const int unknown : {-1, 4, 1000}) {
        const auto option = static_cast<aclSysParamOpt>(unknown);
        EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "opt", aclrtCtxSetSysParamOpt(option, 1));
        EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "opt", aclrtCtxGetSysParamOpt(option, &value));
    }
    EXPECT_ACL_OK(aclrtDestroyContext(first));
    EXPECT_ACL_OK(aclrtDestroyContext(second));
}

// ---- what belongs to a context -------------------------------------------------------------------------------------

class ContextWork : public KernelTest {
protected:
    void SetUp() override {
        KernelTest::SetUp();
        ASSERT_ACL_OK(aclrtGetCurrentContext(&primary_));
        ASSERT_ACL_OK(aclrtCreateContext(&other_, 0));
    }
    void TearDown() override {
        if (other_) EXPECT_ACL_OK(aclrtDestroyContext(other_));
        ASSERT_ACL_OK(aclrtSetCurrentContext(primary_));
        KernelTest::TearDown();
    }
    aclrtContext primary_ = nullptr;
    aclrtContext other_ = nullptr;
};

TEST_F(ContextWork, StreamsOfAnotherOneTakeNoWork) {
    void* memory = device_memory(64);
    ASSERT_ACL_OK(aclrtSetCurrentContext(primary_));
    aclrtFuncHandle increment = function("increment");
    aclrtEvent event = nullptr;
    aclrtNotify notify = nullptr, counting = nullptr;
    ASSERT_ACL_OK(aclrtCreateEvent(&event));
    ASSERT_ACL_OK(aclrtCreateNotify(&notify, 0));
    ASSERT_ACL_OK(aclrtCntNotifyCreate(&counting, 0));
    ASSERT_ACL_OK(aclrtSetCurrentContext(other_));
    aclrtCntNotifyRecordInfo record = {};
    aclrtCntNotifyWaitInfo wait = {};
    aclrtStreamAttrValue value = {};
    const std::vector<HandleCall> calls = {
        {"launch",
         [&](void* s) { return aclrtLaunchKernelWithHostArgs(increment, 1, s, nullptr, &memory, 8, nullptr, 0); }},
        {"launch device", [&](void* s) { return aclrtLaunchKernel(increment, 1, memory, 8, s); }},
        {"record", [&](void* s) { return aclrtRecordEvent(event, s); }},
        {"wait", [&](void* s) { return aclrtStreamWaitEvent(s, event); }},
        {"reset event", [&](void* s) { return aclrtResetEvent(event, s); }},
        {"record notify", [&](void* s) { return aclrtRecordNotify(notify, s); }},
        {"wait notify", [&](void* s) { return aclrtWaitAndResetNotify(notify, s, 0); }},
        {"record counting", [&](void* s) { return aclrtCntNotifyRecord(counting, s, &record); }},
        {"wait counting", [&](void* s) { return aclrtCntNotifyWaitWithTimeout(counting, s, &wait); }},
        {"reset counting", [&](void* s) { return aclrtCntNotifyReset(counting, s); }},
        {"copy", [&](void* s) { return aclrtMemcpyAsync(memory, 8, memory, 8, ACL_MEMCPY_DEVICE_TO_DEVICE, s); }},
        {"fill", [&](void* s) { return aclrtMemsetAsync(memory, 8, 0, 8, s); }},
        {"value write", [&](void* s) { return aclrtValueWrite(memory, 0, 0, s); }},
        {"host function",
         [&](void* s) {
             return aclrtLaunchHostFunc(
                 s, [](void*) {}, nullptr);
         }},
        {"callback", [&](void* s) { return aclrtLaunchCallback([](void*) {}, nullptr, ACL_CALLBACK_BLOCK, s); }},
        {"subscribe", [&](void* s) { return aclrtSubscribeReport(1, s); }},
        {"abort", [&](void* s) { return aclrtStreamAbort(s); }},
        {"failure mode", [&](void* s) { return aclrtSetStreamFailureMode(s, 1); }},
        {"set attribute", [&](void* s) { return aclrtSetStreamAttribute(s, ACL_STREAM_ATTR_USER_CUSTOM_TAG, &value); }},
        {"get attribute", [&](void* s) { return aclrtGetStreamAttribute(s, ACL_STREAM_ATTR_USER_CUSTOM_TAG, &value); }},
        {"overflow switch", [&](void* s) { return aclrtSetStreamOverflowSwitch(s, 1); }},
        {"destroy", [&](void* s) { return aclrtDestroyStream(s); }},
        {"destroy force", [&](void* s) { return aclrtDestroyStreamForce(s); }},
    };
    expect_all_refuse(calls, {{"of another context", stream_}}, ACL_ERROR_RT_STREAM_CONTEXT);

    // Synchronising and querying work from any context.
    aclrtStreamStatus status = ACL_STREAM_STATUS_RESERVED;
    EXPECT_ACL_OK(aclrtSynchronizeStream(stream_));
    EXPECT_ACL_OK(aclrtSynchronizeStreamWithTimeout(stream_, 1000));
    EXPECT_ACL_OK(aclrtStreamQuery(stream_, &status));
    EXPECT_EQ(status, ACL_STREAM_STATUS_COMPLETE);
    aclrtEventRecordedStatus recorded = ACL_EVENT_RECORDED_STATUS_COMPLETE;
    EXPECT_ACL_OK(aclrtQueryEventStatus(event, &recorded));
    EXPECT_ACL_OK(aclrtSynchronizeEvent(event));
    EXPECT_ACL_OK(aclrtCntNotifyDestroy(counting));
    EXPECT_ACL_OK(aclrtDestroyNotify(notify));
    EXPECT_ACL_OK(aclrtDestroyEvent(event));
}

TEST_F(ContextWork, DestroyingOneEndsItsStreamsAfterTheirWork) {
    auto* counter = device_array<uint32_t>({0});
    aclrtStream streams[4] = {};
    for (aclrtStream& stream : streams) {
        ASSERT_ACL_OK(aclrtCreateStream(&stream));
        for (int i = 0; i < 50; ++i) ASSERT_ACL_OK(launch("nothing", 1, stream));
    }
    for (int i = 0; i < 100; ++i) ASSERT_ACL_OK(launch("increment", 1, nullptr, counter));
    ASSERT_ACL_OK(aclrtDestroyContext(other_));
    other_ = nullptr;
    ASSERT_ACL_OK(aclrtSetCurrentContext(primary_));
    for (aclrtStream stream : streams) EXPECT_EQ(aclrtSynchronizeStream(stream), ACL_ERROR_RT_INVALID_HANDLE);
    if (device_computes()) EXPECT_EQ(read_back(counter, 1)[0], 100u);
}

TEST_F(ContextWork, DestroyingOneDropsWorkBeforeAWaitNobodyEnds) {
    Gate gate;
    auto* counter = device_array<uint32_t>({0});
    aclrtStream stream = nullptr;
    ASSERT_ACL_OK(aclrtCreateStream(&stream));
    ASSERT_ACL_OK(launch("increment", 1, stream, counter));
    gate.hold(stream);
    ASSERT_ACL_OK(launch("increment", 1, stream, counter));
    ASSERT_ACL_OK(aclrtDestroyContext(other_));
    other_ = nullptr;
    ASSERT_ACL_OK(aclrtSetCurrentContext(primary_));
    if (device_computes()) EXPECT_EQ(read_back(counter, 1)[0], 1u);
}

TEST_F(ContextWork, SynchronisingTheDeviceWaitsForTheCurrentOneOnly) {
    if (!device_computes()) GTEST_SKIP();
    Gate gate;
    ASSERT_ACL_OK(aclrtSetCurrentContext(primary_));
    gate.hold(stream_);
    auto* counter = device_array<uint32_t>({0});
    ASSERT_ACL_OK(aclrtSetCurrentContext(other_));
    aclrtStream stream = nullptr;
    ASSERT_ACL_OK(aclrtCreateStream(&stream));
    for (int i = 0; i < 200; ++i) ASSERT_ACL_OK(launch("increment", 1, stream, counter));
    EXPECT_ACL_OK(aclrtSynchronizeDevice());
    EXPECT_EQ(read_back(counter, 1)[0], 200u);
    EXPECT_FALSE(stands_still(stream));
    EXPECT_TRUE(stands_still(stream_));
    ASSERT_ACL_OK(aclrtSetCurrentContext(primary_));
    EXPECT_EQ(aclrtSynchronizeDeviceWithTimeout(5), ACL_ERROR_RT_STREAM_SYNC_TIMEOUT);
    gate.open();
    EXPECT_ACL_OK(aclrtSynchronizeDeviceWithTimeout(-1));
}

TEST_F(ContextWork, MemoryBelongsToTheDeviceNotToTheContext) {
    ASSERT_ACL_OK(aclrtSetCurrentContext(other_));
    void* memory = nullptr;
    ASSERT_ACL_OK(aclrtMalloc(&memory, 4096, ACL_MEM_MALLOC_NORMAL_ONLY));
    ASSERT_ACL_OK(aclrtDestroyContext(other_));
    other_ = nullptr;
    ASSERT_ACL_OK(aclrtSetCurrentContext(primary_));
    EXPECT_ACL_OK(aclrtMemset(memory, 4096, 1, 4096));
    EXPECT_ACL_OK(aclrtFree(memory));
}

TEST_F(ContextWork, InitialisingThreeTimesWithContextsAndStreamsWorks) {
    ASSERT_ACL_OK(aclrtDestroyContext(other_));
    other_ = nullptr;
    ASSERT_ACL_OK(aclrtSetCurrentContext(primary_));
    KernelTest::TearDown();
    for (int round = 0; round < 3; ++round) {
        ASSERT_ACL_OK(aclInit(nullptr));
        ASSERT_ACL_OK(aclrtSetDevice(0));
        aclrtContext context = nullptr;
        ASSERT_ACL_OK(aclrtCreateContext(&context, 0));
        aclrtStream stream = nullptr;
        ASSERT_ACL_OK(aclrtCreateStream(&stream));
        ASSERT_ACL_OK(aclrtSynchronizeStream(stream));
        ASSERT_ACL_OK(aclrtDestroyStream(stream));
        ASSERT_ACL_OK(aclrtDestroyContext(context));
        ASSERT_ACL_OK(aclrtResetDevice(0));
        ASSERT_ACL_OK(aclFinalize());
    }
    KernelTest::SetUp();
    ASSERT_ACL_OK(aclrtGetCurrentContext(&primary_));
}

TEST_F(ContextWork, ContextsComeAndGoInManyThreads) {
    std::vector<std::thread> threads;
    for (int t = 0; t < 8; ++t) {
        threads.emplace_back([t] {
            for (int i = 0; i < 20; ++i) {
                aclrtContext context = nullptr;
                EXPECT_ACL_OK(aclrtCreateContext(&context, t % 2));
                aclrtStream stream = nullptr;
                EXPECT_ACL_OK(aclrtCreateStream(&stream));
                EXPECT_ACL_OK(aclrtSynchronizeDevice());
                EXPECT_ACL_OK(aclrtDestroyContext(context));
                EXPECT_EQ(aclrtSynchronizeStream(stream), ACL_ERROR_RT_INVALID_HANDLE);
            }
        });
    }
    for (std::thread& thread : threads) thread.join();
}

}  // namespace
}  // namespace conformance
