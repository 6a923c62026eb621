// SPDX-License-Identifier: Apache-2.0
// Entry points: managed memory, advice and prefetches.
#include <acl/acl_rt.h>

#include "api/api.h"
#include "core/memory/copy.h"
#include "core/memory/managed_memory.h"
#include "core/process/context.h"
#include "device/opaque_pointer.h"

using namespace canopy;

namespace {

ManagedLocation read_location(const aclrtMemManagedLocation& location) {
    return {static_cast<ManagedLocationKind>(location.type), location.id};
}

Status check_range(const void* ptr, size_t size) {
    CANOPY_TRY(required(ptr, "ptr"));
    if (size == 0) return fail(code::invalid_parameter, "size must not be 0");
    return check_managed_range(device_address(ptr), size, "ptr");
}

Status check_attribute(aclrtMemManagedRangeAttribute attribute) {
    if (attribute < ACL_MEM_RANGE_ATTRIBUTE_READ_MOSTLY ||
        attribute > ACL_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION_ID)
        return fail(code::invalid_parameter, "attribute {} does not exist", static_cast<int>(attribute));
    return {};
}

// Checks the first item of each location of a batch: starts[k] is the first item of location k.
Status check_location_starts(const size_t* starts, size_t locations, size_t count) {
    if (starts[0] != 0) return fail(code::invalid_parameter, "prefetchLocIdxs[0] is {}, not 0", starts[0]);
    for (size_t index = 1; index < locations; ++index)
        if (starts[index] <= starts[index - 1] || starts[index] >= count)
            return fail(code::invalid_parameter,
                        "prefetchLocIdxs[{}] = {} must be greater than its predecessor and less than {}", index,
                        starts[index], count);
    return {};
}

}  // namespace

extern "C" {

aclError aclrtMemAllocManaged(void** ptr, uint64_t size, uint32_t flag) {
    return changing_api([&]() -> Status {
        CANOPY_TRY(required(ptr, "ptr"));
        if (size == 0) return fail(code::invalid_parameter, "size must not be 0");
        if (flag != ACL_RT_MEM_ATTACH_GLOBAL)
            return fail(code::param_invalid, "flag {} is not ACL_RT_MEM_ATTACH_GLOBAL", flag);
        CANOPY_TRY(require_context());
        Result<DeviceAddress> memory = allocate_managed(size);
        if (!memory.ok()) return memory.status();
        *ptr = opaque_pointer(*memory);
        return {};
    });
}

aclError aclrtMemManagedAdvise(const void* const ptr, uint64_t size, aclrtMemManagedAdviseType advise,
                               aclrtMemManagedLocation location) {
    return api([&]() -> Status {
        CANOPY_TRY(check_range(ptr, size));
        if (advise < ACL_MEM_ADVISE_SET_READ_MOSTLY || advise > ACL_MEM_ADVISE_UNSET_ACCESSED_BY)
            return fail(code::invalid_parameter, "advise {} does not exist", static_cast<int>(advise));
        const auto advice = static_cast<ManagedAdvice>(advise);
        const bool names_a_place = advice == ManagedAdvice::set_preferred_location ||
                                   advice == ManagedAdvice::set_accessed_by ||
                                   advice == ManagedAdvice::unset_accessed_by;
        if (names_a_place) CANOPY_TRY(check_managed_location(read_location(location)));
        return advise_managed(device_address(ptr), size, advice, read_location(location));
    });
}

aclError aclrtMemManagedGetAttr(aclrtMemManagedRangeAttribute attribute, const void* ptr, size_t size, void* data,
                                size_t dataSize) {
    return api([&]() -> Status {
        CANOPY_TRY(required(data, "data"));
        CANOPY_TRY(check_range(ptr, size));
        CANOPY_TRY(check_attribute(attribute));
        return read_managed_attribute(static_cast<ManagedAttribute>(attribute), device_address(ptr), size, data,
                                      dataSize);
    });
}

aclError aclrtMemManagedGetAttrs(aclrtMemManagedRangeAttribute* attributes, size_t numAttributes, const void* ptr,
                                 size_t size, void** data, size_t* dataSizes) {
    return api([&]() -> Status {
        CANOPY_TRY(required(attributes, "attributes"));
        CANOPY_TRY(required(data, "data"));
        CANOPY_TRY(required(dataSizes, "dataSizes"));
        if (numAttributes == 0) return fail(code::invalid_parameter, "numAttributes must not be 0");
        CANOPY_TRY(check_range(ptr, size));
        for (size_t index = 0; index < numAttributes; ++index) {
            CANOPY_TRY(check_attribute(attributes[index]));
            CANOPY_TRY(required(data[index], "data[i]"));
            CANOPY_TRY(read_managed_attribute(static_cast<ManagedAttribute>(attributes[index]), device_address(ptr),
                                              size, data[index], dataSizes[index]));
        }
        return {};
    });
}

aclError aclrtMemManagedPrefetchAsync(const void* ptr, size_t size, aclrtMemManagedLocation location, uint32_t flags,
                                      aclrtStream stream) {
    return api([&]() -> Status {
        CANOPY_TRY(check_range(ptr, size));
        if (flags != 0) return fail(code::invalid_parameter, "flags {} must be 0", flags);
        CANOPY_TRY(check_managed_location(read_location(location)));
        CANOPY_TRY(submit_nothing(stream));
        return note_prefetch(device_address(ptr), size, read_location(location));
    });
}

aclError aclrtMemManagedPrefetchBatchAsync(const void** ptrs, size_t* sizes, size_t count,
                                           aclrtMemManagedLocation* prefetchLocs, size_t* prefetchLocIdxs,
                                           size_t numPrefetchLocs, uint64_t flags, aclrtStream stream) {
    return api([&]() -> Status {
        CANOPY_TRY(required(ptrs, "ptrs"));
        CANOPY_TRY(required(sizes, "sizes"));
        CANOPY_TRY(required(prefetchLocs, "prefetchLocs"));
        CANOPY_TRY(required(prefetchLocIdxs, "prefetchLocIdxs"));
        if (count == 0) return fail(code::invalid_parameter, "count must not be 0");
        if (numPrefetchLocs == 0 || numPrefetchLocs > count)
            return fail(code::invalid_parameter, "numPrefetchLocs {} is not between 1 and count {}", numPrefetchLocs,
                        count);
        if (flags != 0) return fail(code::invalid_parameter, "flags {} must be 0", flags);
        CANOPY_TRY(check_location_starts(prefetchLocIdxs, numPrefetchLocs, count));
        for (size_t index = 0; index < numPrefetchLocs; ++index)
            CANOPY_TRY(check_managed_location(read_location(prefetchLocs[index])));
        for (size_t item = 0; item < count; ++item) CANOPY_TRY(check_range(ptrs[item], sizes[item]));
        CANOPY_TRY(submit_nothing(stream));
        size_t location = 0;
        for (size_t item = 0; item < count; ++item) {
            if (location + 1 < numPrefetchLocs && prefetchLocIdxs[location + 1] == item) ++location;
            CANOPY_TRY(note_prefetch(device_address(ptrs[item]), sizes[item], read_location(prefetchLocs[location])));
        }
        return {};
    });
}

}  // extern "C"
