// SPDX-License-Identifier: Apache-2.0
// Memory pools and stream-ordered allocation.
#include <thread>

#include "fixtures/fixture.h"

namespace conformance {
namespace {

constexpr size_t mebibyte = size_t{1} << 20;

aclrtMemPoolProps pool_properties(size_t limit = 0) {
    aclrtMemPoolProps properties = {};
    properties.allocType = ACL_MEM_ALLOCATION_TYPE_PINNED;
    properties.handleType = ACL_MEM_HANDLE_TYPE_NONE;
    properties.location = {0, ACL_MEM_LOCATION_TYPE_DEVICE};
    properties.maxSize = limit;
    return properties;
}

class MemoryPoolTest : public DeviceTest {
protected:
    void SetUp() override {
        DeviceTest::SetUp();
        const aclrtMemPoolProps properties = pool_properties();
        ASSERT_ACL_OK(aclrtMemPoolCreate(&pool_, &properties));
        ASSERT_ACL_OK(aclrtCreateStream(&other_));
    }
    void TearDown() override {
        if (pool_) {
            EXPECT_ACL_OK(aclrtMemPoolDestroy(pool_));
        }
        EXPECT_ACL_OK(aclrtDestroyStream(other_));
        DeviceTest::TearDown();
    }
    void* take(size_t size, aclrtStream stream) {
        void* block = nullptr;
        EXPECT_ACL_OK(aclrtMemPoolMallocAsync(&block, size, pool_, stream));
        return block;
    }
    uint64_t attribute(aclrtMemPoolAttr which) {
        uint64_t value = 0;
        EXPECT_ACL_OK(aclrtMemPoolGetAttr(pool_, which, &value));
        return value;
    }
    void set(aclrtMemPoolAttr which, uint64_t value) { EXPECT_ACL_OK(aclrtMemPoolSetAttr(pool_, which, &value)); }

    aclrtMemPool pool_ = nullptr;
    aclrtStream other_ = nullptr;
};

TEST_F(MemoryPoolTest, BlocksAreDeviceMemory) {
    void* block = take(1000, stream_);
    ASSERT_ACL_OK(aclrtMemset(block, 1000, 3, 1000));
    EXPECT_EQ(read_back(static_cast<char*>(block), 1000), std::vector<char>(1000, 3));
    aclrtPtrAttributes found = {};
    EXPECT_ACL_OK(aclrtPointerGetAttributes(block, &found));
    EXPECT_EQ(found.location.type, ACL_MEM_LOCATION_TYPE_DEVICE);
    EXPECT_ACL_FAILS(ACL_ERROR_RT_PARAM_INVALID, "devPtr", aclrtMemset(block, 4096, 3, 4096));
    EXPECT_ACL_OK(aclrtMemPoolFreeAsync(block, stream_));
    EXPECT_ACL_FAILS(ACL_ERROR_RT_PARAM_INVALID, "not allocated", aclrtMemset(block, 8, 3, 8));
}

TEST_F(MemoryPoolTest, AFreedBlockIsReusedAtOnceInItsStream) {
    void* first = take(mebibyte, stream_);
    ASSERT_ACL_OK(aclrtMemPoolFreeAsync(first, stream_));
    EXPECT_EQ(take(mebibyte, stream_), first);
    EXPECT_ACL_OK(aclrtMemPoolFreeAsync(first, stream_));
}

TEST_F(MemoryPoolTest, OtherStreamsWaitUntilTheFreeHasHappened) {
    if (!device_computes()) GTEST_SKIP();
    auto* word = static_cast<uint64_t*>(device_memory(8));
    ASSERT_ACL_OK(aclrtMemset(word, 8, 0, 8));
    void* first = take(2 * mebibyte, stream_);
    ASSERT_ACL_OK(aclrtValueWait(word, 1, 1, stream_));
    ASSERT_ACL_OK(aclrtMemPoolFreeAsync(first, stream_));
    void* second = take(2 * mebibyte, other_);
    EXPECT_NE(second, first);  // the stream has not reached the free yet
    const uint64_t one = 1;
    ASSERT_ACL_OK(aclrtMemcpy(word, 8, &one, 8, ACL_MEMCPY_HOST_TO_DEVICE));
    set(ACL_RT_MEM_POOL_ATTR_RELEASE_THRESHOLD, UINT64_MAX);
    ASSERT_ACL_OK(aclrtSynchronizeStream(stream_));
    EXPECT_EQ(take(2 * mebibyte, other_), first);
    EXPECT_ACL_OK(aclrtMemPoolFreeAsync(first, other_));
    EXPECT_ACL_OK(aclrtMemPoolFreeAsync(second, other_));
}

TEST_F(MemoryPoolTest, OpportunisticReuseCanBeSwitchedOff) {
    uint32_t off = 0, value = 9;
    ASSERT_ACL_OK(aclrtMemPoolSetAttr(pool_, ACL_RT_MEM_POOL_REUSE_ALLOW_OPPORTUNISTIC, &off));
    ASSERT_ACL_OK(aclrtMemPoolGetAttr(pool_, ACL_RT_MEM_POOL_REUSE_ALLOW_OPPORTUNISTIC, &value));
    EXPECT_EQ(value, 0u);
    void* first = take(2 * mebibyte, stream_);
    ASSERT_ACL_OK(aclrtMemPoolFreeAsync(first, stream_));
    void* second = take(2 * mebibyte, other_);
    EXPECT_NE(second, first);
    EXPECT_ACL_OK(aclrtMemPoolFreeAsync(second, other_));
}

TEST_F(MemoryPoolTest, TheSmallestBlockThatFitsIsTaken) {
    void* large = take(6 * mebibyte, stream_);
    void* small = take(2 * mebibyte, stream_);
    ASSERT_ACL_OK(aclrtMemPoolFreeAsync(large, stream_));
    ASSERT_ACL_OK(aclrtMemPoolFreeAsync(small, stream_));
    EXPECT_EQ(take(2 * mebibyte, stream_), small);
    EXPECT_EQ(take(5 * mebibyte, stream_), large);
    EXPECT_ACL_OK(aclrtMemPoolFreeAsync(large, stream_));
    EXPECT_ACL_OK(aclrtMemPoolFreeAsync(small, stream_));
}

TEST_F(MemoryPoolTest, SmallBlocksShareAChunkAndGrowTogetherAgain) {
    std::vector<void*> blocks;
    for (int index = 0; index < 16; ++index) blocks.push_back(take(mebibyte / 8, stream_));
    EXPECT_EQ(attribute(ACL_RT_MEM_POOL_ATTR_RESERVED_MEM_CURRENT), 2 * mebibyte);
    for (void* block : blocks) ASSERT_ACL_OK(aclrtMemPoolFreeAsync(block, stream_));
    void* whole = take(2 * mebibyte, stream_);
    EXPECT_EQ(attribute(ACL_RT_MEM_POOL_ATTR_RESERVED_MEM_CURRENT), 2 * mebibyte);
    EXPECT_ACL_OK(aclrtMemPoolFreeAsync(whole, stream_));
}

TEST_F(MemoryPoolTest, AttributesCountBytesAndRememberTheirPeaks) {
    EXPECT_EQ(attribute(ACL_RT_MEM_POOL_ATTR_RESERVED_MEM_CURRENT), 0u);
    EXPECT_EQ(attribute(ACL_RT_MEM_POOL_ATTR_RELEASE_THRESHOLD), 0u);
    void* block = take(3 * mebibyte, stream_);
    EXPECT_EQ(attribute(ACL_RT_MEM_POOL_ATTR_USED_MEM_CURRENT), 3 * mebibyte);
    EXPECT_EQ(attribute(ACL_RT_MEM_POOL_ATTR_RESERVED_MEM_CURRENT), 4 * mebibyte);
    ASSERT_ACL_OK(aclrtMemPoolFreeAsync(block, stream_));
    EXPECT_EQ(attribute(ACL_RT_MEM_POOL_ATTR_USED_MEM_CURRENT), 0u);
    EXPECT_EQ(attribute(ACL_RT_MEM_POOL_ATTR_USED_MEM_HIGH), 3 * mebibyte);
    EXPECT_EQ(attribute(ACL_RT_MEM_POOL_ATTR_RESERVED_MEM_HIGH), 4 * mebibyte);
    ASSERT_ACL_OK(aclrtSynchronizeStream(stream_));
    EXPECT_EQ(attribute(ACL_RT_MEM_POOL_ATTR_RESERVED_MEM_CURRENT), 0u);  // above the threshold: released at the sync
    set(ACL_RT_MEM_POOL_ATTR_USED_MEM_HIGH, 0);
    set(ACL_RT_MEM_POOL_ATTR_RESERVED_MEM_HIGH, 0);
    EXPECT_EQ(attribute(ACL_RT_MEM_POOL_ATTR_USED_MEM_HIGH), 0u);
    EXPECT_EQ(attribute(ACL_RT_MEM_POOL_ATTR_RESERVED_MEM_HIGH), 0u);
}

TEST_F(MemoryPoolTest, IdleMemoryBelowTheThresholdStaysUntilTrimmed) {
    set(ACL_RT_MEM_POOL_ATTR_RELEASE_THRESHOLD, 4 * mebibyte);
    void *first = take(4 * mebibyte, stream_), *second = take(4 * mebibyte, stream_);
    ASSERT_ACL_OK(aclrtMemPoolFreeAsync(first, stream_));
    ASSERT_ACL_OK(aclrtMemPoolFreeAsync(second, stream_));
    ASSERT_ACL_OK(aclrtSynchronizeStream(stream_));
    EXPECT_EQ(attribute(ACL_RT_MEM_POOL_ATTR_RESERVED_MEM_CURRENT), 4 * mebibyte);
    ASSERT_ACL_OK(aclrtMemPoolTrimTo(pool_, 4 * mebibyte));
    EXPECT_EQ(attribute(ACL_RT_MEM_POOL_ATTR_RESERVED_MEM_CURRENT), 4 * mebibyte);
    ASSERT_ACL_OK(aclrtMemPoolTrimTo(pool_, 0));
    EXPECT_EQ(attribute(ACL_RT_MEM_POOL_ATTR_RESERVED_MEM_CURRENT), 0u);
}

TEST_F(MemoryPoolTest, SwitchesAreOnAndCanBeSet) {
    for (int which = ACL_RT_MEM_POOL_REUSE_FOLLOW_EVENT_DEPENDENCIES;
         which <= ACL_RT_MEM_POOL_REUSE_ALLOW_INTERNAL_DEPENDENCIES; ++which) {
        const auto attr = static_cast<aclrtMemPoolAttr>(which);
        uint32_t value[2] = {9, 77}, off = 0, wrong = 2;
        EXPECT_ACL_OK(aclrtMemPoolGetAttr(pool_, attr, value));
        EXPECT_EQ(value[0], 1u);
        EXPECT_EQ(value[1], 77u);  // a flag attribute is 32 bits wide
        EXPECT_ACL_OK(aclrtMemPoolSetAttr(pool_, attr, &off));
        EXPECT_ACL_OK(aclrtMemPoolGetAttr(pool_, attr, value));
        EXPECT_EQ(value[0], 0u);
        EXPECT_ACL_FAILS(ACL_ERROR_RT_PARAM_INVALID, "value", aclrtMemPoolSetAttr(pool_, attr, &wrong));
    }
}

TEST_F(MemoryPoolTest, AttributeArgumentsAreChecked) {
    uint64_t value = 5;
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "memPool",
                     aclrtMemPoolGetAttr(nullptr, ACL_RT_MEM_POOL_ATTR_USED_MEM_HIGH, &value));
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "value",
                     aclrtMemPoolGetAttr(pool_, ACL_RT_MEM_POOL_ATTR_USED_MEM_HIGH, nullptr));
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "attr",
                     aclrtMemPoolGetAttr(pool_, static_cast<aclrtMemPoolAttr>(0), &value));
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "attr",
                     aclrtMemPoolSetAttr(pool_, static_cast<aclrtMemPoolAttr>(9), &value));
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "memPool",
                     aclrtMemPoolSetAttr(nullptr, ACL_RT_MEM_POOL_ATTR_USED_MEM_HIGH, &value));
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "value",
                     aclrtMemPoolSetAttr(pool_, ACL_RT_MEM_POOL_ATTR_USED_MEM_HIGH, nullptr));
    for (auto attr : {ACL_RT_MEM_POOL_ATTR_USED_MEM_HIGH, ACL_RT_MEM_POOL_ATTR_RESERVED_MEM_HIGH})
        EXPECT_ACL_FAILS(ACL_ERROR_RT_PARAM_INVALID, "only be set to 0", aclrtMemPoolSetAttr(pool_, attr, &value));
    for (auto attr : {ACL_RT_MEM_POOL_ATTR_USED_MEM_CURRENT, ACL_RT_MEM_POOL_ATTR_RESERVED_MEM_CURRENT})
        EXPECT_ACL_FAILS(ACL_ERROR_RT_PARAM_INVALID, "only be read", aclrtMemPoolSetAttr(pool_, attr, &value));
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "memPool", aclrtMemPoolTrimTo(nullptr, 0));
}

TEST_F(MemoryPoolTest, CreateChecksItsProperties) {
    aclrtMemPool made = nullptr;
    aclrtMemPoolProps properties = pool_properties();
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "memPool", aclrtMemPoolCreate(nullptr, &properties));
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "poolProps", aclrtMemPoolCreate(&made, nullptr));
    properties.location.type = ACL_MEM_LOCATION_TYPE_HOST;
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "location", aclrtMemPoolCreate(&made, &properties));
    properties = pool_properties();
    properties.location.id = 1000;
    EXPECT_ACL_FAILS(ACL_ERROR_RT_INVALID_DEVICEID, "device", aclrtMemPoolCreate(&made, &properties));
    properties = pool_properties();
    properties.handleType = ACL_MEM_HANDLE_TYPE_POSIX;
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "handleType", aclrtMemPoolCreate(&made, &properties));
    properties = pool_properties();
    properties.reserved[31] = 1;
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "reserved", aclrtMemPoolCreate(&made, &properties));
    properties = pool_properties();
    properties.allocType = static_cast<aclrtMemAllocationType>(3);
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "allocType", aclrtMemPoolCreate(&made, &properties));
    EXPECT_EQ(made, nullptr);
}

TEST_F(MemoryPoolTest, LimitIsKept) {
    const aclrtMemPoolProps properties = pool_properties(3 * mebibyte);
    aclrtMemPool small = nullptr;
    ASSERT_ACL_OK(aclrtMemPoolCreate(&small, &properties));
    void *first = nullptr, *second = nullptr, *third = nullptr;
    ASSERT_ACL_OK(aclrtMemPoolMallocAsync(&first, 2 * mebibyte, small, stream_));
    ASSERT_ACL_OK(aclrtMemPoolMallocAsync(&second, mebibyte, small, stream_));
    EXPECT_ACL_FAILS(ACL_ERROR_RT_MEMORY_ALLOCATION, "pool", aclrtMemPoolMallocAsync(&third, 1, small, stream_));
    EXPECT_ACL_FAILS(ACL_ERROR_RT_MEMORY_ALLOCATION, "", aclrtMemPoolMallocAsync(&third, SIZE_MAX, small, stream_));
    EXPECT_ACL_OK(aclrtMemPoolFreeAsync(first, stream_));
    EXPECT_ACL_OK(aclrtMemPoolFreeAsync(second, stream_));
    ASSERT_ACL_OK(aclrtMemPoolMallocAsync(&third, 3 * mebibyte, small, stream_));  // reclaims idle chunks
    EXPECT_ACL_OK(aclrtMemPoolFreeAsync(third, stream_));
    EXPECT_ACL_OK(aclrtMemPoolDestroy(small));
}

TEST_F(MemoryPoolTest, DestroyRefusesWhileBlocksAreInUse) {
    void* block = take(64, stream_);
    EXPECT_ACL_FAILS(ACL_ERROR_RT_PARAM_INVALID, "in use", aclrtMemPoolDestroy(pool_));
    EXPECT_ACL_OK(aclrtFree(block));  // the plain free also accepts pool blocks
    EXPECT_ACL_OK(aclrtMemPoolDestroy(pool_));
    EXPECT_ACL_FAILS(ACL_ERROR_RT_INVALID_HANDLE, "memPool", aclrtMemPoolDestroy(pool_));
    uint64_t value = 0;
    void* none = nullptr;
    EXPECT_ACL_FAILS(ACL_ERROR_RT_INVALID_HANDLE, "memPool",
                     aclrtMemPoolGetAttr(pool_, ACL_RT_MEM_POOL_ATTR_USED_MEM_HIGH, &value));
    EXPECT_ACL_FAILS(ACL_ERROR_RT_INVALID_HANDLE, "memPool",
                     aclrtMemPoolSetAttr(pool_, ACL_RT_MEM_POOL_ATTR_USED_MEM_HIGH, &value));
    EXPECT_ACL_FAILS(ACL_ERROR_RT_INVALID_HANDLE, "memPool", aclrtMemPoolTrimTo(pool_, 0));
    EXPECT_ACL_FAILS(ACL_ERROR_RT_INVALID_HANDLE, "memPool", aclrtMemPoolMallocAsync(&none, 64, pool_, stream_));
    EXPECT_ACL_FAILS(ACL_ERROR_RT_INVALID_HANDLE, "memPool", aclrtMemPoolMallocAsync(&none, 64, stream_, stream_));
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "memPool", aclrtMemPoolDestroy(nullptr));
    pool_ = nullptr;
}

TEST_F(MemoryPoolTest, AllocationArgumentsAreChecked) {
    void* block = nullptr;
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "ptr", aclrtMemPoolMallocAsync(nullptr, 64, pool_, stream_));
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "memPool", aclrtMemPoolMallocAsync(&block, 64, nullptr, stream_));
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "stream", aclrtMemPoolMallocAsync(&block, 64, pool_, nullptr));
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "size", aclrtMemPoolMallocAsync(&block, 0, pool_, stream_));
    EXPECT_ACL_FAILS(ACL_ERROR_RT_INVALID_HANDLE, "stream", aclrtMemPoolMallocAsync(&block, 64, pool_, &block));
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "ptr", aclrtMemPoolFreeAsync(nullptr, stream_));
    EXPECT_ACL_FAILS(ACL_ERROR_RT_PARAM_INVALID, "pool", aclrtMemPoolFreeAsync(device_memory(64), stream_));
    EXPECT_EQ(block, nullptr);
    block = take(64, stream_);
    EXPECT_ACL_FAILS(ACL_ERROR_RT_INVALID_HANDLE, "stream", aclrtMemPoolFreeAsync(block, &block));
    EXPECT_ACL_FAILS(ACL_ERROR_RT_PARAM_INVALID, "not the start",
                     aclrtMemPoolFreeAsync(static_cast<char*>(block) + 8, stream_));
    EXPECT_ACL_FAILS(ACL_ERROR_RT_PARAM_INVALID, "not the start", aclrtFree(static_cast<char*>(block) + 8));
    EXPECT_ACL_OK(aclrtMemPoolFreeAsync(block, nullptr));
    EXPECT_ACL_FAILS(ACL_ERROR_RT_PARAM_INVALID, "already returned", aclrtMemPoolFreeAsync(block, stream_));
    EXPECT_ACL_FAILS(ACL_ERROR_RT_PARAM_INVALID, "already returned", aclrtFree(block));
}

TEST_F(MemoryPoolTest, PoolOfAnotherDeviceIsRefused) {
    aclrtMemPoolProps properties = pool_properties();
    properties.location.id = 1;
    aclrtMemPool there = nullptr;
    ASSERT_ACL_OK(aclrtMemPoolCreate(&there, &properties));
    void* block = nullptr;
    EXPECT_ACL_FAILS(ACL_ERROR_RT_PARAM_INVALID, "device", aclrtMemPoolMallocAsync(&block, 64, there, stream_));
    EXPECT_ACL_OK(aclrtMemPoolDestroy(there));
}

TEST_F(MemoryPoolTest, ManyThreadsShareAPool) {
    std::vector<std::thread> threads;
    for (int thread = 0; thread < 4; ++thread)
        threads.emplace_back([this, thread] {
            ASSERT_ACL_OK(aclrtSetDevice(0));
            aclrtStream stream = nullptr;
            ASSERT_ACL_OK(aclrtCreateStream(&stream));
            for (int round = 0; round < 300; ++round) {
                const size_t size = 1024u << (round % 5);
                void* block = nullptr;
                ASSERT_ACL_OK(aclrtMemPoolMallocAsync(&block, size, pool_, stream));
                ASSERT_ACL_OK(aclrtMemsetAsync(block, size, thread + 1, size, stream));
                if (device_computes()) {
                    unsigned char last = 0;
                    ASSERT_ACL_OK(aclrtMemcpyAsync(&last, 1, static_cast<char*>(block) + size - 1, 1,
                                                   ACL_MEMCPY_DEVICE_TO_HOST, stream));
                    ASSERT_EQ(last, thread + 1);
                }
                ASSERT_ACL_OK(aclrtMemPoolFreeAsync(block, stream));
            }
            ASSERT_ACL_OK(aclrtDestroyStream(stream));
            ASSERT_ACL_OK(aclrtResetDevice(0));
        });
    for (std::thread& thread : threads) thread.join();
    EXPECT_EQ(attribute(ACL_RT_MEM_POOL_ATTR_USED_MEM_CURRENT), 0u);
}

}  // namespace
}  // namespace conformance
