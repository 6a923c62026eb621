// SPDX-License-Identifier: Apache-2.0
// Many threads use many kinds of memory, including invalid calls, for a bounded number of steps. Sanitizers and the
// fixture detect the errors: leaked bytes, leaked handles, races, crashes.
#include <random>
#include <thread>

#include "fixtures/fixture.h"

namespace conformance {
namespace {

using MemoryStress = DeviceTest;

constexpr int threads = 4;
constexpr int rounds = 400;

// The work of one thread: a stream, a random sequence, and memory it has not freed yet.
class Worker {
public:
    Worker(unsigned seed, aclrtMemPool pool) : random_(seed), pool_(pool) {}

    void run() {
        ASSERT_ACL_OK(aclrtSetDevice(0));
        ASSERT_ACL_OK(aclrtCreateStream(&stream_));
        for (int round = 0; round < rounds && !testing::Test::HasFatalFailure(); ++round) step();
        ASSERT_ACL_OK(aclrtSynchronizeStream(stream_));
        for (void* memory : device_) EXPECT_ACL_OK(aclrtFree(memory));
        for (void* memory : pinned_) EXPECT_ACL_OK(aclrtFreeHost(memory));
        for (void* memory : blocks_) EXPECT_ACL_OK(aclrtMemPoolFreeAsync(memory, stream_));
        EXPECT_ACL_OK(aclrtDestroyStream(stream_));
        EXPECT_ACL_OK(aclrtResetDevice(0));
    }

private:
    static constexpr size_t size = 4096;
    unsigned pick(unsigned limit) { return static_cast<unsigned>(random_() % limit); }
    void* any(std::vector<void*>& from) {
        return from.empty() ? nullptr : from[pick(static_cast<unsigned>(from.size()))];
    }
    void* take_any(std::vector<void*>& from) {
        if (from.empty()) return nullptr;
        std::swap(from[pick(static_cast<unsigned>(from.size()))], from.back());
        void* memory = from.back();
        from.pop_back();
        return memory;
    }

    void step() {
        switch (pick(12)) {
            case 0:
                return allocate_device();
            case 1:
                return allocate_pinned();
            case 2:
                return allocate_block();
            case 3:
                return free_one();
            case 4:
                return copy(any(device_), any(pinned_));
            case 5:
                return copy(any(pinned_), any(blocks_));
            case 6:
                return copy(any(blocks_), any(device_));
            case 7:
                return fill(any(blocks_));
            case 8:
                return fill(any(device_));
            case 9:
                return managed();
            case 10:
                return registered();
            default:
                return mistake();
        }
    }
    void allocate_device() {
        void* memory = nullptr;
        ASSERT_ACL_OK(aclrtMalloc(&memory, size + pick(100000), ACL_MEM_MALLOC_HUGE_FIRST));
        device_.push_back(memory);
    }
    void allocate_pinned() {
        void* memory = nullptr;
        ASSERT_ACL_OK(aclrtMallocHost(&memory, size));
        std::memset(memory, 1, size);
        pinned_.push_back(memory);
    }
    void allocate_block() {
        void* memory = nullptr;
        ASSERT_ACL_OK(aclrtMemPoolMallocAsync(&memory, size + pick(300000), pool_, stream_));
        blocks_.push_back(memory);
    }
    void free_one() {
        if (void* memory = take_any(device_)) {
            ASSERT_ACL_OK(aclrtFree(memory));
        }
        if (void* memory = take_any(blocks_)) {
            ASSERT_ACL_OK(aclrtMemPoolFreeAsync(memory, stream_));
        }
        if (void* memory = take_any(pinned_)) {
            ASSERT_ACL_OK(aclrtSynchronizeStream(stream_));
            ASSERT_ACL_OK(aclrtFreeHost(memory));
        }
    }
    void copy(void* to, void* from) {
        if (!to || !from) return;
        ASSERT_ACL_OK(aclrtMemcpyAsync(to, size, from, size, ACL_MEMCPY_DEFAULT, stream_));
    }
    void fill(void* memory) {
        if (!memory) return;
        ASSERT_ACL_OK(aclrtMemsetAsync(memory, size, 7, size, stream_));
    }
    void managed() {
        void* memory = nullptr;
        ASSERT_ACL_OK(aclrtMemAllocManaged(&memory, size, ACL_RT_MEM_ATTACH_GLOBAL));
        ASSERT_ACL_OK(aclrtMemsetAsync(memory, size, 7, size, stream_));
        ASSERT_ACL_OK(aclrtSynchronizeStream(stream_));
        ASSERT_ACL_OK(aclrtFree(memory));
    }
    void registered() {
        if (!device_reaches_all_memory()) return;
        void *memory = std::aligned_alloc(4096, size), *mapped = nullptr;
        ASSERT_ACL_OK(aclrtHostRegister(memory, size, ACL_HOST_REGISTER_MAPPED, &mapped));
        if (void* device = any(device_)) {
            ASSERT_ACL_OK(aclrtMemcpyAsync(memory, size, device, size, ACL_MEMCPY_DEVICE_TO_HOST, stream_));
        }
        ASSERT_ACL_OK(aclrtSynchronizeStream(stream_));
        ASSERT_ACL_OK(aclrtHostUnregister(memory));
        std::free(memory);
    }
    void mistake() {
        int local = 0;
        EXPECT_NE(aclrtFree(&local), ACL_SUCCESS);
        EXPECT_NE(aclrtMemcpyAsync(&local, 4, nullptr, 4, ACL_MEMCPY_DEFAULT, stream_), ACL_SUCCESS);
        EXPECT_NE(aclrtMemPoolFreeAsync(&local, stream_), ACL_SUCCESS);
        EXPECT_NE(aclrtUnmapMem(&local), ACL_SUCCESS);
        EXPECT_NE(aclrtHostUnregister(&local), ACL_SUCCESS);
        recent_error();
    }

    std::minstd_rand random_;
    aclrtMemPool pool_;
    aclrtStream stream_ = nullptr;
    std::vector<void*> device_, pinned_, blocks_;
};

TEST_F(MemoryStress, ManyThreadsUseEveryKindOfMemory) {
    aclrtMemPoolProps properties = {};
    properties.location = {0, ACL_MEM_LOCATION_TYPE_DEVICE};
    aclrtMemPool pool = nullptr;
    ASSERT_ACL_OK(aclrtMemPoolCreate(&pool, &properties));
    std::vector<std::thread> workers;
    for (unsigned seed = 1; seed <= threads; ++seed) workers.emplace_back([=] { Worker(seed, pool).run(); });
    for (std::thread& worker : workers) worker.join();
    EXPECT_ACL_OK(aclrtMemPoolDestroy(pool));
}

TEST_F(MemoryStress, ThreadsMapAndUnmapTheSameReservation) {
    if (!device_maps_memory()) GTEST_SKIP() << "this device maps nothing";
    constexpr size_t page = size_t{2} << 20;
    void* address = nullptr;
    ASSERT_ACL_OK(aclrtReserveMemAddress(&address, threads * page, 0, nullptr, 0));
    std::vector<std::thread> workers;
    for (int index = 0; index < threads; ++index)
        workers.emplace_back([=] {
            ASSERT_ACL_OK(aclrtSetDevice(0));
            char* mine = static_cast<char*>(address) + index * page;
            aclrtPhysicalMemProp properties = {};
            properties.memAttr = ACL_HBM_MEM_HUGE;
            properties.location = {0, ACL_MEM_LOCATION_TYPE_DEVICE};
            for (int round = 0; round < 50; ++round) {
                aclrtDrvMemHandle handle = nullptr;
                ASSERT_ACL_OK(aclrtMallocPhysical(&handle, page, &properties, 0));
                ASSERT_ACL_OK(aclrtMapMem(mine, page, 0, handle, 0));
                ASSERT_ACL_OK(aclrtMemset(mine, 64, index + 1, 64));
                ASSERT_ACL_OK(aclrtFreePhysical(handle));
                ASSERT_EQ(mine[63], index + 1);
                ASSERT_ACL_OK(aclrtUnmapMem(mine));
            }
            ASSERT_ACL_OK(aclrtResetDevice(0));
        });
    for (std::thread& worker : workers) worker.join();
    EXPECT_ACL_OK(aclrtReleaseMemAddress(address));
}

}  // namespace
}  // namespace conformance
