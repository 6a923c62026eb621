// SPDX-License-Identifier: Apache-2.0
// Device allocation, freeing, and memory information.
#include <acl/ops/acl_dvpp.h>

#include <thread>

#include "fixtures/fixture.h"

namespace conformance {
namespace {

using MemoryAllocate = DeviceTest;
using MemoryWithoutContext = RuntimeTest;

size_t free_bytes() {
    size_t free = 0, total = 0;
    EXPECT_ACL_OK(aclrtGetMemInfo(ACL_HBM_MEM, &free, &total));
    return free;
}

TEST_F(MemoryWithoutContext, MallocNeedsAContext) {
    void* memory = nullptr;
    EXPECT_ACL_FAILS(ACL_ERROR_RT_CONTEXT_NULL, "context", aclrtMalloc(&memory, 64, ACL_MEM_MALLOC_HUGE_FIRST));
    EXPECT_ACL_FAILS(ACL_ERROR_RT_CONTEXT_NULL, "context", aclrtMallocHost(&memory, 64));
    size_t free = 0, total = 0;
    EXPECT_ACL_FAILS(ACL_ERROR_RT_CONTEXT_NULL, "context", aclrtGetMemInfo(ACL_HBM_MEM, &free, &total));
    int value = 0, other = 1;
    EXPECT_ACL_FAILS(ACL_ERROR_RT_CONTEXT_NULL, "context",
                     aclrtMemcpy(&value, sizeof(value), &other, sizeof(other), ACL_MEMCPY_HOST_TO_HOST));
    EXPECT_ACL_FAILS(ACL_ERROR_RT_CONTEXT_NULL, "context", aclrtMemset(&value, sizeof(value), 0, sizeof(value)));
    EXPECT_ACL_FAILS(ACL_ERROR_RT_CONTEXT_NULL, "context", aclrtFreeWithDevSync(&value));
    EXPECT_ACL_FAILS(ACL_ERROR_RT_CONTEXT_NULL, "context", aclrtFreeHostWithDevSync(&value));
    EXPECT_EQ(memory, nullptr);
}

TEST_F(MemoryWithoutContext, CopyOfNothingNeedsNoContext) {
    int value = 0, other = 1;
    EXPECT_ACL_OK(aclrtMemcpy(&value, 0, &other, 0, ACL_MEMCPY_HOST_TO_HOST));
}

TEST_F(MemoryAllocate, FreeWorksInAThreadWithoutContext) {
    void* memory = nullptr;
    ASSERT_ACL_OK(aclrtMalloc(&memory, 100, ACL_MEM_MALLOC_NORMAL_ONLY));
    std::thread([&] { EXPECT_ACL_OK(aclrtFree(memory)); }).join();
}

TEST_F(MemoryAllocate, EveryPolicyGivesAlignedMemoryThatHoldsData) {
    for (int policy : {0, 1, 2, 3, 4, 5, 6, 7, 0x100, 0x1000, 0x1102, 99}) {
        for (size_t size : {size_t{1}, size_t{33}, size_t{1} << 20, (size_t{2} << 20) + 5}) {
            void* memory = nullptr;
            ASSERT_ACL_OK(aclrtMalloc(&memory, size, static_cast<aclrtMemMallocPolicy>(policy)));
            EXPECT_EQ(reinterpret_cast<uintptr_t>(memory) % 64, 0u);
            EXPECT_ACL_OK(aclrtMemset(memory, size, 0x5A, size));
            unsigned char last = 0;
            EXPECT_ACL_OK(aclrtMemcpy(&last, 1, static_cast<char*>(memory) + size - 1, 1, ACL_MEMCPY_DEVICE_TO_HOST));
            EXPECT_EQ(last, 0x5A);
            EXPECT_ACL_OK(aclrtFree(memory));
        }
    }
}

TEST_F(MemoryAllocate, MediaMemoryIsDeviceMemory) {
    const size_t before = free_bytes();
    void* memory = nullptr;
    ASSERT_ACL_OK(acldvppMalloc(&memory, 1000));
    EXPECT_LT(free_bytes(), before);
    EXPECT_ACL_OK(aclrtMemset(memory, 1000, 1, 1000));
    aclrtPtrAttributes attributes = {};
    EXPECT_ACL_OK(aclrtPointerGetAttributes(memory, &attributes));
    EXPECT_EQ(attributes.location.type, ACL_MEM_LOCATION_TYPE_DEVICE);
    EXPECT_ACL_OK(acldvppFree(memory));
    EXPECT_EQ(free_bytes(), before);
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "devPtr", acldvppMalloc(nullptr, 64));
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "devPtr", acldvppFree(nullptr));
    EXPECT_ACL_FAILS(ACL_ERROR_RT_PARAM_INVALID, "not device memory", acldvppFree(&memory));
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "size", acldvppMalloc(&memory, 0));
}

TEST_F(MemoryAllocate, EveryMemberOfTheFamilyAllocates) {
    void* memory = nullptr;
    ASSERT_ACL_OK(aclrtMallocAlign32(&memory, 100, ACL_MEM_MALLOC_HUGE_FIRST));
    EXPECT_ACL_OK(aclrtFree(memory));
    ASSERT_ACL_OK(aclrtMallocCached(&memory, 100, ACL_MEM_MALLOC_HUGE_FIRST));
    EXPECT_ACL_OK(aclrtFree(memory));
    ASSERT_ACL_OK(aclrtMallocWithCfg(&memory, 100, ACL_MEM_ACCESS_USER_SPACE_READONLY, nullptr));
    EXPECT_ACL_OK(aclrtFree(memory));
    ASSERT_ACL_OK(aclrtMallocForTaskScheduler(&memory, 100, ACL_MEM_MALLOC_HUGE_FIRST, nullptr));
    EXPECT_ACL_OK(aclrtFreeWithDevSync(memory));
}

TEST_F(MemoryAllocate, NullAndZeroAreRefused) {
    void* memory = nullptr;
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "devPtr", aclrtMalloc(nullptr, 64, ACL_MEM_MALLOC_HUGE_FIRST));
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "size", aclrtMalloc(&memory, 0, ACL_MEM_MALLOC_HUGE_FIRST));
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "devPtr", aclrtMallocAlign32(nullptr, 64, ACL_MEM_MALLOC_HUGE_FIRST));
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "size", aclrtMallocAlign32(&memory, 0, ACL_MEM_MALLOC_HUGE_FIRST));
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "devPtr", aclrtMallocCached(nullptr, 64, ACL_MEM_MALLOC_HUGE_FIRST));
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "size", aclrtMallocCached(&memory, 0, ACL_MEM_MALLOC_HUGE_FIRST));
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "devPtr",
                     aclrtMallocWithCfg(nullptr, 64, ACL_MEM_MALLOC_HUGE_FIRST, nullptr));
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "size",
                     aclrtMallocWithCfg(&memory, 0, ACL_MEM_MALLOC_HUGE_FIRST, nullptr));
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "devPtr",
                     aclrtMallocForTaskScheduler(nullptr, 64, ACL_MEM_MALLOC_HUGE_FIRST, nullptr));
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "WithCfg", aclrtMalloc(&memory, 64, ACL_MEM_ACCESS_USER_SPACE_READONLY));
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "devPtr", aclrtFree(nullptr));
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "devPtr", aclrtFreeWithDevSync(nullptr));
    EXPECT_EQ(memory, nullptr);
}

TEST_F(MemoryAllocate, MoreThanTheDeviceHasIsOutOfMemory) {
    size_t free = 0, total = 0;
    ASSERT_ACL_OK(aclrtGetMemInfo(ACL_HBM_MEM, &free, &total));
    void* memory = nullptr;
    EXPECT_ACL_FAILS(ACL_ERROR_RT_MEMORY_ALLOCATION, "", aclrtMalloc(&memory, total + 1, ACL_MEM_MALLOC_HUGE_FIRST));
    EXPECT_ACL_FAILS(ACL_ERROR_RT_MEMORY_ALLOCATION, "", aclrtMalloc(&memory, SIZE_MAX, ACL_MEM_MALLOC_HUGE_FIRST));
    EXPECT_ACL_FAILS(ACL_ERROR_RT_MEMORY_ALLOCATION, "", aclrtMallocHost(&memory, SIZE_MAX));
    EXPECT_EQ(memory, nullptr);
}

TEST_F(MemoryAllocate, ConfiguredDeviceOwnsTheMemory) {
    uint32_t count = 0;
    ASSERT_ACL_OK(aclrtGetDeviceCount(&count));
    ASSERT_GE(count, 2u);
    aclrtMallocAttribute attributes[2] = {};
    attributes[0].attr = ACL_RT_MEM_ATTR_MODULE_ID;
    attributes[0].value.moduleId = 7;
    attributes[1].attr = ACL_RT_MEM_ATTR_DEVICE_ID;
    attributes[1].value.deviceId = 1;
    aclrtMallocConfig config = {attributes, 2};
    void* memory = nullptr;
    ASSERT_ACL_OK(aclrtMallocWithCfg(&memory, 64, ACL_MEM_MALLOC_HUGE_FIRST, &config));
    aclrtPtrAttributes found = {};
    EXPECT_ACL_OK(aclrtPointerGetAttributes(memory, &found));
    EXPECT_EQ(found.location.type, ACL_MEM_LOCATION_TYPE_DEVICE);
    EXPECT_EQ(found.location.id, 1u);
    EXPECT_ACL_OK(aclrtFree(memory));

    attributes[1].value.deviceId = count;
    EXPECT_ACL_FAILS(ACL_ERROR_RT_INVALID_DEVICEID, "device",
                     aclrtMallocWithCfg(&memory, 64, ACL_MEM_MALLOC_HUGE_FIRST, &config));
    attributes[1].attr = static_cast<aclrtMallocAttrType>(77);
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "attrs[1]",
                     aclrtMallocWithCfg(&memory, 64, ACL_MEM_MALLOC_HUGE_FIRST, &config));
    attributes[1].attr = ACL_RT_MEM_ATTR_VA_FLAG;
    attributes[1].value.vaFlag = 1;
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "VA_FLAG",
                     aclrtMallocWithCfg(&memory, 64, ACL_MEM_MALLOC_HUGE_FIRST, &config));
    config.attrs = nullptr;
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "attrs",
                     aclrtMallocWithCfg(&memory, 64, ACL_MEM_MALLOC_HUGE_FIRST, &config));
}

TEST_F(MemoryAllocate, WrongPointersAreNotFreed) {
    void* memory = nullptr;
    ASSERT_ACL_OK(aclrtMalloc(&memory, 4096, ACL_MEM_MALLOC_HUGE_FIRST));
    EXPECT_ACL_FAILS(ACL_ERROR_RT_PARAM_INVALID, "", aclrtFree(static_cast<char*>(memory) + 64));
    int local = 0;
    EXPECT_ACL_FAILS(ACL_ERROR_RT_PARAM_INVALID, "devPtr", aclrtFree(&local));
    EXPECT_ACL_FAILS(ACL_ERROR_RT_PARAM_INVALID, "devPtr", aclrtFree(reinterpret_cast<void*>(0x1234)));
    EXPECT_ACL_OK(aclrtFree(memory));
    EXPECT_ACL_FAILS(ACL_ERROR_RT_PARAM_INVALID, "", aclrtFree(memory));
    void* pinned = nullptr;
    ASSERT_ACL_OK(aclrtMallocHost(&pinned, 64));
    EXPECT_ACL_FAILS(ACL_ERROR_RT_PARAM_INVALID, "", aclrtFree(static_cast<char*>(pinned) + 16));
    EXPECT_ACL_OK(aclrtFreeHost(pinned));
}

TEST_F(MemoryAllocate, PinnedHostMemoryIsFreedLikeDeviceMemory) {
    void* pinned = nullptr;
    ASSERT_ACL_OK(aclrtMallocHost(&pinned, 64));
    EXPECT_ACL_OK(aclrtFree(pinned));  // the fixture checks for leaks
    EXPECT_ACL_FAILS(ACL_ERROR_RT_PARAM_INVALID, "", aclrtFree(pinned));
    EXPECT_ACL_FAILS(ACL_ERROR_RT_PARAM_INVALID, "", aclrtFreeHost(pinned));
}

TEST_F(MemoryAllocate, FreeingTwiceIsRefusedAlsoWhileWorkRuns) {
    constexpr size_t size = size_t{16} << 20;
    for (int round = 0; round < 10; ++round) {
        void* memory = nullptr;
        ASSERT_ACL_OK(aclrtMalloc(&memory, size, ACL_MEM_MALLOC_HUGE_FIRST));
        ASSERT_ACL_OK(aclrtMemsetAsync(memory, size, round, size, stream_));
        ASSERT_ACL_OK(aclrtFree(memory));
        EXPECT_ACL_FAILS(ACL_ERROR_RT_PARAM_INVALID, "", aclrtFree(memory));
        ASSERT_ACL_OK(aclrtSynchronizeStream(stream_));
    }
}

TEST_F(MemoryAllocate, MemoryInfoFollowsAllocations) {
    const size_t before = free_bytes();
    void* memory = nullptr;
    ASSERT_ACL_OK(aclrtMalloc(&memory, size_t{8} << 20, ACL_MEM_MALLOC_HUGE_FIRST));
    EXPECT_LE(free_bytes() + (size_t{8} << 20), before);
    EXPECT_ACL_OK(aclrtFree(memory));
    EXPECT_EQ(free_bytes(), before);
}

TEST_F(MemoryAllocate, MemoryInfoOfEveryAttribute) {
    for (int attribute = ACL_DDR_MEM; attribute <= ACL_MEM_P2P_HUGE1G; ++attribute) {
        size_t free = 1, total = 1;
        EXPECT_ACL_OK(aclrtGetMemInfo(static_cast<aclrtMemAttr>(attribute), &free, &total));
        EXPECT_LE(free, total);
    }
    size_t free = 1, total = 1;
    EXPECT_ACL_OK(aclrtGetMemInfo(ACL_DDR_MEM, &free, &total));
    EXPECT_EQ(total, 0u);
    EXPECT_ACL_FAILS(ACL_ERROR_RT_INVALID_MEMORY_TYPE, "attr",
                     aclrtGetMemInfo(static_cast<aclrtMemAttr>(99), &free, &total));
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "free", aclrtGetMemInfo(ACL_HBM_MEM, nullptr, &total));
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "total", aclrtGetMemInfo(ACL_HBM_MEM, &free, nullptr));
}

TEST_F(MemoryAllocate, UsageIsReportedByComponentLargestFirst) {
    device_memory(size_t{4} << 20);
    aclrtMemUsageInfo info[8] = {};
    size_t count = 0;
    ASSERT_ACL_OK(aclrtGetMemUsageInfo(0, info, 8, &count));
    ASSERT_GE(count, 1u);
    EXPECT_GE(info[0].curMemSize, uint64_t{4} << 20);
    EXPECT_GE(info[0].memPeakSize, info[0].curMemSize);
    for (size_t index = 1; index < count; ++index) EXPECT_LE(info[index].curMemSize, info[index - 1].curMemSize);
    ASSERT_ACL_OK(aclrtGetMemUsageInfo(0, info, 1, &count));
    EXPECT_EQ(count, 1u);
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "memUsageInfo", aclrtGetMemUsageInfo(0, nullptr, 8, &count));
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "outputNum", aclrtGetMemUsageInfo(0, info, 8, nullptr));
    EXPECT_ACL_FAILS(ACL_ERROR_RT_PARAM_INVALID, "inputNum", aclrtGetMemUsageInfo(0, info, 0, &count));
    EXPECT_ACL_FAILS(ACL_ERROR_RT_INVALID_DEVICEID, "device", aclrtGetMemUsageInfo(-1, info, 8, &count));
}

TEST_F(MemoryAllocate, AttributesTellKindsOfMemoryApart) {
    void* pinned = nullptr;
    ASSERT_ACL_OK(aclrtMallocHost(&pinned, 64));
    char local = 0;
    aclrtPtrAttributes found = {};
    ASSERT_ACL_OK(aclrtPointerGetAttributes(device_memory(64), &found));
    EXPECT_EQ(found.location.type, ACL_MEM_LOCATION_TYPE_DEVICE);
    EXPECT_EQ(found.location.id, 0u);
    EXPECT_EQ(found.pageSize, 4096u);
    ASSERT_ACL_OK(aclrtPointerGetAttributes(device_memory(size_t{4} << 20), &found));
    EXPECT_EQ(found.pageSize, 2u << 20);
    ASSERT_ACL_OK(aclrtPointerGetAttributes(pinned, &found));
    EXPECT_EQ(found.location.type, ACL_MEM_LOCATION_TYPE_HOST);
    ASSERT_ACL_OK(aclrtPointerGetAttributes(&local, &found));
    EXPECT_EQ(found.location.type, ACL_MEM_LOCATION_TYPE_UNREGISTERED);
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "ptr", aclrtPointerGetAttributes(nullptr, &found));
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "attributes", aclrtPointerGetAttributes(pinned, nullptr));
    EXPECT_ACL_OK(aclrtFreeHost(pinned));
}

TEST_F(MemoryAllocate, CheckMemTypeAsksForEveryAddress) {
    int local = 0;
    void* addresses[2] = {device_memory(64), device_memory(64)};
    uint32_t result = 9;
    ASSERT_ACL_OK(aclrtCheckMemType(addresses, 2, ACL_RT_MEM_TYPE_DEV, &result, 0));
    EXPECT_EQ(result, 1u);
    ASSERT_ACL_OK(aclrtCheckMemType(addresses, 2, ACL_RT_MEM_TYPE_DVPP, &result, 0));
    EXPECT_EQ(result, 0u);
    addresses[1] = &local;
    ASSERT_ACL_OK(aclrtCheckMemType(addresses, 2, ACL_RT_MEM_TYPE_DEV, &result, 0));
    EXPECT_EQ(result, 0u);
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "addrList",
                     aclrtCheckMemType(nullptr, 2, ACL_RT_MEM_TYPE_DEV, &result, 0));
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "checkResult",
                     aclrtCheckMemType(addresses, 2, ACL_RT_MEM_TYPE_DEV, nullptr, 0));
    EXPECT_ACL_FAILS(ACL_ERROR_RT_PARAM_INVALID, "size",
                     aclrtCheckMemType(addresses, 0, ACL_RT_MEM_TYPE_DEV, &result, 0));
    EXPECT_ACL_FAILS(ACL_ERROR_RT_PARAM_INVALID, "memType", aclrtCheckMemType(addresses, 2, 0x4000, &result, 0));
    EXPECT_ACL_FAILS(ACL_ERROR_RT_PARAM_INVALID, "reserve",
                     aclrtCheckMemType(addresses, 2, ACL_RT_MEM_TYPE_DEV, &result, 1));
}

TEST_F(MemoryAllocate, FlushAndInvalidateCheckTheirArguments) {
    void* memory = device_memory(64);
    EXPECT_ACL_OK(aclrtMemFlush(memory, 64));
    EXPECT_ACL_OK(aclrtMemInvalidate(memory, 64));
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "devPtr", aclrtMemFlush(nullptr, 64));
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "devPtr", aclrtMemInvalidate(nullptr, 64));
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "size", aclrtMemFlush(memory, 0));
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "size", aclrtMemInvalidate(memory, 0));
}

TEST_F(MemoryAllocate, AddressRangeIsTheAllocation) {
    void* memory = device_memory(1000);
    void* base = nullptr;
    size_t size = 0;
    ASSERT_ACL_OK(aclrtMemGetAddressRange(static_cast<char*>(memory) + 500, &base, &size));
    EXPECT_EQ(base, memory);
    EXPECT_GE(size, 1000u);
    EXPECT_ACL_OK(aclrtMemGetAddressRange(memory, nullptr, nullptr));
    int local = 0;
    EXPECT_ACL_FAILS(ACL_ERROR_RT_PARAM_INVALID, "ptr", aclrtMemGetAddressRange(&local, &base, &size));
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "ptr", aclrtMemGetAddressRange(nullptr, &base, &size));
}

TEST_F(MemoryAllocate, ManyThreadsAllocateAndFree) {
    std::vector<std::thread> threads;
    for (int thread = 0; thread < 4; ++thread)
        threads.emplace_back([thread] {
            ASSERT_ACL_OK(aclrtSetDevice(0));
            for (int round = 0; round < 500; ++round) {
                void* memory[8] = {};
                for (int index = 0; index < 8; ++index) {
                    ASSERT_ACL_OK(aclrtMalloc(&memory[index], 64u << (index + thread), ACL_MEM_MALLOC_HUGE_FIRST));
                    ASSERT_ACL_OK(aclrtMemset(memory[index], 64, thread + 1, 64));
                }
                for (void* block : memory) {
                    char last = 0;
                    ASSERT_ACL_OK(aclrtMemcpy(&last, 1, static_cast<char*>(block) + 63, 1, ACL_MEMCPY_DEVICE_TO_HOST));
                    ASSERT_EQ(last, thread + 1);
                    ASSERT_ACL_OK(aclrtFree(block));
                }
            }
            ASSERT_ACL_OK(aclrtResetDevice(0));
        });
    for (std::thread& thread : threads) thread.join();
}

}  // namespace
}  // namespace conformance
