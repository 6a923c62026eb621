// SPDX-License-Identifier: Apache-2.0
// A program's own allocator, registered for a stream, looked up there and used.
#include "acl/acl_rt_allocator.h"
#include "check.h"

namespace {

struct Allocator {
    int allocated = 0, freed = 0;
};

struct Block {
    void* memory = nullptr;
};

void* allocate(aclrtAllocator object, std::size_t size) {
    auto* block = new Block;
    CHECK(aclrtMalloc(&block->memory, size, ACL_MEM_MALLOC_HUGE_FIRST));
    ++static_cast<Allocator*>(object)->allocated;
    return block;
}

void* allocate_near(aclrtAllocator object, std::size_t size, aclrtAllocatorAddr) { return allocate(object, size); }

void release(aclrtAllocator object, aclrtAllocatorBlock block) {
    CHECK(aclrtFree(static_cast<Block*>(block)->memory));
    delete static_cast<Block*>(block);
    ++static_cast<Allocator*>(object)->freed;
}

void* address_of(aclrtAllocatorBlock block) { return static_cast<Block*>(block)->memory; }

void use(aclrtStream stream) {
    aclrtAllocatorDesc description = nullptr;
    aclrtAllocator object = nullptr;
    aclrtAllocatorAllocFunc take = nullptr;
    aclrtAllocatorFreeFunc give_back = nullptr;
    aclrtAllocatorAllocAdviseFunc take_near = nullptr;
    aclrtAllocatorGetAddrFromBlockFunc find = nullptr;
    CHECK(aclrtAllocatorGetByStream(stream, &description, &object, &take, &give_back, &take_near, &find));
    REQUIRE(object != nullptr && take && give_back && take_near && find);
    void* first = take(object, 100);
    void* second = take_near(object, 100, find(first));
    CHECK(aclrtMemsetAsync(find(first), 100, 1, 100, stream));
    CHECK(aclrtMemcpyAsync(find(second), 100, find(first), 100, ACL_MEMCPY_DEVICE_TO_DEVICE, stream));
    CHECK(aclrtSynchronizeStream(stream));
    REQUIRE(programs::to_host(static_cast<char*>(find(second)), 100) == std::vector<char>(100, 1));
    give_back(object, first);
    give_back(object, second);
}

}  // namespace

int main() {
    programs::Device device;
    aclrtStream stream = programs::new_stream();
    Allocator allocator;
    aclrtAllocatorDesc description = aclrtAllocatorCreateDesc();
    REQUIRE(description != nullptr);
    CHECK(aclrtAllocatorSetObjToDesc(description, &allocator));
    CHECK(aclrtAllocatorSetAllocFuncToDesc(description, allocate));
    CHECK(aclrtAllocatorSetAllocAdviseFuncToDesc(description, allocate_near));
    CHECK(aclrtAllocatorSetFreeFuncToDesc(description, release));
    CHECK(aclrtAllocatorSetGetAddrFromBlockFuncToDesc(description, address_of));
    CHECK(aclrtAllocatorRegister(stream, description));
    CHECK(aclrtAllocatorDestroyDesc(description));  // the stream keeps its registration
    use(stream);
    CHECK(aclrtAllocatorUnregister(stream));
    REQUIRE(allocator.allocated == 2 && allocator.freed == 2);
    CHECK(aclrtDestroyStream(stream));
    std::printf("own_allocator: 2 blocks\n");
}
