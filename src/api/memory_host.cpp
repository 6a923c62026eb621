// SPDX-License-Identifier: Apache-2.0
// Entry points: pinned host memory, and registration of memory owned by the program.
#include <acl/acl_rt.h>

#include "api/api.h"
#include "api/memory_arguments.h"
#include "core/base/thread_state.h"
#include "core/lifecycle/contexts.h"
#include "core/memory/host_memory.h"
#include "core/memory/memory.h"
#include "core/process/context.h"
#include "device/opaque_pointer.h"

using namespace canopy;

namespace {

Status allocate(void** out, const char* name, const PinnedRequest& request) {
    CANOPY_TRY(required(out, name));
    CANOPY_TRY(require_context());
    Result<void*> memory = allocate_pinned(request);
    if (!memory.ok()) return memory.status();
    *out = *memory;
    return {};
}

Result<DeviceAddress> register_memory(void* ptr, uint64_t size, bool mapped, bool pinned) {
    Result<DeviceRecord*> record = current_device();
    if (!record.ok()) return record.status();
    Registration registration;
    registration.host = {ptr, size};
    registration.record = *record;
    registration.mapped = mapped;
    registration.pinned = pinned;
    return register_host_memory(registration);
}

}  // namespace

extern "C" {

aclError aclrtMallocHost(void** hostPtr, size_t size) {
    return changing_api([&]() -> Status { return allocate(hostPtr, "hostPtr", {size, nullptr}); });
}

aclError aclrtMallocHostWithCfg(void** ptr, uint64_t size, aclrtMallocConfig* cfg) {
    return changing_api([&]() -> Status {
        CANOPY_TRY(required(ptr, "ptr"));
        Result<MallocAttributes> attributes = read_malloc_attributes(cfg);
        if (!attributes.ok()) return attributes.status();
        PinnedRequest request{size, nullptr};
        if (attributes->device || attributes->same_address) {
            CANOPY_TRY(require_context());
            Result<DeviceRecord*> record = Runtime::instance().device(attributes->device.value_or(thread_state.device));
            if (!record.ok()) return record.status();
            if (attributes->same_address) request.visible_to = *record;
        }
        return allocate(ptr, "ptr", request);
    });
}

aclError aclrtFreeHost(void* hostPtr) {
    return changing_api([&]() -> Status {
        CANOPY_TRY(required(hostPtr, "hostPtr"));
        return release_pinned(device_address(hostPtr));
    });
}

aclError aclrtFreeHostWithDevSync(void* hostPtr) {
    return changing_api([&]() -> Status {
        CANOPY_TRY(required(hostPtr, "hostPtr"));
        Result<Pin<Context>> context = current_context();
        if (!context.ok()) return context.status();
        CANOPY_TRY(synchronise_context(**context, Deadline::never()));
        return release_pinned(device_address(hostPtr));
    });
}

aclError aclrtHostRegister(void* ptr, uint64_t size, aclrtHostRegisterType type, void** devPtr) {
    return changing_api([&]() -> Status {
        CANOPY_TRY(required(ptr, "ptr"));
        CANOPY_TRY(required(devPtr, "devPtr"));
        if (type == ACL_HOST_REGISTER_IOMEMORY || type == ACL_HOST_REGISTER_READONLY)
            return fail(code::not_supported, "type {} is reserved", static_cast<int>(type));
        if (type != ACL_HOST_REGISTER_MAPPED)
            return fail(code::invalid_parameter, "type {} does not exist", static_cast<int>(type));
        Result<DeviceAddress> mapped = register_memory(ptr, size, true, false);
        if (!mapped.ok()) return mapped.status();
        *devPtr = opaque_pointer(*mapped);
        return {};
    });
}

aclError aclrtHostRegisterV2(void* ptr, uint64_t size, uint32_t flag) {
    return changing_api([&]() -> Status {
        CANOPY_TRY(required(ptr, "ptr"));
        if (size == 0) return fail(code::invalid_parameter, "size must not be 0");
        if ((flag & (ACL_HOST_REG_IOMEMORY | ACL_HOST_REG_READONLY)) != 0)
            return fail(code::not_supported, "flag {:#x} has reserved bits", flag);
        if (flag == 0 || (flag & ~(ACL_HOST_REG_MAPPED | ACL_HOST_REG_PINNED)) != 0)
            return fail(code::invalid_parameter, "flag {:#x} has unknown bits", flag);
        const bool pinned = (flag & ACL_HOST_REG_PINNED) != 0;
        if (pinned && in_pinned_heap(device_address(ptr)))
            return fail(code::host_already_registered, "ptr {} is already pinned memory", ptr);
        return register_memory(ptr, size, (flag & ACL_HOST_REG_MAPPED) != 0, pinned).status();
    });
}

aclError aclrtHostUnregister(void* ptr) {
    return changing_api([&]() -> Status {
        CANOPY_TRY(required(ptr, "ptr"));
        CANOPY_TRY(require_context());
        return unregister_host_memory(device_address(ptr));
    });
}

aclError aclrtHostGetDevicePointer(void* pHost, void** pDevice, uint32_t flag) {
    return api([&]() -> Status {
        CANOPY_TRY(required(pHost, "pHost"));
        CANOPY_TRY(required(pDevice, "pDevice"));
        if (flag != 0) return fail(code::invalid_parameter, "flag {} must be 0", flag);
        CANOPY_TRY(require_context());
        Result<DeviceAddress> address = device_address_of(device_address(pHost));
        if (!address.ok()) return address.status();
        *pDevice = opaque_pointer(*address);
        return {};
    });
}

aclError aclrtHostMemMapCapabilities(uint32_t deviceId, aclrtHacType hacType, aclrtHostMemMapCapability* capabilities) {
    return api([&]() -> Status {
        CANOPY_TRY(required(capabilities, "capabilities"));
        if (hacType < ACL_RT_HAC_TYPE_STARS || hacType > ACL_RT_HAC_TYPE_CCU)
            return fail(code::param_invalid, "hacType {} does not exist", static_cast<int>(hacType));
        if (Result<DeviceRecord*> record = Runtime::instance().device(deviceId); !record.ok()) return record.status();
        // All parts of a software device can access host memory.
        *capabilities = ACL_RT_HOST_MEM_MAP_SUPPORTED;
        return {};
    });
}

}  // extern "C"
