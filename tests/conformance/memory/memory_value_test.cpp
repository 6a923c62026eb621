// SPDX-License-Identifier: Apache-2.0
// Words that streams write and wait for, cache hints and barriers.
#include "fixtures/fixture.h"

namespace conformance {
namespace {

class MemoryValue : public DeviceTest {
protected:
    void SetUp() override {
        DeviceTest::SetUp();
        word_ = static_cast<uint64_t*>(device_memory(64));
        set(0);
        ASSERT_ACL_OK(aclrtCreateStream(&other_));
    }
    void TearDown() override {
        EXPECT_ACL_OK(aclrtDestroyStream(other_));
        DeviceTest::TearDown();
    }
    void set(uint64_t value) { ASSERT_ACL_OK(aclrtMemcpy(word_, 8, &value, 8, ACL_MEMCPY_HOST_TO_DEVICE)); }
    uint64_t get() { return read_back(word_, 1)[0]; }
    void expect_passes(uint64_t present, uint64_t value, uint32_t flag) {
        set(present);
        EXPECT_ACL_OK(aclrtValueWait(word_, value, flag, stream_));
        EXPECT_ACL_OK(aclrtSynchronizeStream(stream_));
    }
    // Leaves the word at `later`, which satisfies the wait.
    void expect_holds(uint64_t present, uint64_t value, uint32_t flag, uint64_t later) {
        set(present);
        EXPECT_ACL_OK(aclrtValueWait(word_, value, flag, stream_));
        EXPECT_EQ(aclrtSynchronizeStreamWithTimeout(stream_, 5), ACL_ERROR_RT_STREAM_SYNC_TIMEOUT);
        set(later);
        EXPECT_ACL_OK(aclrtSynchronizeStream(stream_));
    }
    uint64_t* word_ = nullptr;
    aclrtStream other_ = nullptr;
};

TEST_F(MemoryValue, WriteHappensInOrder) {
    if (!device_computes()) GTEST_SKIP();
    for (uint64_t value = 1; value <= 50; ++value) ASSERT_ACL_OK(aclrtValueWrite(word_, value << 33, 0, stream_));
    ASSERT_ACL_OK(aclrtSynchronizeStream(stream_));
    EXPECT_EQ(get(), uint64_t{50} << 33);
    ASSERT_ACL_OK(aclrtValueWrite(word_, 3, 0, nullptr));
    ASSERT_ACL_OK(aclrtSynchronizeStream(nullptr));
    EXPECT_EQ(get(), 3u);
}

TEST_F(MemoryValue, WaitHoldsLaterWorkUntilAnotherStreamWrites) {
    if (!device_computes()) GTEST_SKIP();
    auto* flag = static_cast<uint64_t*>(device_memory(8));
    ASSERT_ACL_OK(aclrtMemset(flag, 8, 0, 8));
    ASSERT_ACL_OK(aclrtValueWait(word_, 5, 0, stream_));
    ASSERT_ACL_OK(aclrtValueWrite(flag, 1, 0, stream_));
    ASSERT_ACL_OK(aclrtValueWrite(word_, 4, 0, other_));
    ASSERT_ACL_OK(aclrtSynchronizeStream(other_));
    EXPECT_EQ(read_back(flag, 1)[0], 0u);
    ASSERT_ACL_OK(aclrtValueWrite(word_, 6, 0, other_));
    ASSERT_ACL_OK(aclrtSynchronizeStream(stream_));
    EXPECT_EQ(read_back(flag, 1)[0], 1u);
}

TEST_F(MemoryValue, ConditionsAreThoseOfTheirFlags) {
    if (!device_computes()) GTEST_SKIP();
    constexpr uint32_t at_least = 0, equal = 1, bits_and = 2, bits_nor = 3;
    expect_passes(5, 5, at_least);
    expect_passes(6, 5, at_least);
    expect_passes(1, UINT64_MAX, at_least);  // the signed difference is 2
    expect_holds(4, 5, at_least, 5);
    expect_holds(UINT64_MAX, 1, at_least, 1);
    expect_passes(5, 5, equal);
    expect_holds(6, 5, equal, 5);
    expect_passes(6, 2, bits_and);
    expect_holds(4, 2, bits_and, 3);
    expect_passes(0, 1, bits_nor);
    expect_holds(UINT64_MAX - 1, 1, bits_nor, 0);
}

TEST_F(MemoryValue, ArgumentsAreChecked) {
    char* word = reinterpret_cast<char*>(word_);
    uint64_t local = 0;
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "devAddr", aclrtValueWrite(nullptr, 1, 0, stream_));
    EXPECT_ACL_FAILS(ACL_ERROR_RT_PARAM_INVALID, "multiple of 8", aclrtValueWrite(word + 4, 1, 0, stream_));
    EXPECT_ACL_FAILS(ACL_ERROR_RT_PARAM_INVALID, "flag", aclrtValueWrite(word_, 1, 1, stream_));
    EXPECT_ACL_FAILS(ACL_ERROR_RT_PARAM_INVALID, "device memory", aclrtValueWrite(&local, 1, 0, stream_));
    EXPECT_ACL_FAILS(ACL_ERROR_RT_INVALID_HANDLE, "stream", aclrtValueWrite(word_, 1, 0, &local));
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "devAddr", aclrtValueWait(nullptr, 1, 0, stream_));
    EXPECT_ACL_FAILS(ACL_ERROR_RT_PARAM_INVALID, "multiple of 8", aclrtValueWait(word + 1, 1, 0, stream_));
    EXPECT_ACL_FAILS(ACL_ERROR_RT_PARAM_INVALID, "flag", aclrtValueWait(word_, 1, 4, stream_));
    EXPECT_ACL_FAILS(ACL_ERROR_RT_PARAM_INVALID, "device memory", aclrtValueWait(&local, 1, 0, stream_));
    EXPECT_ACL_FAILS(ACL_ERROR_RT_INVALID_HANDLE, "stream", aclrtValueWait(word_, 1, 0, &local));
}

using MemoryCacheHint = DeviceTest;

TEST_F(MemoryCacheHint, PrefetchHasItsPlaceInTheStream) {
    void* memory = device_memory(4096);
    EXPECT_ACL_OK(aclrtCmoAsync(memory, 4096, ACL_RT_CMO_TYPE_PREFETCH, stream_));
    size_t size = 0;
    ASSERT_ACL_OK(aclrtCmoGetDescSize(&size));
    void* descriptor = device_memory(size);
    ASSERT_ACL_OK(aclrtMemset(descriptor, size, 0, size));
    EXPECT_ACL_FAILS(ACL_ERROR_RT_PARAM_INVALID, "cmoDesc",
                     aclrtCmoAsyncWithDesc(descriptor, ACL_RT_CMO_TYPE_PREFETCH, stream_, nullptr));
    ASSERT_ACL_OK(aclrtCmoSetDesc(descriptor, memory, 4096));
    EXPECT_ACL_OK(aclrtCmoAsyncWithDesc(descriptor, ACL_RT_CMO_TYPE_PREFETCH, stream_, nullptr));
    EXPECT_ACL_OK(aclrtSynchronizeStream(stream_));
}

TEST_F(MemoryCacheHint, ArgumentsAreChecked) {
    void* memory = device_memory(4096);
    int local = 0;
    const auto prefetch = ACL_RT_CMO_TYPE_PREFETCH;
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "src", aclrtCmoAsync(nullptr, 64, prefetch, stream_));
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "size", aclrtCmoAsync(memory, 0, prefetch, stream_));
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "cmoType",
                     aclrtCmoAsync(memory, 64, static_cast<aclrtCmoType>(9), stream_));
    for (auto type : {ACL_RT_CMO_TYPE_WRITEBACK, ACL_RT_CMO_TYPE_INVALID, ACL_RT_CMO_TYPE_FLUSH})
        EXPECT_ACL_FAILS(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, "cmoType", aclrtCmoAsync(memory, 64, type, stream_));
    EXPECT_ACL_FAILS(ACL_ERROR_RT_PARAM_INVALID, "device memory", aclrtCmoAsync(&local, 4, prefetch, stream_));
    EXPECT_ACL_FAILS(ACL_ERROR_RT_INVALID_HANDLE, "stream", aclrtCmoAsync(memory, 64, prefetch, &local));
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "size", aclrtCmoGetDescSize(nullptr));
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "cmoDesc", aclrtCmoSetDesc(nullptr, memory, 64));
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "src", aclrtCmoSetDesc(memory, nullptr, 64));
    EXPECT_ACL_FAILS(ACL_ERROR_RT_PARAM_INVALID, "size", aclrtCmoSetDesc(memory, memory, 0));
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "cmoDesc", aclrtCmoAsyncWithDesc(nullptr, prefetch, stream_, nullptr));
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "reserve", aclrtCmoAsyncWithDesc(memory, prefetch, stream_, &local));
}

TEST_F(MemoryCacheHint, BarriersAreForStreamsOfModels) {
    void* memory = device_memory(64);
    aclrtBarrierTaskInfo barriers = {};
    barriers.barrierNum = 1;
    const auto invalid = ACL_RT_CMO_TYPE_INVALID;
    EXPECT_ACL_FAILS(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, "model",
                     aclrtCmoAsyncWithBarrier(memory, 64, invalid, 1, stream_));
    EXPECT_ACL_FAILS(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, "model", aclrtCmoWaitBarrier(&barriers, stream_, 0));
    EXPECT_ACL_FAILS(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, "cmoType",
                     aclrtCmoAsyncWithBarrier(memory, 64, ACL_RT_CMO_TYPE_PREFETCH, 1, stream_));
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "src", aclrtCmoAsyncWithBarrier(nullptr, 64, invalid, 1, stream_));
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "size", aclrtCmoAsyncWithBarrier(memory, 0, invalid, 1, stream_));
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "taskInfo", aclrtCmoWaitBarrier(nullptr, stream_, 0));
    EXPECT_ACL_FAILS(ACL_ERROR_RT_PARAM_INVALID, "flag", aclrtCmoWaitBarrier(&barriers, stream_, 1));
    barriers.barrierNum = 0;
    EXPECT_ACL_FAILS(ACL_ERROR_RT_PARAM_INVALID, "barrierNum", aclrtCmoWaitBarrier(&barriers, stream_, 0));
    barriers.barrierNum = 7;
    EXPECT_ACL_FAILS(ACL_ERROR_RT_PARAM_INVALID, "barrierNum", aclrtCmoWaitBarrier(&barriers, stream_, 0));
}

}  // namespace
}  // namespace conformance
