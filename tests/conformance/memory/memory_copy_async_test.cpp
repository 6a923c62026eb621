// SPDX-License-Identifier: Apache-2.0
// Copies and memsets in streams.
#include <numeric>

#include "fixtures/fixture.h"

namespace conformance {
namespace {

class MemoryCopyAsync : public DeviceTest {
protected:
    void SetUp() override {
        DeviceTest::SetUp();
        word_ = static_cast<uint64_t*>(device_memory(8));
        set_word(0);
    }
    void set_word(uint64_t value) { ASSERT_ACL_OK(aclrtMemcpy(word_, 8, &value, 8, ACL_MEMCPY_HOST_TO_DEVICE)); }
    // Work submitted after this runs only after let_go. The null device never waits.
    void hold() { ASSERT_ACL_OK(aclrtValueWait(word_, 1, ACL_VALUE_WAIT_EQ_FLAG, stream_)); }
    void let_go() { set_word(1); }
    void* pinned_memory(size_t size) {
        void* memory = nullptr;
        EXPECT_ACL_OK(aclrtMallocHost(&memory, size));
        pinned_.push_back(memory);
        return memory;
    }
    void TearDown() override {
        let_go();
        EXPECT_ACL_OK(aclrtSynchronizeStream(stream_));
        for (void* memory : pinned_) EXPECT_ACL_OK(aclrtFreeHost(memory));
        DeviceTest::TearDown();
    }
    static constexpr uint32_t ACL_VALUE_WAIT_EQ_FLAG = 1;

private:
    uint64_t* word_ = nullptr;
    std::vector<void*> pinned_;
};

TEST_F(MemoryCopyAsync, PinnedMemoryIsCopiedWhenTheStreamGetsThere) {
    if (!device_computes()) GTEST_SKIP();
    auto* source = static_cast<char*>(pinned_memory(64));
    std::memset(source, 1, 64);
    auto* device = static_cast<char*>(device_memory(64));
    auto* back = static_cast<char*>(pinned_memory(64));
    std::memset(back, 0, 64);
    hold();
    ASSERT_ACL_OK(aclrtMemcpyAsync(device, 64, source, 64, ACL_MEMCPY_HOST_TO_DEVICE, stream_));
    ASSERT_ACL_OK(aclrtMemcpyAsync(back, 64, device, 64, ACL_MEMCPY_DEVICE_TO_HOST, stream_));
    std::memset(source, 2, 64);  // the copy sees this, since it has not run yet
    EXPECT_EQ(back[0], 0);
    let_go();
    ASSERT_ACL_OK(aclrtSynchronizeStream(stream_));
    EXPECT_EQ(std::vector<char>(back, back + 64), std::vector<char>(64, 2));
}

TEST_F(MemoryCopyAsync, PageableMemoryIsCopiedBeforeTheCallReturns) {
    if (!device_computes()) GTEST_SKIP();
    std::vector<int> source(5000), back(5000);
    std::iota(source.begin(), source.end(), 0);
    const size_t bytes = source.size() * sizeof(int);
    void* device = device_memory(bytes);
    ASSERT_ACL_OK(aclrtMemcpyAsync(device, bytes, source.data(), bytes, ACL_MEMCPY_HOST_TO_DEVICE, stream_));
    const std::vector<int> expected = source;
    std::fill(source.begin(), source.end(), -1);
    ASSERT_ACL_OK(aclrtMemcpyAsync(back.data(), bytes, device, bytes, ACL_MEMCPY_DEVICE_TO_HOST, stream_));
    EXPECT_EQ(back, expected);
}

TEST_F(MemoryCopyAsync, PageableCopyFollowsEarlierWorkOfItsStream) {
    if (!device_computes()) GTEST_SKIP();
    constexpr size_t size = size_t{4} << 20;
    void* device = device_memory(size);
    std::vector<unsigned char> back(size);
    ASSERT_ACL_OK(aclrtMemsetAsync(device, size, 9, size, stream_));
    ASSERT_ACL_OK(aclrtMemcpyAsync(back.data(), size, device, size, ACL_MEMCPY_DEFAULT, stream_));
    EXPECT_EQ(back[size - 1], 9);
}

TEST_F(MemoryCopyAsync, RegisteredMemoryIsCopiedWhenTheStreamGetsThere) {
    if (!device_computes() || !device_reaches_all_memory()) GTEST_SKIP();
    auto* host = static_cast<char*>(std::aligned_alloc(4096, 4096));
    std::memset(host, 0, 4096);
    void* mapped = nullptr;
    ASSERT_ACL_OK(aclrtHostRegister(host, 4096, ACL_HOST_REGISTER_MAPPED, &mapped));
    auto* device = static_cast<char*>(device_memory(64));
    ASSERT_ACL_OK(aclrtMemset(device, 64, 4, 64));
    hold();
    ASSERT_ACL_OK(aclrtMemcpyAsync(host, 64, device, 64, ACL_MEMCPY_DEVICE_TO_HOST, stream_));
    EXPECT_EQ(host[0], 0);
    let_go();
    ASSERT_ACL_OK(aclrtSynchronizeStream(stream_));
    EXPECT_EQ(host[63], 4);
    ASSERT_ACL_OK(aclrtHostUnregister(host));
    std::free(host);
}

TEST_F(MemoryCopyAsync, BufferedCopyTakesItsSourceAtOnce) {
    if (!device_computes()) GTEST_SKIP();
    constexpr size_t largest = 64 * 1024;  // larger copies are waited for
    hold();
    std::vector<char*> targets;
    for (size_t size : {size_t{1}, size_t{1000}, size_t{9000}, largest}) {
        std::vector<char> source(size, 3);
        targets.push_back(static_cast<char*>(device_memory(size)));
        ASSERT_ACL_OK(
            aclrtMemcpyAsync(targets.back(), size, source.data(), size, ACL_MEMCPY_HOST_TO_BUF_TO_DEVICE, stream_));
    }
    let_go();
    ASSERT_ACL_OK(aclrtSynchronizeStream(stream_));
    EXPECT_EQ(read_back(targets[0], 1), std::vector<char>(1, 3));
    EXPECT_EQ(read_back(targets[1], 1000), std::vector<char>(1000, 3));
    EXPECT_EQ(read_back(targets[2], 9000), std::vector<char>(9000, 3));
    EXPECT_EQ(read_back(targets[3], largest), std::vector<char>(largest, 3));
}

TEST_F(MemoryCopyAsync, LargeBufferedCopyTakesItsSourceBeforeItReturns) {
    if (!device_computes()) GTEST_SKIP();
    constexpr size_t size = 300000;
    std::vector<char> source(size, 3);
    auto* device = static_cast<char*>(device_memory(size));
    ASSERT_ACL_OK(aclrtMemcpyAsync(device, size, source.data(), size, ACL_MEMCPY_HOST_TO_BUF_TO_DEVICE, stream_));
    std::fill(source.begin(), source.end(), 0);
    EXPECT_EQ(read_back(device, size), std::vector<char>(size, 3));
}

TEST_F(MemoryCopyAsync, HostToHostIsNotSupported) {
    char a[8] = {}, b[8] = {};
    void* pinned = pinned_memory(8);
    EXPECT_ACL_FAILS(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, "host",
                     aclrtMemcpyAsync(a, 8, b, 8, ACL_MEMCPY_HOST_TO_HOST, stream_));
    EXPECT_ACL_FAILS(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, "host",
                     aclrtMemcpyAsync(pinned, 8, b, 8, ACL_MEMCPY_DEFAULT, stream_));
    EXPECT_ACL_FAILS(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, "host",
                     aclrtMemcpy2dAsync(a, 8, b, 8, 8, 1, ACL_MEMCPY_DEFAULT, stream_));
}

TEST_F(MemoryCopyAsync, ArgumentsAreChecked) {
    char host[64] = {};
    void* device = device_memory(64);
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "dst",
                     aclrtMemcpyAsync(nullptr, 64, host, 64, ACL_MEMCPY_HOST_TO_DEVICE, stream_));
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "src",
                     aclrtMemcpyAsync(device, 64, nullptr, 64, ACL_MEMCPY_HOST_TO_DEVICE, stream_));
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "kind",
                     aclrtMemcpyAsync(device, 64, host, 64, ACL_MEMCPY_INNER_DEVICE_TO_DEVICE, stream_));
    EXPECT_ACL_FAILS(ACL_ERROR_RT_PARAM_INVALID, "destMax",
                     aclrtMemcpyAsync(device, 10, host, 64, ACL_MEMCPY_HOST_TO_DEVICE, stream_));
    EXPECT_ACL_OK(aclrtMemcpyAsync(device, 0, host, 0, ACL_MEMCPY_HOST_TO_DEVICE, stream_));
    EXPECT_ACL_FAILS(ACL_ERROR_RT_PARAM_INVALID, "dst",
                     aclrtMemcpyAsync(device, 4096, host, 4096, ACL_MEMCPY_HOST_TO_DEVICE, stream_));
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "devPtr", aclrtMemsetAsync(nullptr, 8, 0, 8, stream_));
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "ptr", aclrtMemsetD32Async(nullptr, 8, 0, 2, stream_));
    EXPECT_ACL_FAILS(ACL_ERROR_RT_PARAM_INVALID, "more than", aclrtMemsetAsync(device, 8, 0, 9, stream_));
    EXPECT_ACL_FAILS(ACL_ERROR_RT_PARAM_INVALID, "more than", aclrtMemsetD32Async(device, 8, 0, 3, stream_));
    EXPECT_ACL_OK(aclrtMemsetAsync(device, 8, 0, 0, stream_));
}

TEST_F(MemoryCopyAsync, StreamsThatAreNoneAreRefused) {
    char host[8] = {};
    void* device = device_memory(8);
    aclrtStream destroyed = nullptr;
    ASSERT_ACL_OK(aclrtCreateStream(&destroyed));
    ASSERT_ACL_OK(aclrtDestroyStream(destroyed));
    for (aclrtStream stream : {destroyed, static_cast<aclrtStream>(host), reinterpret_cast<aclrtStream>(0x77)}) {
        EXPECT_ACL_FAILS(ACL_ERROR_RT_INVALID_HANDLE, "stream",
                         aclrtMemcpyAsync(device, 8, host, 8, ACL_MEMCPY_HOST_TO_DEVICE, stream));
        EXPECT_ACL_FAILS(ACL_ERROR_RT_INVALID_HANDLE, "stream", aclrtMemsetAsync(device, 8, 0, 8, stream));
        EXPECT_ACL_FAILS(ACL_ERROR_RT_INVALID_HANDLE, "stream", aclrtMemsetD32Async(device, 8, 0, 2, stream));
        EXPECT_ACL_FAILS(ACL_ERROR_RT_INVALID_HANDLE, "stream",
                         aclrtMemcpy2dAsync(device, 8, host, 8, 8, 1, ACL_MEMCPY_HOST_TO_DEVICE, stream));
    }
    EXPECT_ACL_OK(aclrtMemsetAsync(device, 8, 0, 8, nullptr));  // the default stream
    EXPECT_ACL_OK(aclrtSynchronizeStream(nullptr));
}

TEST_F(MemoryCopyAsync, StreamOfAnotherContextIsRefused) {
    char host[8] = {};
    void* device = device_memory(8);
    aclrtContext before = nullptr, other = nullptr;
    ASSERT_ACL_OK(aclrtGetCurrentContext(&before));
    ASSERT_ACL_OK(aclrtCreateContext(&other, 0));
    EXPECT_ACL_FAILS(ACL_ERROR_RT_STREAM_CONTEXT, "context",
                     aclrtMemcpyAsync(device, 8, host, 8, ACL_MEMCPY_HOST_TO_DEVICE, stream_));
    EXPECT_ACL_FAILS(ACL_ERROR_RT_STREAM_CONTEXT, "context", aclrtMemsetAsync(device, 8, 0, 8, stream_));
    ASSERT_ACL_OK(aclrtDestroyContext(other));
    ASSERT_ACL_OK(aclrtSetCurrentContext(before));
}

TEST_F(MemoryCopyAsync, RowsAreCopiedInTheStream) {
    if (!device_computes()) GTEST_SKIP();
    constexpr size_t width = 24, height = 8, pitch = 40;
    std::vector<char> source(pitch * height), back(width * height);
    std::iota(source.begin(), source.end(), 0);
    void *first = device_memory(64 * height), *second = device_memory(width * height);
    ASSERT_ACL_OK(
        aclrtMemcpy2dAsync(first, 64, source.data(), pitch, width, height, ACL_MEMCPY_HOST_TO_DEVICE, stream_));
    ASSERT_ACL_OK(aclrtMemcpy2dAsync(second, width, first, 64, width, height, ACL_MEMCPY_DEVICE_TO_DEVICE, stream_));
    ASSERT_ACL_OK(
        aclrtMemcpy2dAsync(back.data(), width, second, width, width, height, ACL_MEMCPY_DEVICE_TO_HOST, stream_));
    for (size_t row = 0; row < height; ++row)
        for (size_t column = 0; column < width; ++column)
            ASSERT_EQ(back[row * width + column], source[row * pitch + column]);
}

TEST_F(MemoryCopyAsync, RowLimitsAreKept) {
    char host[64] = {};
    void* device = device_memory(64);
    const auto copy = [&](size_t dpitch, size_t spitch, size_t width, size_t height, int kind) {
        return aclrtMemcpy2dAsync(device, dpitch, host, spitch, width, height, static_cast<aclrtMemcpyKind>(kind),
                                  stream_);
    };
    EXPECT_ACL_FAILS(ACL_ERROR_RT_PARAM_INVALID, "width", copy(6'000'000, 6'000'000, 5'000'001, 1, 1));
    EXPECT_ACL_FAILS(ACL_ERROR_RT_PARAM_INVALID, "height", copy(8, 8, 8, 5'242'881, 1));
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "dpitch", copy(7, 8, 8, 1, 1));
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "spitch", copy(8, 7, 8, 1, 1));
    for (int kind : {0, 5, 6, 7, 42}) EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "kind", copy(8, 8, 8, 1, kind));
    EXPECT_ACL_OK(copy(8, 8, 0, 1, 1));
    EXPECT_ACL_OK(copy(8, 8, 8, 0, 1));
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "dst",
                     aclrtMemcpy2dAsync(nullptr, 8, host, 8, 8, 1, ACL_MEMCPY_HOST_TO_DEVICE, stream_));
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "src",
                     aclrtMemcpy2dAsync(device, 8, nullptr, 8, 8, 1, ACL_MEMCPY_HOST_TO_DEVICE, stream_));
}

TEST_F(MemoryCopyAsync, SetsInTheStream) {
    if (!device_computes()) GTEST_SKIP();
    auto* bytes = static_cast<unsigned char*>(device_memory(100));
    auto* words = static_cast<uint32_t*>(device_memory(64));
    ASSERT_ACL_OK(aclrtMemsetAsync(bytes, 100, 0xAB, 100, stream_));
    ASSERT_ACL_OK(aclrtMemsetD32Async(words, 64, 0x01020304, 16, stream_));
    ASSERT_ACL_OK(aclrtSynchronizeStream(stream_));
    EXPECT_EQ(read_back(bytes, 100), std::vector<unsigned char>(100, 0xAB));
    EXPECT_EQ(read_back(words, 16), std::vector<uint32_t>(16, 0x01020304));
    unsigned char local[16] = {};
    ASSERT_ACL_OK(aclrtMemsetAsync(local, 16, 6, 16, stream_));
    EXPECT_EQ(local[15], 6);
}

TEST_F(MemoryCopyAsync, DeprecatedConditionIsAPlainCopy) {
    if (!device_computes()) GTEST_SKIP();
    int value = 42, back = 0;
    auto* device = static_cast<int*>(device_memory(4));
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
    ASSERT_ACL_OK(aclrtMemcpyAsyncWithCondition(device, 4, &value, 4, ACL_MEMCPY_HOST_TO_DEVICE, stream_));
#pragma GCC diagnostic pop
    ASSERT_ACL_OK(aclrtMemcpyAsync(&back, 4, device, 4, ACL_MEMCPY_DEVICE_TO_HOST, stream_));
    EXPECT_EQ(back, 42);
}

TEST_F(MemoryCopyAsync, OffsetsCountFromTheAddressesBehindTheSlots) {
    if (!device_computes()) GTEST_SKIP();
    auto* source = static_cast<char*>(device_memory(64));
    auto* target = static_cast<char*>(device_memory(64));
    std::vector<char> values(64);
    std::iota(values.begin(), values.end(), 0);
    ASSERT_ACL_OK(aclrtMemcpy(source, 64, values.data(), 64, ACL_MEMCPY_HOST_TO_DEVICE));
    void* to = target;
    const void* from = source;
    ASSERT_ACL_OK(aclrtMemcpyAsyncWithOffset(&to, 16, 32, &from, 16, 8, ACL_MEMCPY_INNER_DEVICE_TO_DEVICE, stream_));
    ASSERT_ACL_OK(aclrtSynchronizeStream(stream_));
    EXPECT_EQ(read_back(target + 32, 16), std::vector<char>(values.begin() + 8, values.begin() + 24));
}

TEST_F(MemoryCopyAsync, SlotsOnTheDeviceAreReadWhenTheStreamGetsThere) {
    if (!device_computes()) GTEST_SKIP();
    auto* slots = static_cast<void**>(device_memory(16));
    auto* source = static_cast<char*>(device_memory(8));
    auto* target = static_cast<char*>(device_memory(8));
    ASSERT_ACL_OK(aclrtMemset(source, 8, 5, 8));
    void* wrong[2] = {nullptr, nullptr};
    ASSERT_ACL_OK(aclrtMemcpy(slots, 16, wrong, 16, ACL_MEMCPY_HOST_TO_DEVICE));
    hold();
    ASSERT_ACL_OK(aclrtMemcpyAsyncWithOffset(slots, 8, 0, const_cast<const void**>(slots + 1), 8, 0,
                                             ACL_MEMCPY_INNER_DEVICE_TO_DEVICE, stream_));
    void* right[2] = {target, source};
    ASSERT_ACL_OK(aclrtMemcpy(slots, 16, right, 16, ACL_MEMCPY_HOST_TO_DEVICE));
    let_go();
    ASSERT_ACL_OK(aclrtSynchronizeStream(stream_));
    EXPECT_EQ(read_back(target, 8), std::vector<char>(8, 5));
}

TEST_F(MemoryCopyAsync, SlotsThatLeadNowhereFailTheStream) {
    if (!device_computes()) GTEST_SKIP();
    constexpr size_t large = 4 << 20;
    auto* memory = static_cast<char*>(device_memory(large));
    auto** slots = device_array<void*>({nullptr, nullptr});
    const auto copy = [&](void* to, const void* from, size_t count, size_t offset) {
        const void* addresses[2] = {to, from};
        ASSERT_ACL_OK(aclrtMemcpy(slots, 16, addresses, 16, ACL_MEMCPY_HOST_TO_DEVICE));
        ASSERT_ACL_OK(aclrtMemcpyAsyncWithOffset(slots, count, offset, const_cast<const void**>(slots + 1), count, 0,
                                                 ACL_MEMCPY_INNER_DEVICE_TO_DEVICE, stream_));
        EXPECT_ACL_FAILS(ACL_ERROR_RT_PARAM_INVALID, "a copy with offsets", aclrtSynchronizeStream(stream_));
        EXPECT_ACL_OK(aclrtSynchronizeStream(stream_));
    };
    auto* nowhere = reinterpret_cast<char*>(uintptr_t{4096});
    copy(nullptr, nullptr, 8, 0);
    copy(memory, nullptr, 8, 0);
    copy(nullptr, memory, 8, 64);
    copy(nowhere, memory, 8, 0);
    copy(memory, nowhere, 8, 8);
    copy(memory, reinterpret_cast<char*>(~uintptr_t{0} << 12), 8, 0);
    for (size_t count : {size_t{1}, large}) {
        copy(memory, nowhere, count, 0);
        copy(nowhere, memory, count, 0);
    }
}

TEST_F(MemoryCopyAsync, LargeCopiesBehindSlotsAreExactAndMayOverlap) {
    if (!device_computes()) GTEST_SKIP();
    constexpr size_t size = 3000001, most = size - 4096;
    std::vector<char> values(size);
    for (size_t i = 0; i < size; ++i) values[i] = static_cast<char>(i * 2654435761u >> 13);
    char* memory = device_array(values);
    char* apart = device_array(std::vector<char>(size + 1, 0));
    auto** slots = device_array<void*>({apart, memory});
    const auto copy = [&](void* to, const void* from, size_t to_offset, size_t from_offset) {
        const void* addresses[2] = {to, from};
        ASSERT_ACL_OK(aclrtMemcpy(slots, 16, addresses, 16, ACL_MEMCPY_HOST_TO_DEVICE));
        ASSERT_ACL_OK(aclrtMemcpyAsyncWithOffset(slots, most, to_offset, const_cast<const void**>(slots + 1), most,
                                                 from_offset, ACL_MEMCPY_INNER_DEVICE_TO_DEVICE, stream_));
        ASSERT_ACL_OK(aclrtSynchronizeStream(stream_));
    };
    copy(apart, memory, 7, 1);
    const std::vector<char> copied = read_back(apart, size + 1);
    EXPECT_EQ(copied[6], 0);
    EXPECT_EQ(copied[7 + most], 0);
    EXPECT_EQ(std::memcmp(copied.data() + 7, values.data() + 1, most), 0);
    copy(memory, memory, 4000, 5);
    std::vector<char> expected = values;
    std::memmove(expected.data() + 4000, values.data() + 5, most);
    EXPECT_TRUE(read_back(memory, size) == expected);
    copy(memory, memory, 5, 4000);
    std::memmove(expected.data() + 5, expected.data() + 4000, most);
    EXPECT_TRUE(read_back(memory, size) == expected);
}

TEST_F(MemoryCopyAsync, ACopyMayOverwriteItsSlots) {
    if (!device_computes()) GTEST_SKIP();
    constexpr size_t size = 3000000;
    char* source = device_array(std::vector<char>(size, 3));
    char* target = device_array(std::vector<char>(size, 0));
    auto** slots = reinterpret_cast<void**>(target + 1500000);
    const void* addresses[2] = {target, source};
    ASSERT_ACL_OK(aclrtMemcpy(slots, 16, addresses, 16, ACL_MEMCPY_HOST_TO_DEVICE));
    ASSERT_ACL_OK(aclrtMemcpyAsyncWithOffset(slots, size, 0, const_cast<const void**>(slots + 1), size, 0,
                                             ACL_MEMCPY_INNER_DEVICE_TO_DEVICE, stream_));
    ASSERT_ACL_OK(aclrtSynchronizeStream(stream_));
    EXPECT_TRUE(read_back(target, size) == std::vector<char>(size, 3));
}

TEST_F(MemoryCopyAsync, OffsetArgumentsAreChecked) {
    void* to = device_memory(8);
    const void* from = device_memory(8);
    void* nothing = nullptr;
    const auto copy = [&](void** dst, size_t max, const void** src, size_t count, int kind) {
        return aclrtMemcpyAsyncWithOffset(dst, max, 0, src, count, 0, static_cast<aclrtMemcpyKind>(kind), stream_);
    };
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "dst", copy(nullptr, 8, &from, 8, 6));
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "src", copy(&to, 8, nullptr, 8, 6));
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "*dst", copy(&nothing, 8, &from, 8, 6));
    EXPECT_ACL_FAILS(ACL_ERROR_RT_PARAM_INVALID, "count", copy(&to, 8, &from, 0, 6));
    EXPECT_ACL_FAILS(ACL_ERROR_RT_PARAM_INVALID, "destMax", copy(&to, 7, &from, 8, 6));
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "kind", copy(&to, 8, &from, 8, 8));
    EXPECT_ACL_OK(copy(&to, 8, &from, 8, 7));
}

TEST_F(MemoryCopyAsync, DescriptorsCopyInsideADevice) {
    size_t size = 0;
    ASSERT_ACL_OK(aclrtGetMemcpyDescSize(ACL_MEMCPY_INNER_DEVICE_TO_DEVICE, &size));
    void* descriptor = device_memory(size);
    auto* source = static_cast<char*>(device_memory(32));
    auto* target = static_cast<char*>(device_memory(32));
    ASSERT_ACL_OK(aclrtMemset(source, 32, 8, 32));
    const auto inner = ACL_MEMCPY_INNER_DEVICE_TO_DEVICE;
    ASSERT_ACL_OK(aclrtMemset(descriptor, size, 0, size));
    EXPECT_ACL_FAILS(ACL_ERROR_RT_PARAM_INVALID, "desc", aclrtMemcpyAsyncWithDesc(descriptor, inner, stream_));
    ASSERT_ACL_OK(aclrtSetMemcpyDesc(descriptor, inner, source, target, 32, nullptr));
    ASSERT_ACL_OK(aclrtMemcpyAsyncWithDesc(descriptor, inner, stream_));
    ASSERT_ACL_OK(aclrtSynchronizeStream(stream_));
    if (device_computes()) {
        EXPECT_EQ(read_back(target, 32), std::vector<char>(32, 8));
    }

    char host[32] = {};
    const auto outer = ACL_MEMCPY_HOST_TO_DEVICE;
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "descSize", aclrtGetMemcpyDescSize(inner, nullptr));
    EXPECT_ACL_FAILS(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, "kind", aclrtGetMemcpyDescSize(outer, &size));
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "kind", aclrtGetMemcpyDescSize(static_cast<aclrtMemcpyKind>(9), &size));
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "desc", aclrtSetMemcpyDesc(nullptr, inner, source, target, 32, nullptr));
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "srcAddr",
                     aclrtSetMemcpyDesc(descriptor, inner, nullptr, target, 32, nullptr));
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "dstAddr",
                     aclrtSetMemcpyDesc(descriptor, inner, source, nullptr, 32, nullptr));
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "count",
                     aclrtSetMemcpyDesc(descriptor, inner, source, target, 0, nullptr));
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "config",
                     aclrtSetMemcpyDesc(descriptor, inner, source, target, 32, host));
    EXPECT_ACL_FAILS(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, "kind",
                     aclrtSetMemcpyDesc(descriptor, outer, source, target, 32, nullptr));
    EXPECT_ACL_FAILS(ACL_ERROR_RT_PARAM_INVALID, "srcAddr",
                     aclrtSetMemcpyDesc(descriptor, inner, host, target, 32, nullptr));
    EXPECT_ACL_FAILS(ACL_ERROR_RT_PARAM_INVALID, "dstAddr",
                     aclrtSetMemcpyDesc(descriptor, inner, source, host, 32, nullptr));
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "desc", aclrtMemcpyAsyncWithDesc(nullptr, inner, stream_));
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "stream", aclrtMemcpyAsyncWithDesc(descriptor, inner, nullptr));
    EXPECT_ACL_FAILS(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, "kind", aclrtMemcpyAsyncWithDesc(descriptor, outer, stream_));
}

TEST_F(MemoryCopyAsync, ManyCopiesKeepTheirOrder) {
    if (!device_computes()) GTEST_SKIP();
    constexpr int rounds = 2000;
    auto* source = static_cast<int*>(pinned_memory(rounds * sizeof(int)));
    auto* device = static_cast<int*>(device_memory(sizeof(int)));
    auto* back = static_cast<int*>(pinned_memory(rounds * sizeof(int)));
    for (int round = 0; round < rounds; ++round) {
        source[round] = round;
        ASSERT_ACL_OK(aclrtMemcpyAsync(device, 4, source + round, 4, ACL_MEMCPY_HOST_TO_DEVICE, stream_));
        ASSERT_ACL_OK(aclrtMemcpyAsync(back + round, 4, device, 4, ACL_MEMCPY_DEVICE_TO_HOST, stream_));
    }
    ASSERT_ACL_OK(aclrtSynchronizeStream(stream_));
    for (int round = 0; round < rounds; ++round) ASSERT_EQ(back[round], round);
}

}  // namespace
}  // namespace conformance
