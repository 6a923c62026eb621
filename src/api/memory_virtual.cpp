// SPDX-License-Identifier: Apache-2.0
// Entry points: physical memory, reserved addresses, and mapping.
#include <acl/acl_rt.h>

#include "api/api.h"
#include "core/memory/memory.h"
#include "core/memory/virtual_memory.h"
#include "core/process/context.h"
#include "device/opaque_pointer.h"

using namespace canopy;

namespace {

Result<PhysicalProperties> read_properties(const aclrtPhysicalMemProp& given) {
    if (given.handleType != ACL_MEM_HANDLE_TYPE_NONE)
        return fail(code::invalid_parameter, "prop->handleType {} is not ACL_MEM_HANDLE_TYPE_NONE",
                    static_cast<int>(given.handleType));
    if (given.allocationType != ACL_MEM_ALLOCATION_TYPE_PINNED)
        return fail(code::invalid_parameter, "prop->allocationType {} is not ACL_MEM_ALLOCATION_TYPE_PINNED",
                    static_cast<int>(given.allocationType));
    if (given.reserve != 0) return fail(code::invalid_parameter, "prop->reserve {} must be 0", given.reserve);
    PhysicalProperties properties;
    properties.memory_attribute = static_cast<std::int32_t>(given.memAttr);
    properties.location = static_cast<LocationKind>(given.location.type);
    properties.location_id = given.location.id;
    CANOPY_TRY(check_physical_properties(properties));
    return properties;
}

Status reserve(void** out, size_t size, size_t alignment, void* wanted, uint64_t flags) {
    CANOPY_TRY(required(out, "virPtr"));
    if (size == 0) return fail(code::invalid_parameter, "size must not be 0");
    if (alignment != 0) return fail(code::invalid_parameter, "alignment {} must be 0", alignment);
    if (flags > 1) return fail(code::invalid_parameter, "flags {} is neither 0 nor 1", flags);
    Result<DeviceAddress> address = reserve_addresses(size, device_address(wanted));
    if (!address.ok()) return address.status();
    *out = opaque_pointer(*address);
    return {};
}

Status map(void* virPtr, size_t size, size_t offset, aclrtDrvMemHandle handle, uint64_t flags, bool accessible) {
    CANOPY_TRY(required(virPtr, "virPtr"));
    CANOPY_TRY(required(handle, "handle"));
    if (size == 0) return fail(code::invalid_parameter, "size must not be 0");
    if (offset != 0) return fail(code::invalid_parameter, "offset {} must be 0", offset);
    if (flags != 0) return fail(code::invalid_parameter, "flags {} must be 0", flags);
    return map_physical(device_address(virPtr), size, handle_of(handle), accessible);
}

Result<AccessRequest> read_location(const aclrtMemLocation& location) {
    switch (location.type) {
        case ACL_MEM_LOCATION_TYPE_DEVICE:
            return AccessRequest{LocationKind::device, location.id};
        case ACL_MEM_LOCATION_TYPE_HOST:
            return AccessRequest{LocationKind::host, 0};
        case ACL_MEM_LOCATION_TYPE_HOST_NUMA:
            return AccessRequest{LocationKind::host_numa, location.id};
        default:
            break;
    }
    return fail(code::param_invalid, "location type {} is neither host nor device", static_cast<int>(location.type));
}

}  // namespace

extern "C" {

aclError aclrtMemGetAllocationGranularity(aclrtPhysicalMemProp* prop, aclrtMemGranularityOptions option,
                                          size_t* granularity) {
    return api([&]() -> Status {
        CANOPY_TRY(required(prop, "prop"));
        CANOPY_TRY(required(granularity, "granularity"));
        if (option != ACL_RT_MEM_ALLOC_GRANULARITY_MINIMUM && option != ACL_RT_MEM_ALLOC_GRANULARITY_RECOMMENDED)
            return fail(code::invalid_parameter, "option {} does not exist", static_cast<int>(option));
        Result<PhysicalProperties> properties = read_properties(*prop);
        if (!properties.ok()) return properties.status();
        Result<std::size_t> found =
            physical_granularity(*properties, option == ACL_RT_MEM_ALLOC_GRANULARITY_RECOMMENDED);
        if (!found.ok()) return found.status();
        *granularity = *found;
        return {};
    });
}

aclError aclrtMallocPhysical(aclrtDrvMemHandle* handle, size_t size, const aclrtPhysicalMemProp* prop, uint64_t flags) {
    return changing_api([&]() -> Status {
        CANOPY_TRY(required(handle, "handle"));
        CANOPY_TRY(required(prop, "prop"));
        if (size == 0) return fail(code::invalid_parameter, "size must not be 0");
        if (flags != 0) return fail(code::invalid_parameter, "flags {} must be 0", flags);
        Result<PhysicalProperties> properties = read_properties(*prop);
        if (!properties.ok()) return properties.status();
        CANOPY_TRY(require_context());
        Result<Handle> memory = allocate_physical(size, *properties);
        if (!memory.ok()) return memory.status();
        *handle = opaque_of(*memory);
        return {};
    });
}

aclError aclrtFreePhysical(aclrtDrvMemHandle handle) {
    return changing_api([&]() -> Status {
        CANOPY_TRY(required(handle, "handle"));
        return release_physical(handle_of(handle));
    });
}

aclError aclrtReserveMemAddress(void** virPtr, size_t size, size_t alignment, void* expectPtr, uint64_t flags) {
    return changing_api([&]() -> Status { return reserve(virPtr, size, alignment, expectPtr, flags); });
}

aclError aclrtReserveMemAddressNoUCMemory(void** virPtr, size_t size, size_t alignment, void* expectPtr,
                                          uint64_t flags) {
    return changing_api([&]() -> Status { return reserve(virPtr, size, alignment, expectPtr, flags); });
}

aclError aclrtReleaseMemAddress(void* virPtr) {
    return changing_api([&]() -> Status {
        CANOPY_TRY(required(virPtr, "virPtr"));
        return release_addresses(device_address(virPtr));
    });
}

aclError aclrtMapMem(void* virPtr, size_t size, size_t offset, aclrtDrvMemHandle handle, uint64_t flags) {
    return changing_api([&]() -> Status { return map(virPtr, size, offset, handle, flags, true); });
}

aclError aclrtMemMapNoAccess(void* virPtr, size_t size, size_t offset, aclrtDrvMemHandle handle, uint64_t flags) {
    return changing_api([&]() -> Status { return map(virPtr, size, offset, handle, flags, false); });
}

aclError aclrtUnmapMem(void* virPtr) {
    return changing_api([&]() -> Status {
        CANOPY_TRY(required(virPtr, "virPtr"));
        return unmap_physical(device_address(virPtr));
    });
}

aclError aclrtMemSetAccess(void* virPtr, size_t size, aclrtMemAccessDesc* desc, size_t count) {
    return changing_api([&]() -> Status {
        CANOPY_TRY(required(virPtr, "virPtr"));
        CANOPY_TRY(required(desc, "desc"));
        if (size == 0) return fail(code::param_invalid, "size must not be 0");
        if (count == 0) return fail(code::param_invalid, "count must not be 0");
        for (size_t index = 0; index < count; ++index)
            if (desc[index].flags != ACL_RT_MEM_ACCESS_FLAGS_READWRITE)
                return fail(code::param_invalid, "desc[{}].flags {} is not ACL_RT_MEM_ACCESS_FLAGS_READWRITE", index,
                            static_cast<int>(desc[index].flags));
        for (size_t index = 0; index < count; ++index) {
            Result<AccessRequest> request = read_location(desc[index].location);
            if (!request.ok()) return request.status();
            CANOPY_TRY(allow_access(device_address(virPtr), size, *request));
        }
        return {};
    });
}

aclError aclrtMemGetAccess(void* virPtr, aclrtMemLocation* location, uint64_t* flag) {
    return api([&]() -> Status {
        CANOPY_TRY(required(virPtr, "virPtr"));
        CANOPY_TRY(required(location, "location"));
        CANOPY_TRY(required(flag, "flag"));
        Result<AccessRequest> request = read_location(*location);
        if (!request.ok()) return request.status();
        Result<bool> allowed = access_allowed(device_address(virPtr), *request);
        if (!allowed.ok()) return allowed.status();
        *flag = *allowed ? ACL_RT_MEM_ACCESS_FLAGS_READWRITE : ACL_RT_MEM_ACCESS_FLAGS_NONE;
        return {};
    });
}

aclError aclrtMemRetainAllocationHandle(void* virPtr, aclrtDrvMemHandle* handle) {
    return api([&]() -> Status {
        CANOPY_TRY(required(virPtr, "virPtr"));
        CANOPY_TRY(required(handle, "handle"));
        Result<Handle> memory = retain_physical(device_address(virPtr));
        if (!memory.ok()) return memory.status();
        *handle = opaque_of(*memory);
        return {};
    });
}

aclError aclrtMemGetAllocationPropertiesFromHandle(aclrtDrvMemHandle handle, aclrtPhysicalMemProp* prop) {
    return api([&]() -> Status {
        CANOPY_TRY(required(handle, "handle"));
        CANOPY_TRY(required(prop, "prop"));
        Result<PhysicalProperties> properties = physical_properties(handle_of(handle));
        if (!properties.ok()) return properties.status();
        *prop = {};
        prop->handleType = ACL_MEM_HANDLE_TYPE_NONE;
        prop->allocationType = ACL_MEM_ALLOCATION_TYPE_PINNED;
        prop->memAttr = static_cast<aclrtMemAttr>(properties->memory_attribute);
        prop->location.type = static_cast<aclrtMemLocationType>(properties->location);
        prop->location.id = properties->location_id;
        return {};
    });
}

aclError aclrtMemGetAddressRange(void* ptr, void** pbase, size_t* psize) {
    return api([&]() -> Status {
        CANOPY_TRY(required(ptr, "ptr"));
        const MemoryPlace place = classify(device_address(ptr));
        if (place.range.size == 0) return fail(code::param_invalid, "ptr {} is not in an allocation", ptr);
        if (pbase) *pbase = opaque_pointer(place.range.base);
        if (psize) *psize = place.range.size;
        return {};
    });
}

aclError aclrtMemP2PMap(void* devPtr, size_t size, int32_t dstDevId, uint64_t flags) {
    return api([&]() -> Status {
        CANOPY_TRY(required(devPtr, "devPtr"));
        if (size == 0) return fail(code::invalid_parameter, "size must not be 0");
        if (flags != 0) return fail(code::invalid_parameter, "flags {} must be 0", flags);
        CANOPY_TRY(require_context());
        Result<DeviceRecord*> target = Runtime::instance().device(dstDevId);
        if (!target.ok()) return target.status();
        Result<MemoryPlace> place = usable_place(device_address(devPtr), size, "devPtr");
        if (!place.ok()) return place.status();
        if (!place->on_device()) return fail(code::param_invalid, "devPtr {} is not device memory", devPtr);
        if (!place->record || place->record == *target) return {};
        return (*target)->open().status();
    });
}

// Software devices have only one connection, so there is no link to choose.
aclError aclrtMemMapSetLink(aclrtDrvMemHandle handle, aclrtMemLinkType adviceLink) {
    return api([&]() -> Status {
        CANOPY_TRY(required(handle, "handle"));
        if (Result<PhysicalProperties> known = physical_properties(handle_of(handle)); !known.ok())
            return known.status();
        return fail(code::not_supported, "adviceLink {}: this chip has no links to choose from",
                    static_cast<int>(adviceLink));
    });
}

aclError aclrtMemMapSelectedLink(void* virPtrDst, size_t size, void* virPtrSrc, uint32_t linkIdx) {
    return api([&]() -> Status {
        CANOPY_TRY(required(virPtrDst, "virPtrDst"));
        CANOPY_TRY(required(virPtrSrc, "virPtrSrc"));
        if (size == 0) return fail(code::param_invalid, "size must not be 0");
        return fail(code::not_supported, "linkIdx {}: this chip has no links to choose from", linkIdx);
    });
}

}  // extern "C"
