// SPDX-License-Identifier: Apache-2.0
// Failing kernels: the next synchronisation returns the right code, and everything else continues to work.
#include <atomic>
#include <functional>
#include <thread>

#include "fixtures/fixture.h"
#include "fixtures/holding.h"

namespace conformance {
namespace {

std::atomic<int> exceptions{0};
void count_exception(aclrtExceptionInfo*) { exceptions.fetch_add(1); }

class Fault : public KernelTest {
protected:
    void SetUp() override {
        KernelTest::SetUp();
        if (!device_computes()) GTEST_SKIP() << "this device runs no kernels";
        exceptions.store(0);
        ASSERT_ACL_OK(aclrtExceptionInfoCallbackRegister(&count_exception));
        ASSERT_ACL_OK(aclrtCreateStream(&bystander_));
        counter_ = device_array<uint32_t>({0});
    }
    void TearDown() override {
        if (bystander_) EXPECT_ACL_OK(aclrtDestroyStream(bystander_));
        EXPECT_ACL_OK(aclrtExceptionInfoCallbackUnregister(&count_exception));
        KernelTest::TearDown();
    }
    uint32_t count() { return read_back(counter_, 1)[0]; }
    aclError increment(aclrtStream stream) { return launch("increment", 1, stream, counter_); }

    // `fails` queues one task on stream_ that fails with `code` and a message containing `words`.
    void expect_fault(aclError code, const char* words, const std::function<aclError()>& fails) {
        ASSERT_ACL_OK(aclrtMemset(counter_, 4, 0, 4));
        const int before = exceptions.load();
        ASSERT_ACL_OK(increment(stream_));
        ASSERT_ACL_OK(aclrtSynchronizeStream(stream_));
        ASSERT_ACL_OK(fails());
        ASSERT_ACL_OK(increment(stream_));
        EXPECT_ACL_FAILS(code, words, aclrtSynchronizeStream(stream_));
        EXPECT_EQ(exceptions.load(), before + 1) << "the callback comes before the synchronisation returns";
        EXPECT_EQ(aclrtGetLastError(ACL_RT_THREAD_LEVEL), code);
        EXPECT_ACL_OK(aclrtSynchronizeStream(stream_));  // reported only once
        // Not earlier: the counter is not atomic, and a memory check cannot tell which of two running kernels did the
        // damage.
        ASSERT_ACL_OK(increment(bystander_));
        EXPECT_ACL_OK(aclrtSynchronizeStream(bystander_));
        EXPECT_EQ(count(), 3u) << "this stream and others go on after the fault";
        expect_all_well();
    }

    // Checks malloc, copies, new streams, other streams and the stream itself.
    void expect_all_well() {
        std::vector<uint32_t> words(1000, 7), back(1000);
        void* memory = nullptr;
        ASSERT_ACL_OK(aclrtMalloc(&memory, 4000, ACL_MEM_MALLOC_HUGE_FIRST));
        EXPECT_ACL_OK(aclrtMemcpy(memory, 4000, words.data(), 4000, ACL_MEMCPY_HOST_TO_DEVICE));
        EXPECT_ACL_OK(aclrtMemcpy(back.data(), 4000, memory, 4000, ACL_MEMCPY_DEVICE_TO_HOST));
        EXPECT_EQ(words, back);
        EXPECT_ACL_OK(aclrtFree(memory));
        aclrtStream fresh = nullptr;
        ASSERT_ACL_OK(aclrtCreateStream(&fresh));
        ASSERT_ACL_OK(aclrtMemset(counter_, 4, 0, 4));
        for (aclrtStream stream : {fresh, bystander_, stream_}) {
            ASSERT_ACL_OK(increment(stream));
            EXPECT_ACL_OK(aclrtSynchronizeStream(stream));
        }
        EXPECT_EQ(count(), 3u);
        EXPECT_ACL_OK(aclrtDestroyStreamForce(fresh));
    }

    aclrtStream bystander_ = nullptr;
    uint32_t* counter_ = nullptr;
};

TEST_F(Fault, TrapIsAVectorException) {
    expect_fault(ACL_ERROR_RT_VECTOR_CORE_EXCEPTION, "trap_always", [&] { return launch("trap_always", 1, stream_); });
}

TEST_F(Fault, TrapOnACubeCoreIsAnAiCoreException) {
    expect_fault(ACL_ERROR_RT_AICORE_EXCEPTION, "trap_on_cube", [&] { return launch("trap_on_cube", 1, stream_); });
}

TEST_F(Fault, TrapInOneBlockFailsTheLaunch) {
    for (const uint32_t blocks : {2u, 20u, 48u, 500u})
        expect_fault(ACL_ERROR_RT_VECTOR_CORE_EXCEPTION, "trap",
                     [&] { return launch("trap_in_block", blocks, stream_, blocks - 1); });
}

TEST_F(Fault, StoreOutsideDeviceMemory) {
    for (const uint64_t address :
         {uint64_t{0}, uint64_t{8}, uint64_t{0x1000}, uint64_t{0xFFFFFFFFFFFFFFF8}, uint64_t{0x7000000000000000}})
        expect_fault(ACL_ERROR_RT_VECTOR_CORE_EXCEPTION, "store_at",
                     [&] { return launch("store_at", 1, stream_, address, 5u); });
}

TEST_F(Fault, LoadOutsideDeviceMemory) {
    expect_fault(ACL_ERROR_RT_VECTOR_CORE_EXCEPTION, "access",
                 [&] { return launch("load_at", 1, stream_, uint64_t{16}, counter_ + 8); });
}

TEST_F(Fault, DivisionByZero) {
    expect_fault(ACL_ERROR_RT_VECTOR_CORE_EXCEPTION, "divided",
                 [&] { return launch("divide", 1, stream_, counter_ + 8, 1, 0); });
}

TEST_F(Fault, StackOverflow) {
    expect_fault(ACL_ERROR_RT_VECTOR_CORE_EXCEPTION, "stack",
                 [&] { return launch("overflow_stack", 1, stream_, counter_ + 8); });
}

TEST_F(Fault, StackOverflowInManyBlocks) {
    expect_fault(ACL_ERROR_RT_VECTOR_CORE_EXCEPTION, "stack",
                 [&] { return launch("overflow_stack", 8, stream_, counter_ + 8); });
}

aclError launch_limited(aclrtFuncHandle func, uint32_t blocks, aclrtStream stream, void* arguments, size_t size) {
    aclrtLaunchKernelAttr attribute = {};
    attribute.id = ACL_RT_LAUNCH_KERNEL_ATTR_TIMEOUT_US;
    attribute.value.timeoutUs.timeoutLow = 10000;
    aclrtLaunchKernelCfg config = {&attribute, 1};
    return aclrtLaunchKernelWithHostArgs(func, blocks, stream, &config, arguments, size, nullptr, 0);
}

TEST_F(Fault, KernelThatNeverReturns) {
    SharedWord started;
    void* argument = started.device();
    expect_fault(ACL_ERROR_RT_VECTOR_CORE_TIMEOUT, "never_return",
                 [&] { return launch_limited(function("never_return"), 1, stream_, &argument, 8); });
}

TEST_F(Fault, OneBlockThatNeverReturns) {
    for (const uint64_t together : {0u, 1u}) {
        uint64_t arguments[] = {3, together};
        expect_fault(ACL_ERROR_RT_VECTOR_CORE_TIMEOUT, "never_return_in_block",
                     [&] { return launch_limited(function("never_return_in_block"), 10, stream_, arguments, 16); });
    }
}

TEST_F(Fault, BarrierThatSomeBlocksMissFails) {
    for (const uint32_t blocks : {2u, 7u, 48u})
        expect_fault(ACL_ERROR_RT_VECTOR_CORE_TIMEOUT, "SyncAll",
                     [&] { return launch("miss_barrier", blocks, stream_, blocks / 2); });
}

TEST_F(Fault, BarrierOfMoreBlocksThanCoresFails) {
    auto* words = device_array<uint32_t>({0, 0});
    expect_fault(ACL_ERROR_RT_VECTOR_CORE_TIMEOUT, "SyncAll",
                 [&] { return launch("meet_in_barrier", 49, stream_, words, words + 1, 1u); });
}

TEST_F(Fault, OneByteBehindABufferIsFoundInCheckingMode) {
    if (!checking_mode()) GTEST_SKIP() << "needs checking mode";
    for (const size_t size : {1u, 7u, 64u, 1000u, 4096u, 5000u}) {
        auto* buffer = static_cast<uint8_t*>(device_memory(size));
        expect_fault(ACL_ERROR_RT_VECTOR_CORE_EXCEPTION, "store_byte_at", [&] {
            return launch("store_byte_at", 1, stream_, buffer, static_cast<uint64_t>(size), uint8_t{1});
        });
        ASSERT_ACL_OK(launch("store_byte_at", 1, stream_, buffer, static_cast<uint64_t>(size - 1), uint8_t{1}));
        EXPECT_ACL_OK(aclrtSynchronizeStream(stream_));
    }
}

TEST_F(Fault, ManyAtOnceOnManyStreams) {
    std::vector<aclrtStream> streams(12);
    SharedWord started;
    void* argument = started.device();
    for (aclrtStream& stream : streams) ASSERT_ACL_OK(aclrtCreateStream(&stream));
    for (int round = 0; round < 5; ++round) {
        for (size_t i = 0; i < streams.size(); ++i) {
            switch (i % 6) {
                case 0:
                    ASSERT_ACL_OK(launch("trap_always", 1, streams[i]));
                    break;
                case 1:
                    ASSERT_ACL_OK(launch("store_at", 4, streams[i], uint64_t{24}, 1u));
                    break;
                case 2:
                    ASSERT_ACL_OK(launch("overflow_stack", 1, streams[i], counter_ + 8));
                    break;
                case 3:
                    ASSERT_ACL_OK(launch("divide", 1, streams[i], counter_ + 8, 4, 0));
                    break;
                case 4:
                    ASSERT_ACL_OK(launch("miss_barrier", 6, streams[i], 2u));
                    break;
                default:
                    ASSERT_ACL_OK(launch_limited(function("never_return"), 2, streams[i], &argument, 8));
            }
        }
        for (size_t i = 0; i < streams.size(); ++i)
            EXPECT_EQ(aclrtSynchronizeStream(streams[i]),
                      i % 6 < 4 ? ACL_ERROR_RT_VECTOR_CORE_EXCEPTION : ACL_ERROR_RT_VECTOR_CORE_TIMEOUT);
    }
    for (aclrtStream stream : streams) EXPECT_ACL_OK(aclrtDestroyStream(stream));
    expect_all_well();
}

TEST_F(Fault, DeviceCanBeResetAndUsedAgain) {
    ASSERT_ACL_OK(launch("trap_always", 4, stream_));
    ASSERT_ACL_OK(launch("store_at", 1, bystander_, uint64_t{8}, 1u));
    EXPECT_ACL_OK(aclrtResetDeviceForce(0));
    bystander_ = nullptr;
    ASSERT_ACL_OK(aclrtSetDevice(0));
    stream_ = nullptr;
    ASSERT_ACL_OK(aclrtCreateStream(&stream_));
    ASSERT_ACL_OK(aclrtMemset(counter_, 4, 0, 4));
    ASSERT_ACL_OK(increment(stream_));
    ASSERT_ACL_OK(aclrtSynchronizeStream(stream_));
    EXPECT_EQ(count(), 1u);
}

TEST_F(Fault, FirstFailureOfAStreamIsTheOneReported) {
    Gate gate;
    gate.hold(stream_);
    ASSERT_ACL_OK(launch("trap_on_cube", 1, stream_));
    ASSERT_ACL_OK(launch("trap_always", 1, stream_));
    gate.open();
    EXPECT_EQ(aclrtSynchronizeStream(stream_), ACL_ERROR_RT_AICORE_EXCEPTION);
    EXPECT_ACL_OK(aclrtSynchronizeStream(stream_));
    EXPECT_EQ(exceptions.load(), 2);
}

TEST_F(Fault, IsReportedByWhicheverSynchronisationComesFirst) {
    ASSERT_ACL_OK(launch("trap_always", 1, stream_));
    EXPECT_EQ(aclrtSynchronizeDevice(), ACL_ERROR_RT_VECTOR_CORE_EXCEPTION);
    EXPECT_ACL_OK(aclrtSynchronizeStream(stream_));
    ASSERT_ACL_OK(launch("trap_always", 1, stream_));
    EXPECT_EQ(aclrtSynchronizeStreamWithTimeout(stream_, 100000), ACL_ERROR_RT_VECTOR_CORE_EXCEPTION);
    EXPECT_ACL_OK(aclrtSynchronizeDevice());
}

// ---- failure modes -------------------------------------------------------------------------------------------------

TEST_F(Fault, ContinueModeRunsLaterTasksAndStopModeSkipsThem) {
    // In a separate context, since a stopped context accepts no more work.
    aclrtContext home = nullptr, context = nullptr;
    ASSERT_ACL_OK(aclrtGetCurrentContext(&home));
    ASSERT_ACL_OK(aclrtCreateContext(&context, 0));
    aclrtStream stream = nullptr;
    ASSERT_ACL_OK(aclrtCreateStream(&stream));

    ASSERT_ACL_OK(aclrtSetStreamFailureMode(stream, ACL_CONTINUE_ON_FAILURE));
    ASSERT_ACL_OK(increment(stream));
    ASSERT_ACL_OK(launch("trap_always", 1, stream));
    ASSERT_ACL_OK(increment(stream));
    EXPECT_EQ(aclrtSynchronizeStream(stream), ACL_ERROR_RT_VECTOR_CORE_EXCEPTION);
    EXPECT_EQ(count(), 2u);

    ASSERT_ACL_OK(aclrtSetStreamFailureMode(stream, ACL_STOP_ON_FAILURE));  // allowed after a failure
    EXPECT_ACL_FAILS(ACL_ERROR_RT_PARAM_INVALID, "cannot be undone",
                     aclrtSetStreamFailureMode(stream, ACL_CONTINUE_ON_FAILURE));
    ASSERT_ACL_OK(aclrtMemset(counter_, 4, 0, 4));
    Gate gate;
    gate.hold(stream);
    ASSERT_ACL_OK(increment(stream));
    ASSERT_ACL_OK(launch("trap_always", 1, stream));
    ASSERT_ACL_OK(increment(stream));
    gate.open();
    EXPECT_EQ(aclrtSynchronizeStream(stream), ACL_ERROR_RT_VECTOR_CORE_EXCEPTION);
    EXPECT_EQ(count(), 1u);

    // The context accepts no more tasks on any stream, and gives the reason each time.
    EXPECT_EQ(aclrtSynchronizeStream(stream), ACL_ERROR_RT_VECTOR_CORE_EXCEPTION);
    EXPECT_ACL_FAILS(ACL_ERROR_RT_VECTOR_CORE_EXCEPTION, "stopped", increment(stream));
    EXPECT_EQ(increment(nullptr), ACL_ERROR_RT_VECTOR_CORE_EXCEPTION);
    EXPECT_ACL_OK(aclrtStreamStop(stream));
    EXPECT_ACL_OK(aclrtStreamAbort(stream));
    EXPECT_EQ(aclrtSynchronizeStream(stream), ACL_ERROR_RT_VECTOR_CORE_EXCEPTION);

    // These calls still work.
    uint32_t value = 9;
    void* memory = nullptr;
    aclrtStream another = nullptr;
    EXPECT_ACL_OK(aclrtMemcpy(&value, 4, counter_, 4, ACL_MEMCPY_DEVICE_TO_HOST));
    EXPECT_EQ(value, 1u);
    EXPECT_ACL_OK(aclrtMalloc(&memory, 100, ACL_MEM_MALLOC_HUGE_FIRST));
    EXPECT_ACL_OK(aclrtFree(memory));
    EXPECT_ACL_OK(aclrtCreateStream(&another));
    EXPECT_ACL_OK(aclrtDestroyStreamForce(another));
    EXPECT_ACL_OK(aclrtDestroyStreamForce(stream));
    EXPECT_ACL_OK(aclrtDestroyContext(context));
    ASSERT_ACL_OK(aclrtSetCurrentContext(home));
    ASSERT_ACL_OK(increment(stream_));  // other contexts of the device are not affected
    EXPECT_ACL_OK(aclrtSynchronizeStream(stream_));
}

TEST_F(Fault, StopModeOfTheDefaultStreamStopsItsContext) {
    aclrtContext home = nullptr, context = nullptr;
    ASSERT_ACL_OK(aclrtGetCurrentContext(&home));
    ASSERT_ACL_OK(aclrtCreateContext(&context, 0));
    ASSERT_ACL_OK(aclrtSetStreamFailureMode(nullptr, ACL_STOP_ON_FAILURE));
    aclrtStream stream = nullptr;
    ASSERT_ACL_OK(aclrtCreateStream(&stream));
    ASSERT_ACL_OK(launch("trap_always", 1, nullptr));
    EXPECT_EQ(aclrtSynchronizeStream(nullptr), ACL_ERROR_RT_VECTOR_CORE_EXCEPTION);
    EXPECT_EQ(increment(stream), ACL_ERROR_RT_VECTOR_CORE_EXCEPTION);
    EXPECT_EQ(aclrtSynchronizeStream(stream), ACL_ERROR_RT_VECTOR_CORE_EXCEPTION);
    EXPECT_EQ(aclrtSynchronizeDevice(), ACL_ERROR_RT_VECTOR_CORE_EXCEPTION);
    EXPECT_ACL_OK(aclrtDestroyContext(context));
    ASSERT_ACL_OK(aclrtSetCurrentContext(home));
}

}  // namespace
}  // namespace conformance
