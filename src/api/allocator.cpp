// SPDX-License-Identifier: Apache-2.0
// Entry points: allocators that programs register for a stream.
#include <acl/acl_rt.h>
#include <acl/acl_rt_allocator.h>

#include "api/api.h"
#include "core/memory/allocator_registry.h"
#include "core/process/runtime.h"
#include "core/stream/stream.h"

using namespace canopy;

namespace {

// Sets one member of a description; `member` is known at compile time.
template <auto member, class Value>
Status set(aclrtAllocatorDesc description, Value value, const char* name) {
    CANOPY_TRY(required(description, "allocatorDesc"));
    CANOPY_TRY(required(value, name));
    return change_allocator_description(
        handle_of(description),
        [](AllocatorDescription& target, void* source) { target.*member = *static_cast<Value*>(source); }, &value);
}

Status check_stream(aclrtStream stream) {
    CANOPY_TRY(required(stream, "stream"));
    if (Runtime::instance().streams.alive(handle_of(stream))) return {};
    return fail(code::invalid_handle, "stream {} is not a stream, or was destroyed", stream);
}

}  // namespace

extern "C" {

aclrtAllocatorDesc aclrtAllocatorCreateDesc() {
    try {
        return opaque_of(create_allocator_description());
    } catch (...) {
        return nullptr;
    }
}

aclError aclrtAllocatorDestroyDesc(aclrtAllocatorDesc allocatorDesc) {
    return api([&]() -> Status {
        CANOPY_TRY(required(allocatorDesc, "allocatorDesc"));
        return destroy_allocator_description(handle_of(allocatorDesc));
    });
}

aclError aclrtAllocatorSetObjToDesc(aclrtAllocatorDesc allocatorDesc, aclrtAllocator allocator) {
    return api([&]() -> Status { return set<&AllocatorDescription::object>(allocatorDesc, allocator, "allocator"); });
}

aclError aclrtAllocatorSetAllocFuncToDesc(aclrtAllocatorDesc allocatorDesc, aclrtAllocatorAllocFunc func) {
    return api([&]() -> Status { return set<&AllocatorDescription::allocate>(allocatorDesc, func, "func"); });
}

aclError aclrtAllocatorSetFreeFuncToDesc(aclrtAllocatorDesc allocatorDesc, aclrtAllocatorFreeFunc func) {
    return api([&]() -> Status { return set<&AllocatorDescription::release>(allocatorDesc, func, "func"); });
}

aclError aclrtAllocatorSetAllocAdviseFuncToDesc(aclrtAllocatorDesc allocatorDesc, aclrtAllocatorAllocAdviseFunc func) {
    return api([&]() -> Status { return set<&AllocatorDescription::allocate_near>(allocatorDesc, func, "func"); });
}

aclError aclrtAllocatorSetGetAddrFromBlockFuncToDesc(aclrtAllocatorDesc allocatorDesc,
                                                     aclrtAllocatorGetAddrFromBlockFunc func) {
    return api([&]() -> Status { return set<&AllocatorDescription::address_of>(allocatorDesc, func, "func"); });
}

aclError aclrtAllocatorRegister(aclrtStream stream, aclrtAllocatorDesc allocatorDesc) {
    return api([&]() -> Status {
        CANOPY_TRY(required(stream, "stream"));
        CANOPY_TRY(required(allocatorDesc, "allocatorDesc"));
        CANOPY_TRY(check_stream(stream));
        return register_allocator(handle_of(stream), handle_of(allocatorDesc));
    });
}

aclError aclrtAllocatorUnregister(aclrtStream stream) {
    return api([&]() -> Status {
        CANOPY_TRY(required(stream, "stream"));
        unregister_allocator(handle_of(stream));
        return {};
    });
}

aclError aclrtAllocatorGetByStream(aclrtStream stream, aclrtAllocatorDesc* allocatorDesc, aclrtAllocator* allocator,
                                   aclrtAllocatorAllocFunc* allocFunc, aclrtAllocatorFreeFunc* freeFunc,
                                   aclrtAllocatorAllocAdviseFunc* allocAdviseFunc,
                                   aclrtAllocatorGetAddrFromBlockFunc* getAddrFromBlockFunc) {
    return api([&]() -> Status {
        CANOPY_TRY(required(stream, "stream"));
        CANOPY_TRY(required(allocatorDesc, "allocatorDesc"));
        Result<RegisteredAllocator> found = find_allocator(handle_of(stream));
        if (!found.ok()) return found.status();
        *allocatorDesc = opaque_of(found->description);
        if (allocator) *allocator = found->allocator.object;
        if (allocFunc) *allocFunc = found->allocator.allocate;
        if (freeFunc) *freeFunc = found->allocator.release;
        if (allocAdviseFunc) *allocAdviseFunc = found->allocator.allocate_near;
        if (getAddrFromBlockFunc) *getAddrFromBlockFunc = found->allocator.address_of;
        return {};
    });
}

}  // extern "C"
