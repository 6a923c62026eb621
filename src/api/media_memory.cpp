// SPDX-License-Identifier: Apache-2.0
// Entry points: the memory of media functions, which is ordinary device memory.
#include <acl/ops/acl_dvpp.h>

#include "api/api.h"
#include "core/memory/memory.h"
#include "device/opaque_pointer.h"

using namespace canopy;

extern "C" {

aclError acldvppMalloc(void** devPtr, size_t size) {
    return changing_api([&]() -> Status {
        CANOPY_TRY(required(devPtr, "devPtr"));
        Result<DeviceAddress> memory = allocate_device_memory({size, ACL_MEM_MALLOC_HUGE_FIRST});
        if (!memory.ok()) [[unlikely]]
            return memory.status();
        *devPtr = opaque_pointer(*memory);
        return {};
    });
}

aclError acldvppFree(void* devPtr) {
    return changing_api([&]() -> Status {
        CANOPY_TRY(required(devPtr, "devPtr"));
        return release_device_memory(device_address(devPtr));
    });
}

}  // extern "C"
