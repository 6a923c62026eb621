// SPDX-License-Identifier: Apache-2.0
// Entry points: many copies in one call, all in one direction and unordered.
#include <acl/acl_rt.h>

#include <cstdint>
#include <vector>

#include "api/api.h"
#include "core/memory/copy.h"
#include "core/process/context.h"
#include "core/process/runtime.h"

using namespace canopy;

namespace {

constexpr size_t no_item = SIZE_MAX;

struct Batch {
    void** dsts;
    size_t* destMaxs;
    void** srcs;
    size_t* sizes;
    size_t count;
    aclrtMemcpyBatchAttr* attributes;
    size_t* attribute_starts;
    size_t attribute_count;
};

bool is_host(const aclrtMemLocation& location) {
    return location.type == ACL_MEM_LOCATION_TYPE_HOST || location.type == ACL_MEM_LOCATION_TYPE_UNREGISTERED ||
           location.type == ACL_MEM_LOCATION_TYPE_HOST_NUMA;
}
bool is_device(const aclrtMemLocation& location) { return location.type == ACL_MEM_LOCATION_TYPE_DEVICE; }

Status check_arguments(const Batch& batch) {
    CANOPY_TRY(required(batch.dsts, "dsts"));
    CANOPY_TRY(required(batch.destMaxs, "destMaxs"));
    CANOPY_TRY(required(batch.srcs, "srcs"));
    CANOPY_TRY(required(batch.sizes, "sizes"));
    CANOPY_TRY(required(batch.attributes, "attrs"));
    CANOPY_TRY(required(batch.attribute_starts, "attrsIndexes"));
    if (batch.count == 0) return fail(code::invalid_parameter, "numBatches must not be 0");
    if (batch.attribute_count == 0) return fail(code::invalid_parameter, "numAttrs must not be 0");
    if (batch.attribute_count > batch.count)
        return fail(code::invalid_parameter, "numAttrs {} is larger than numBatches {}", batch.attribute_count,
                    batch.count);
    if (batch.attribute_starts[0] != 0)
        return fail(code::invalid_parameter, "attrsIndexes[0] is {}, not 0", batch.attribute_starts[0]);
    for (size_t index = 1; index < batch.attribute_count; ++index)
        if (batch.attribute_starts[index] <= batch.attribute_starts[index - 1] ||
            batch.attribute_starts[index] >= batch.count)
            return fail(code::invalid_parameter,
                        "attrsIndexes[{}] = {} must be greater than its predecessor and less than {}", index,
                        batch.attribute_starts[index], batch.count);
    return {};
}

Result<BatchDirection> direction_of(const aclrtMemcpyBatchAttr& attribute, size_t index) {
    if (is_host(attribute.srcLoc) && is_device(attribute.dstLoc)) return BatchDirection::host_to_device;
    if (is_device(attribute.srcLoc) && is_host(attribute.dstLoc)) return BatchDirection::device_to_host;
    const auto known = [](const aclrtMemLocation& location) { return is_host(location) || is_device(location); };
    if (known(attribute.srcLoc) && known(attribute.dstLoc))
        return fail(code::not_supported, "attrs[{}]: batches copy from host to device or from device to host", index);
    return fail(code::param_invalid, "attrs[{}]: unknown location type", index);
}

// Checks and returns the copies of a batch. On failure, `failed` is the index of the bad item.
Result<std::vector<Copy>> read_batch(const Batch& batch, size_t& failed) {
    failed = no_item;
    CANOPY_TRY(check_arguments(batch));
    CANOPY_TRY(require_context());
    Result<BatchDirection> first = direction_of(batch.attributes[0], 0);
    if (!first.ok()) return first.status();
    std::vector<Copy> copies;
    copies.reserve(batch.count);
    size_t attribute = 0;
    for (size_t item = 0; item < batch.count; ++item) {
        if (attribute + 1 < batch.attribute_count && batch.attribute_starts[attribute + 1] == item) ++attribute;
        const aclrtMemcpyBatchAttr& part = batch.attributes[attribute];
        Result<BatchDirection> direction = direction_of(part, attribute);
        if (!direction.ok()) return direction.status();
        if (*direction != *first)
            return fail(code::param_invalid, "attrs[{}] has a different direction than attrs[0]", attribute);
        const std::uint32_t device = is_device(part.dstLoc) ? part.dstLoc.id : part.srcLoc.id;
        if (Result<DeviceRecord*> record = Runtime::instance().device(device); !record.ok()) return record.status();
        const Copy copy{device_address(batch.dsts[item]), batch.destMaxs[item], device_address(batch.srcs[item]),
                        batch.sizes[item]};
        if (Status status = check_batch_copy(copy, *direction, device); !status.ok()) {
            failed = item;
            return status;
        }
        if (copy.count != 0) copies.push_back(copy);
    }
    return copies;
}

Status run_now(const Batch& batch, size_t& failed) {
    Result<std::vector<Copy>> copies = read_batch(batch, failed);
    return copies.ok() ? copy_now(*copies) : copies.status();
}

Status run_in_stream(const Batch& batch, size_t& failed, aclrtStream stream) {
    Result<std::vector<Copy>> copies = read_batch(batch, failed);
    return copies.ok() ? copy_in_stream(*copies, stream) : copies.status();
}

}  // namespace

extern "C" {

aclError aclrtMemcpyBatch(void** dsts, size_t* destMaxs, void** srcs, size_t* sizes, size_t numBatches,
                          aclrtMemcpyBatchAttr* attrs, size_t* attrsIndexes, size_t numAttrs, size_t* failIndex) {
    return changing_api([&]() -> Status {
        CANOPY_TRY(required(failIndex, "failIndex"));
        return run_now({dsts, destMaxs, srcs, sizes, numBatches, attrs, attrsIndexes, numAttrs}, *failIndex);
    });
}

aclError aclrtMemcpyBatchV2(void** dsts, size_t* destMaxs, void** srcs, size_t* sizes, size_t numBatches,
                            aclrtMemcpyBatchAttr* attrs, size_t* attrsIndexes, size_t numAttrs) {
    return changing_api([&]() -> Status {
        size_t failed = no_item;
        return run_now({dsts, destMaxs, srcs, sizes, numBatches, attrs, attrsIndexes, numAttrs}, failed);
    });
}

aclError aclrtMemcpyBatchAsync(void** dsts, size_t* destMaxs, void** srcs, size_t* sizes, size_t numBatches,
                               aclrtMemcpyBatchAttr* attrs, size_t* attrsIndexes, size_t numAttrs, size_t* failIndex,
                               aclrtStream stream) {
    return changing_api([&]() -> Status {
        CANOPY_TRY(required(failIndex, "failIndex"));
        return run_in_stream({dsts, destMaxs, srcs, sizes, numBatches, attrs, attrsIndexes, numAttrs}, *failIndex,
                             stream);
    });
}

aclError aclrtMemcpyBatchAsyncV2(void** dsts, size_t* destMaxs, void** srcs, size_t* sizes, size_t numBatches,
                                 aclrtMemcpyBatchAttr* attrs, size_t* attrsIndexes, size_t numAttrs,
                                 aclrtStream stream) {
    return changing_api([&]() -> Status {
        size_t failed = no_item;
        return run_in_stream({dsts, destMaxs, srcs, sizes, numBatches, attrs, attrsIndexes, numAttrs}, failed, stream);
    });
}

}  // extern "C"
