// SPDX-License-Identifier: Apache-2.0
// Entry points: memory pools and stream-ordered allocation.
#include <acl/acl_rt.h>
#include <acl/acl_rt_memory_soma.h>

#include <algorithm>
#include <cstring>

#include "api/api.h"
#include "core/graph/capture/stream_memory.h"
#include "core/memory/memory_pool.h"
#include "core/stream/stream.h"
#include "device/opaque_pointer.h"

using namespace canopy;

namespace {

Result<PoolOptions> read_options(const aclrtMemPoolProps& given) {
    if (given.allocType != ACL_MEM_ALLOCATION_TYPE_PINNED)
        return fail(code::invalid_parameter, "poolProps->allocType {} is not ACL_MEM_ALLOCATION_TYPE_PINNED",
                    static_cast<int>(given.allocType));
    if (given.handleType != ACL_MEM_HANDLE_TYPE_NONE)
        return fail(code::invalid_parameter, "poolProps->handleType {} is not ACL_MEM_HANDLE_TYPE_NONE",
                    static_cast<int>(given.handleType));
    if (given.location.type != ACL_MEM_LOCATION_TYPE_DEVICE)
        return fail(code::invalid_parameter, "poolProps->location.type {} is not a device",
                    static_cast<int>(given.location.type));
    const bool clear =
        std::all_of(std::begin(given.reserved), std::end(given.reserved), [](unsigned char byte) { return byte == 0; });
    if (!clear) return fail(code::invalid_parameter, "poolProps->reserved must be all 0");
    return PoolOptions{given.location.id, given.maxSize};
}

bool is_switch(aclrtMemPoolAttr attribute) {
    return attribute >= ACL_RT_MEM_POOL_REUSE_FOLLOW_EVENT_DEPENDENCIES &&
           attribute <= ACL_RT_MEM_POOL_REUSE_ALLOW_INTERNAL_DEPENDENCIES;
}

Status check_attribute(aclrtMemPoolAttr attribute) {
    if (attribute < ACL_RT_MEM_POOL_REUSE_FOLLOW_EVENT_DEPENDENCIES || attribute > ACL_RT_MEM_POOL_ATTR_USED_MEM_HIGH)
        return fail(code::invalid_parameter, "attr {} does not exist", static_cast<int>(attribute));
    return {};
}

}  // namespace

extern "C" {

aclError aclrtMemPoolCreate(aclrtMemPool* memPool, const aclrtMemPoolProps* poolProps) {
    return changing_api([&]() -> Status {
        CANOPY_TRY(required(memPool, "memPool"));
        CANOPY_TRY(required(poolProps, "poolProps"));
        Result<PoolOptions> options = read_options(*poolProps);
        if (!options.ok()) return options.status();
        Result<Handle> pool = create_pool(*options);
        if (!pool.ok()) return pool.status();
        *memPool = opaque_of(*pool);
        return {};
    });
}

aclError aclrtMemPoolDestroy(const aclrtMemPool memPool) {
    return changing_api([&]() -> Status {
        CANOPY_TRY(required(memPool, "memPool"));
        return destroy_pool(handle_of(memPool));
    });
}

aclError aclrtMemPoolMallocAsync(void** ptr, size_t size, aclrtMemPool memPool, aclrtStream stream) {
    return changing_api([&]() -> Status {
        CANOPY_TRY(required(ptr, "ptr"));
        CANOPY_TRY(required(memPool, "memPool"));
        CANOPY_TRY(required(stream, "stream"));
        if (size == 0) return fail(code::invalid_parameter, "size must not be 0");
        Result<Pin<MemoryPool>> pool = find_pool(memPool);
        if (!pool.ok()) return pool.status();
        Result<Pin<Stream>> user = find_stream(stream, true);
        if (!user.ok()) return user.status();
        if ((*user)->record != (*pool)->record)
            return fail(code::param_invalid, "stream belongs to device {}, memPool to device {}",
                        (*user)->record->index, (*pool)->record->index);
        Result<DeviceAddress> block = allocate_in_stream(**pool, size, **user);
        if (!block.ok()) return block.status();
        *ptr = opaque_pointer(*block);
        return {};
    });
}

aclError aclrtMemPoolFreeAsync(void* ptr, aclrtStream stream) {
    return changing_api([&]() -> Status {
        CANOPY_TRY(required(ptr, "ptr"));
        Result<Pin<Stream>> user = find_stream(stream, true);
        if (!user.ok()) return user.status();
        return free_in_stream(device_address(ptr), **user);
    });
}

aclError aclrtMemPoolSetAttr(aclrtMemPool memPool, aclrtMemPoolAttr attr, void* value) {
    return api([&]() -> Status {
        CANOPY_TRY(required(memPool, "memPool"));
        CANOPY_TRY(required(value, "value"));
        CANOPY_TRY(check_attribute(attr));
        Result<Pin<MemoryPool>> pool = find_pool(memPool);
        if (!pool.ok()) return pool.status();
        std::uint64_t number = 0;
        if (is_switch(attr)) {
            std::uint32_t flag = 0;
            std::memcpy(&flag, value, sizeof(flag));
            number = flag;
        } else {
            std::memcpy(&number, value, sizeof(number));
        }
        return (*pool)->set_attribute(static_cast<PoolAttribute>(attr), number);
    });
}

aclError aclrtMemPoolGetAttr(aclrtMemPool memPool, aclrtMemPoolAttr attr, void* value) {
    return api([&]() -> Status {
        CANOPY_TRY(required(memPool, "memPool"));
        CANOPY_TRY(required(value, "value"));
        CANOPY_TRY(check_attribute(attr));
        Result<Pin<MemoryPool>> pool = find_pool(memPool);
        if (!pool.ok()) return pool.status();
        Result<std::uint64_t> number = (*pool)->attribute(static_cast<PoolAttribute>(attr));
        if (!number.ok()) return number.status();
        if (is_switch(attr)) {
            const auto flag = static_cast<std::uint32_t>(*number);
            std::memcpy(value, &flag, sizeof(flag));
        } else {
            std::memcpy(value, &*number, sizeof(*number));
        }
        return {};
    });
}

aclError aclrtMemPoolTrimTo(aclrtMemPool memPool, size_t minBytesToKeep) {
    return changing_api([&]() -> Status {
        CANOPY_TRY(required(memPool, "memPool"));
        Result<Pin<MemoryPool>> pool = find_pool(memPool);
        if (!pool.ok()) return pool.status();
        (*pool)->trim(minBytesToKeep);
        return {};
    });
}

}  // extern "C"
