// SPDX-License-Identifier: Apache-2.0
// Copies and memsets on the calling thread.
#include <numeric>

#include "fixtures/fixture.h"

namespace conformance {
namespace {

using MemoryCopy = DeviceTest;

std::vector<int> counting(size_t count) {
    std::vector<int> values(count);
    std::iota(values.begin(), values.end(), 1);
    return values;
}

TEST_F(MemoryCopy, KindIsAHintOnly) {
    const std::vector<int> values = counting(1000);
    const size_t bytes = values.size() * sizeof(int);
    for (int kind = ACL_MEMCPY_HOST_TO_HOST; kind <= ACL_MEMCPY_HOST_TO_BUF_TO_DEVICE; ++kind) {
        int* device = static_cast<int*>(device_memory(bytes));
        int* other = static_cast<int*>(device_memory(bytes));
        std::vector<int> back(values.size());
        const auto hint = static_cast<aclrtMemcpyKind>(kind);
        EXPECT_ACL_OK(aclrtMemcpy(device, bytes, values.data(), bytes, hint));
        EXPECT_ACL_OK(aclrtMemcpy(other, bytes, device, bytes, hint));
        EXPECT_ACL_OK(aclrtMemcpy(back.data(), bytes, other, bytes, hint));
        EXPECT_EQ(back, values) << kind;
    }
}

TEST_F(MemoryCopy, HostToHostIsAllowed) {
    const std::vector<int> values = counting(10);
    std::vector<int> back(10);
    EXPECT_ACL_OK(aclrtMemcpy(back.data(), 40, values.data(), 40, ACL_MEMCPY_HOST_TO_HOST));
    EXPECT_EQ(back, values);
}

TEST_F(MemoryCopy, LargeCopiesArriveWhole) {
    const std::vector<int> values = counting(size_t{5} << 20);
    int* device = device_array(values);
    EXPECT_EQ(read_back(device, values.size()), values);
}

TEST_F(MemoryCopy, ArgumentsAreChecked) {
    char host[64] = {};
    void* device = device_memory(64);
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "dst", aclrtMemcpy(nullptr, 64, host, 64, ACL_MEMCPY_HOST_TO_DEVICE));
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "src", aclrtMemcpy(device, 64, nullptr, 64, ACL_MEMCPY_HOST_TO_DEVICE));
    for (int kind : {6, 7, 8, -1})
        EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "kind",
                         aclrtMemcpy(device, 64, host, 64, static_cast<aclrtMemcpyKind>(kind)));
    EXPECT_ACL_FAILS(ACL_ERROR_RT_PARAM_INVALID, "destMax",
                     aclrtMemcpy(device, 63, host, 64, ACL_MEMCPY_HOST_TO_DEVICE));
    EXPECT_ACL_OK(aclrtMemcpy(device, 0, host, 0, ACL_MEMCPY_HOST_TO_DEVICE));
    EXPECT_ACL_OK(aclrtMemcpy(device, 64, device, 64, ACL_MEMCPY_DEVICE_TO_DEVICE));
}

TEST_F(MemoryCopy, BytesOutsideAnAllocationAreRefused) {
    std::vector<char> host(4096);
    void* memory = nullptr;
    ASSERT_ACL_OK(aclrtMalloc(&memory, 128, ACL_MEM_MALLOC_HUGE_FIRST));
    EXPECT_ACL_FAILS(ACL_ERROR_RT_PARAM_INVALID, "dst",
                     aclrtMemcpy(memory, 4096, host.data(), 4096, ACL_MEMCPY_HOST_TO_DEVICE));
    EXPECT_ACL_FAILS(ACL_ERROR_RT_PARAM_INVALID, "src",
                     aclrtMemcpy(host.data(), 4096, memory, 4096, ACL_MEMCPY_DEVICE_TO_HOST));
    EXPECT_ACL_FAILS(ACL_ERROR_RT_PARAM_INVALID, "devPtr", aclrtMemset(memory, 4096, 0, 4096));
    EXPECT_ACL_OK(aclrtFree(memory));
    EXPECT_ACL_FAILS(ACL_ERROR_RT_PARAM_INVALID, "not allocated",
                     aclrtMemcpy(memory, 128, host.data(), 128, ACL_MEMCPY_HOST_TO_DEVICE));
    void* pinned = nullptr;
    ASSERT_ACL_OK(aclrtMallocHost(&pinned, 128));
    EXPECT_ACL_OK(aclrtFreeHost(pinned));
    EXPECT_ACL_FAILS(ACL_ERROR_RT_PARAM_INVALID, "not allocated",
                     aclrtMemcpy(host.data(), 128, pinned, 128, ACL_MEMCPY_HOST_TO_HOST));
}

// The call waits for the work that still uses the memory, which is given back then.
TEST_F(MemoryCopy, MemoryFreedUnderRunningWorkIsRefused) {
    constexpr size_t size = size_t{16} << 20;
    std::vector<char> host(64);
    const auto refused = [&](const char* argument, auto&& copy) {
        void* memory = nullptr;
        ASSERT_ACL_OK(aclrtMalloc(&memory, size, ACL_MEM_MALLOC_HUGE_FIRST));
        ASSERT_ACL_OK(aclrtMemsetAsync(memory, size, 1, size, stream_));
        ASSERT_ACL_OK(aclrtFree(memory));
        EXPECT_ACL_FAILS(ACL_ERROR_RT_PARAM_INVALID, argument, copy(memory));
        ASSERT_ACL_OK(aclrtSynchronizeStream(stream_));
    };
    for (int round = 0; round < 3; ++round) {
        refused("devPtr", [](void* memory) { return aclrtMemset(memory, 64, 0, 64); });
        refused("dst",
                [&](void* memory) { return aclrtMemcpy(memory, 64, host.data(), 64, ACL_MEMCPY_HOST_TO_DEVICE); });
        refused("src", [&](void* memory) {
            return aclrtMemcpy2d(host.data(), 8, memory, 8, 8, 8, ACL_MEMCPY_DEVICE_TO_HOST);
        });
    }
}

TEST_F(MemoryCopy, DoesNotWaitForAStreamThatStandsBeforeAWait) {
    auto* word = static_cast<uint64_t*>(device_memory(8));
    uint64_t value = 0;
    ASSERT_ACL_OK(aclrtMemcpy(word, 8, &value, 8, ACL_MEMCPY_HOST_TO_DEVICE));
    ASSERT_ACL_OK(aclrtValueWait(word, 1, 1, stream_));
    value = 1;
    ASSERT_ACL_OK(aclrtMemcpy(word, 8, &value, 8, ACL_MEMCPY_HOST_TO_DEVICE));  // returns, and releases the stream
    EXPECT_ACL_OK(aclrtSynchronizeStream(stream_));
}

TEST_F(MemoryCopy, SeesWhatRunnableWorkWroteBefore) {
    if (!device_computes()) GTEST_SKIP();
    constexpr size_t size = size_t{8} << 20;
    void* memory = device_memory(size);
    for (int round = 1; round < 20; ++round) {
        ASSERT_ACL_OK(aclrtMemsetAsync(memory, size, round, size, stream_));
        unsigned char last = 0;
        ASSERT_ACL_OK(aclrtMemcpy(&last, 1, static_cast<char*>(memory) + size - 1, 1, ACL_MEMCPY_DEVICE_TO_HOST));
        ASSERT_EQ(last, round);
    }
}

TEST_F(MemoryCopy, BetweenDevicesNeedsPeerAccess) {
    constexpr size_t size = 256;
    const std::vector<char> values(size, 7);
    void* here = device_memory(size);
    ASSERT_ACL_OK(aclrtMemcpy(here, size, values.data(), size, ACL_MEMCPY_HOST_TO_DEVICE));
    ASSERT_ACL_OK(aclrtSetDevice(1));
    void* there = nullptr;
    ASSERT_ACL_OK(aclrtMalloc(&there, size, ACL_MEM_MALLOC_HUGE_FIRST_P2P));
    const bool always_connected = std::string(aclrtGetSocName()).rfind("Ascend910_93", 0) == 0;
    if (always_connected) {
        EXPECT_ACL_OK(aclrtMemcpy(there, size, here, size, ACL_MEMCPY_DEVICE_TO_DEVICE));
    } else {
        EXPECT_ACL_FAILS(ACL_ERROR_RT_PARAM_INVALID, "aclrtDeviceEnablePeerAccess",
                         aclrtMemcpy(there, size, here, size, ACL_MEMCPY_DEVICE_TO_DEVICE));
    }
    ASSERT_ACL_OK(aclrtDeviceEnablePeerAccess(0, 0));
    EXPECT_ACL_OK(aclrtMemcpy(there, size, here, size, ACL_MEMCPY_DEVICE_TO_DEVICE));
    std::vector<char> back(size);
    EXPECT_ACL_OK(aclrtMemcpy(back.data(), size, there, size, ACL_MEMCPY_DEVICE_TO_HOST));
    EXPECT_EQ(back, values);
    EXPECT_ACL_OK(aclrtMemP2PMap(here, size, 1, 0));
    EXPECT_ACL_OK(aclrtDeviceDisablePeerAccess(0));
    EXPECT_ACL_OK(aclrtFree(there));
    EXPECT_ACL_OK(aclrtResetDevice(1));
    ASSERT_ACL_OK(aclrtSetDevice(0));
}

TEST_F(MemoryCopy, P2PMapChecksItsArguments) {
    void* memory = device_memory(64);
    int local = 0;
    EXPECT_ACL_OK(aclrtMemP2PMap(memory, 64, 0, 0));
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "devPtr", aclrtMemP2PMap(nullptr, 64, 1, 0));
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "size", aclrtMemP2PMap(memory, 0, 1, 0));
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "flags", aclrtMemP2PMap(memory, 64, 1, 1));
    EXPECT_ACL_FAILS(ACL_ERROR_RT_INVALID_DEVICEID, "device", aclrtMemP2PMap(memory, 64, 1000, 0));
    EXPECT_ACL_FAILS(ACL_ERROR_RT_PARAM_INVALID, "device memory", aclrtMemP2PMap(&local, 4, 1, 0));
}

TEST_F(MemoryCopy, RowsKeepTheirPitches) {
    constexpr size_t width = 10, height = 4, host_pitch = 16, device_pitch = 32;
    std::vector<char> source(host_pitch * height), back(host_pitch * height, 0);
    std::iota(source.begin(), source.end(), 0);
    auto* device = static_cast<char*>(device_memory(device_pitch * height));
    ASSERT_ACL_OK(
        aclrtMemcpy2d(device, device_pitch, source.data(), host_pitch, width, height, ACL_MEMCPY_HOST_TO_DEVICE));
    ASSERT_ACL_OK(aclrtMemcpy2d(back.data(), host_pitch, device, device_pitch, width, height, ACL_MEMCPY_DEFAULT));
    for (size_t row = 0; row < height; ++row)
        for (size_t column = 0; column < host_pitch; ++column)
            EXPECT_EQ(back[row * host_pitch + column], column < width ? source[row * host_pitch + column] : 0);
}

TEST_F(MemoryCopy, RowArgumentsAreChecked) {
    std::vector<char> host(64);
    void* device = device_memory(64);
    const auto copy = [&](void* dst, size_t dpitch, const void* src, size_t spitch, size_t width, size_t height,
                          int kind) {
        return aclrtMemcpy2d(dst, dpitch, src, spitch, width, height, static_cast<aclrtMemcpyKind>(kind));
    };
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "dst", copy(nullptr, 8, host.data(), 8, 8, 2, 1));
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "src", copy(device, 8, nullptr, 8, 8, 2, 1));
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "dpitch", copy(device, 7, host.data(), 8, 8, 2, 1));
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "spitch", copy(device, 8, host.data(), 7, 8, 2, 1));
    for (int kind : {0, 3, 5, 6, 7, 99})
        EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "kind", copy(device, 8, host.data(), 8, 8, 2, kind));
    EXPECT_ACL_FAILS(ACL_ERROR_RT_PARAM_INVALID, "dst", copy(device, 512, host.data(), 8, 8, 8, 1));
    EXPECT_ACL_FAILS(ACL_ERROR_RT_PARAM_INVALID, "pitches", copy(device, SIZE_MAX, host.data(), 8, 8, 8, 1));
    EXPECT_ACL_OK(copy(device, 8, host.data(), 8, 0, 2, 1));
    EXPECT_ACL_OK(copy(device, 8, host.data(), 8, 8, 0, 1));
}

TEST_F(MemoryCopy, SetsBytesOfDeviceAndHostMemory) {
    auto* device = static_cast<unsigned char*>(device_memory(100));
    ASSERT_ACL_OK(aclrtMemset(device, 100, 0x1FE, 100));
    EXPECT_EQ(read_back(device, 100), std::vector<unsigned char>(100, 0xFE));
    unsigned char local[16] = {};
    EXPECT_ACL_OK(aclrtMemset(local, sizeof(local), 5, sizeof(local)));
    EXPECT_EQ(local[15], 5);
    EXPECT_ACL_OK(aclrtMemset(device, 0, 0, 0));
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "devPtr", aclrtMemset(nullptr, 10, 0, 10));
    EXPECT_ACL_FAILS(ACL_ERROR_RT_PARAM_INVALID, "more than", aclrtMemset(device, 99, 0, 100));
}

TEST_F(MemoryCopy, SetsWords) {
    auto* device = static_cast<uint32_t*>(device_memory(64));
    ASSERT_ACL_OK(aclrtMemsetD32(device, 64, 0xDEADBEEF, 16));
    EXPECT_EQ(read_back(device, 16), std::vector<uint32_t>(16, 0xDEADBEEF));
    EXPECT_ACL_OK(aclrtMemsetD32(device, 0, 1, 0));
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "ptr", aclrtMemsetD32(nullptr, 64, 1, 16));
    EXPECT_ACL_FAILS(ACL_ERROR_RT_PARAM_INVALID, "more than", aclrtMemsetD32(device, 63, 1, 16));
    EXPECT_ACL_FAILS(ACL_ERROR_RT_PARAM_INVALID, "more than", aclrtMemsetD32(device, 64, 1, SIZE_MAX / 2));
}

TEST_F(MemoryCopy, UnregisteredSymbolsAreRefused) {
    static int symbol = 0;
    int value = 0;
    void* address = nullptr;
    size_t size = 0;
    EXPECT_ACL_FAILS(ACL_ERROR_RT_INVALID_SYMBOL, "symbol", aclrtGetSymbolAddress(&symbol, &address));
    EXPECT_ACL_FAILS(ACL_ERROR_RT_INVALID_SYMBOL, "symbol", aclrtGetSymbolSize(&symbol, &size));
    EXPECT_ACL_FAILS(ACL_ERROR_RT_INVALID_SYMBOL, "symbol",
                     aclrtMemcpyToSymbol(&symbol, &value, 4, 0, ACL_MEMCPY_HOST_TO_DEVICE));
    EXPECT_ACL_FAILS(ACL_ERROR_RT_INVALID_SYMBOL, "symbol",
                     aclrtMemcpyToSymbolAsync(&symbol, &value, 4, 0, ACL_MEMCPY_HOST_TO_DEVICE, stream_));
    EXPECT_ACL_FAILS(ACL_ERROR_RT_INVALID_SYMBOL, "symbol",
                     aclrtMemcpyFromSymbol(&value, 4, &symbol, 4, 0, ACL_MEMCPY_DEVICE_TO_HOST));
    EXPECT_ACL_FAILS(ACL_ERROR_RT_INVALID_SYMBOL, "symbol",
                     aclrtMemcpyFromSymbolAsync(&value, 4, &symbol, 4, 0, ACL_MEMCPY_DEVICE_TO_HOST, stream_));
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "symbol", aclrtGetSymbolAddress(nullptr, &address));
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "devPtr", aclrtGetSymbolAddress(&symbol, nullptr));
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "symbol", aclrtGetSymbolSize(nullptr, &size));
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "size", aclrtGetSymbolSize(&symbol, nullptr));
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "src",
                     aclrtMemcpyToSymbol(&symbol, nullptr, 4, 0, ACL_MEMCPY_HOST_TO_DEVICE));
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "dst",
                     aclrtMemcpyFromSymbol(nullptr, 4, &symbol, 4, 0, ACL_MEMCPY_DEVICE_TO_HOST));
}

}  // namespace
}  // namespace conformance
