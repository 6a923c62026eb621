// SPDX-License-Identifier: Apache-2.0
// Entry points: device memory allocation, and the properties of addresses.
#include <acl/acl_rt.h>

#include <algorithm>
#include <cstring>

#include "api/api.h"
#include "api/memory_arguments.h"
#include "core/lifecycle/contexts.h"
#include "core/memory/memory.h"
#include "core/memory/memory_pool.h"
#include "core/process/context.h"
#include "device/opaque_pointer.h"

using namespace canopy;

namespace {

Status allocate(void** out, const AllocationRequest& request) {
    CANOPY_TRY(required(out, "devPtr"));
    Result<DeviceAddress> memory = allocate_device_memory(request);
    if (!memory.ok()) [[unlikely]]
        return memory.status();
    *out = opaque_pointer(*memory);
    return {};
}

Status allocate_with_config(void** out, size_t size, aclrtMemMallocPolicy policy, const aclrtMallocConfig* config) {
    Result<MallocAttributes> attributes = read_malloc_attributes(config);
    if (!attributes.ok()) return attributes.status();
    if (attributes->same_address)
        return fail(code::invalid_parameter, "cfg: ACL_RT_MEM_ATTR_VA_FLAG is for host memory only");
    AllocationRequest request{size, static_cast<std::uint32_t>(policy)};
    request.read_only_policy = true;
    request.device = attributes->device;
    return allocate(out, request);
}

Status synchronise_current_context() {
    Result<Pin<Context>> context = current_context();
    if (!context.ok()) return context.status();
    return synchronise_context(**context, Deadline::never());
}

// One line of aclrtGetMemUsageInfo.
struct Usage {
    const char* name;
    std::uint64_t now, peak;
};

void write_usage(aclrtMemUsageInfo& out, const Usage& usage) {
    out = {};
    std::strncpy(out.name, usage.name, sizeof(out.name) - 1);
    out.curMemSize = usage.now;
    out.memPeakSize = usage.peak;
}

Usage usage_of_pools(const DeviceRecord& record) {
    Usage usage{"POOL", 0, 0};
    Runtime::instance().memory_pools.for_each([&](Pin<MemoryPool> pool) {
        if (pool->record != &record) return;
        if (Result<std::uint64_t> now = pool->attribute(PoolAttribute::reserved_now); now.ok()) usage.now += *now;
        if (Result<std::uint64_t> high = pool->attribute(PoolAttribute::reserved_high); high.ok()) usage.peak += *high;
    });
    return usage;
}

aclrtMemLocationType location_type(const MemoryPlace& place) {
    switch (place.kind) {
        case MemoryKind::device:
            return ACL_MEM_LOCATION_TYPE_DEVICE;
        case MemoryKind::mapped:
            return place.record ? ACL_MEM_LOCATION_TYPE_DEVICE : ACL_MEM_LOCATION_TYPE_HOST;
        case MemoryKind::pinned_host:
        case MemoryKind::registered_host:
            return ACL_MEM_LOCATION_TYPE_HOST;
        case MemoryKind::managed:
            return ACL_MEM_LOCATION_TYPE_MANAGED;
        case MemoryKind::unknown:
            break;
    }
    return ACL_MEM_LOCATION_TYPE_UNREGISTERED;
}

// True for kinds of memory that a device here has; the others report zero bytes.
bool has_memory(aclrtMemAttr attribute) {
    switch (attribute) {
        case ACL_DDR_MEM:
        case ACL_DDR_MEM_HUGE:
        case ACL_DDR_MEM_NORMAL:
        case ACL_DDR_MEM_P2P_HUGE:
        case ACL_DDR_MEM_P2P_NORMAL:
            return false;
        default:
            return true;
    }
}

}  // namespace

extern "C" {

aclError aclrtMalloc(void** devPtr, size_t size, aclrtMemMallocPolicy policy) {
    return changing_api([&]() -> Status { return allocate(devPtr, {size, static_cast<std::uint32_t>(policy)}); });
}

aclError aclrtMallocAlign32(void** devPtr, size_t size, aclrtMemMallocPolicy policy) {
    return changing_api([&]() -> Status {
        return allocate(devPtr, {size, static_cast<std::uint32_t>(policy), false});
    });
}

aclError aclrtMallocCached(void** devPtr, size_t size, aclrtMemMallocPolicy policy) {
    return changing_api([&]() -> Status { return allocate(devPtr, {size, static_cast<std::uint32_t>(policy)}); });
}

aclError aclrtMallocWithCfg(void** devPtr, size_t size, aclrtMemMallocPolicy policy, aclrtMallocConfig* cfg) {
    return changing_api([&]() -> Status { return allocate_with_config(devPtr, size, policy, cfg); });
}

aclError aclrtMallocForTaskScheduler(void** devPtr, size_t size, aclrtMemMallocPolicy policy, aclrtMallocConfig* cfg) {
    return changing_api([&]() -> Status { return allocate_with_config(devPtr, size, policy, cfg); });
}

aclError aclrtFree(void* devPtr) {
    return changing_api([&]() -> Status {
        CANOPY_TRY(required(devPtr, "devPtr"));
        return release_device_memory(device_address(devPtr));
    });
}

aclError aclrtFreeWithDevSync(void* devPtr) {
    return changing_api([&]() -> Status {
        CANOPY_TRY(required(devPtr, "devPtr"));
        CANOPY_TRY(synchronise_current_context());
        return release_device_memory(device_address(devPtr));
    });
}

aclError aclrtGetMemInfo(aclrtMemAttr attr, size_t* free, size_t* total) {
    return api([&]() -> Status {
        CANOPY_TRY(required(free, "free"));
        CANOPY_TRY(required(total, "total"));
        if (attr < ACL_DDR_MEM || attr > ACL_MEM_P2P_HUGE1G)
            return fail(code::invalid_memory_type, "attr {} is not a kind of memory", static_cast<int>(attr));
        Result<DeviceRecord*> record = current_device();
        if (!record.ok()) return record.status();
        const bool present = has_memory(attr);
        const MemoryUsage usage = present ? (*record)->opened()->memory_usage() : MemoryUsage{};
        *free = usage.free;
        *total = usage.total;
        return {};
    });
}

aclError aclrtGetMemUsageInfo(int32_t deviceId, aclrtMemUsageInfo* memUsageInfo, size_t inputNum, size_t* outputNum) {
    return api([&]() -> Status {
        CANOPY_TRY(required(memUsageInfo, "memUsageInfo"));
        CANOPY_TRY(required(outputNum, "outputNum"));
        if (inputNum == 0) return fail(code::param_invalid, "inputNum must not be 0");
        Result<DeviceRecord*> record = Runtime::instance().device(deviceId);
        if (!record.ok()) return record.status();
        Result<Device*> device = (*record)->open();
        if (!device.ok()) return device.status();
        const MemoryUsage all = (*device)->memory_usage();
        const Usage pools = usage_of_pools(**record);
        const std::uint64_t used = all.total - all.free;
        Usage lines[] = {{"APP", used - std::min(used, pools.now), all.peak}, pools};
        std::stable_sort(std::begin(lines), std::end(lines),
                         [](const Usage& a, const Usage& b) { return a.now > b.now; });
        const size_t count = std::min(inputNum, std::size(lines));
        for (size_t index = 0; index < count; ++index) write_usage(memUsageInfo[index], lines[index]);
        *outputNum = count;
        return {};
    });
}

aclError aclrtPointerGetAttributes(const void* ptr, aclrtPtrAttributes* attributes) {
    return api([&]() -> Status {
        CANOPY_TRY(required(ptr, "ptr"));
        CANOPY_TRY(required(attributes, "attributes"));
        const MemoryPlace place = classify(device_address(ptr));
        *attributes = {};
        attributes->location.type = location_type(place);
        attributes->location.id = place.record ? place.record->index : 0;
        attributes->pageSize = page_size_of(place);
        return {};
    });
}

aclError aclrtCheckMemType(void** addrList, uint32_t size, uint32_t memType, uint32_t* checkResult, uint32_t reserve) {
    return api([&]() -> Status {
        CANOPY_TRY(required(addrList, "addrList"));
        CANOPY_TRY(required(checkResult, "checkResult"));
        if (size == 0) return fail(code::param_invalid, "size must not be 0");
        if (reserve != 0) return fail(code::param_invalid, "reserve {} must be 0", reserve);
        constexpr uint32_t known = ACL_RT_MEM_TYPE_DEV | ACL_RT_MEM_TYPE_DVPP | ACL_RT_MEM_TYPE_RSVD;
        if (memType == 0 || (memType & ~known) != 0)
            return fail(code::param_invalid, "memType {:#x} has unknown bits", memType);
        CANOPY_TRY(require_context());
        // A software device has only one kind of memory.
        const bool all =
            (memType & ACL_RT_MEM_TYPE_DEV) != 0 && std::all_of(addrList, addrList + size, [](const void* address) {
                const MemoryPlace place = classify(device_address(address));
                return place.on_device() && place.range.size != 0;
            });
        *checkResult = all ? 1 : 0;
        return {};
    });
}

// Host and device share memory: there is nothing to write back or invalidate.
aclError aclrtMemFlush(void* devPtr, size_t size) {
    return api([&]() -> Status {
        CANOPY_TRY(required(devPtr, "devPtr"));
        if (size == 0) return fail(code::invalid_parameter, "size must not be 0");
        return usable_place(device_address(devPtr), size, "devPtr").status();
    });
}

aclError aclrtMemInvalidate(void* devPtr, size_t size) {
    return api([&]() -> Status {
        CANOPY_TRY(required(devPtr, "devPtr"));
        if (size == 0) return fail(code::invalid_parameter, "size must not be 0");
        return usable_place(device_address(devPtr), size, "devPtr").status();
    });
}

}  // extern "C"
