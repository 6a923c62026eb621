// SPDX-License-Identifier: Apache-2.0
// Entry points: reductions, memory words that streams write and wait for, and cache hints.
#include <acl/acl_rt.h>

#include <cstring>
#include <optional>

#include "api/api.h"
#include "core/memory/copy.h"
#include "core/memory/memory.h"
#include "core/memory/reduce.h"
#include "core/process/context.h"
#include "core/stream/stream.h"

using namespace canopy;

namespace {

std::optional<ElementType> reduce_element(aclDataType type) {
    switch (type) {
        case ACL_INT8:
            return ElementType::int8;
        case ACL_INT16:
            return ElementType::int16;
        case ACL_INT32:
            return ElementType::int32;
        case ACL_FLOAT16:
            return ElementType::float16;
        case ACL_FLOAT:
            return ElementType::float32;
        case ACL_BF16:
            return ElementType::bfloat16;
        default:
            return std::nullopt;
    }
}

std::optional<ReduceOperation> reduce_operation(aclrtReduceKind kind) {
    switch (kind) {
        case ACL_RT_MEMCPY_SDMA_AUTOMATIC_SUM:
            return ReduceOperation::sum;
        case ACL_RT_MEMCPY_SDMA_AUTOMATIC_MAX:
            return ReduceOperation::maximum;
        case ACL_RT_MEMCPY_SDMA_AUTOMATIC_MIN:
            return ReduceOperation::minimum;
        case ACL_RT_MEMCPY_SDMA_AUTOMATIC_EQUAL:
            return ReduceOperation::equal;
        default:
            return std::nullopt;
    }
}

Status check_device_memory(const void* address, std::size_t size, const char* name) {
    Result<MemoryPlace> place = usable_place(device_address(address), size, name);
    if (!place.ok()) return place.status();
    if (place->pageable()) return fail(code::param_invalid, "{} {} is not device memory", name, as_address(address));
    return {};
}

// Checks the word used by aclrtValueWrite and aclrtValueWait.
Status check_word(const void* address) {
    if (reinterpret_cast<std::uintptr_t>(address) % sizeof(std::uint64_t) != 0)
        return fail(code::param_invalid, "devAddr {} is not a multiple of 8 bytes", as_address(address));
    CANOPY_TRY(require_context());
    return check_device_memory(address, sizeof(std::uint64_t), "devAddr");
}

// The range of a cache hint, as stored in memory by aclrtCmoSetDesc.
struct CacheHint {
    static constexpr std::uint64_t written = 0x43616e6f7079434d;
    std::uint64_t mark = 0;
    DeviceAddress address{};
    std::uint64_t size = 0;
    std::uint64_t reserved[5] = {};
};
static_assert(sizeof(CacheHint) == 64);

Status check_hint_type(aclrtCmoType type) {
    if (type < ACL_RT_CMO_TYPE_PREFETCH || type > ACL_RT_CMO_TYPE_FLUSH)
        return fail(code::invalid_parameter, "cmoType {} does not exist", static_cast<int>(type));
    if (type != ACL_RT_CMO_TYPE_PREFETCH)
        return fail(code::not_supported, "cmoType {}: this chip takes ACL_RT_CMO_TYPE_PREFETCH only",
                    static_cast<int>(type));
    return {};
}

// Hints with a barrier need a stream that belongs to a model.
Status check_barrier_stream(aclrtStream stream) {
    Result<Pin<Stream>> found = find_stream(stream, true);
    if (!found.ok()) return found.status();
    if (((*found)->flags & stream_persistent) == 0)
        return fail(code::not_supported, "stream does not belong to a model: barriers exist in models only");
    return {};
}

}  // namespace

extern "C" {

aclError aclrtReduceAsync(void* dst, const void* src, uint64_t count, aclrtReduceKind kind, aclDataType type,
                          aclrtStream stream, void* reserve) {
    return api([&]() -> Status {
        CANOPY_TRY(required(dst, "dst"));
        CANOPY_TRY(required(src, "src"));
        if (count == 0) return fail(code::invalid_parameter, "count must not be 0");
        if (reserve) return fail(code::invalid_parameter, "reserve must be null");
        const std::optional<ReduceOperation> operation = reduce_operation(kind);
        if (!operation) return fail(code::invalid_parameter, "kind {} does not exist", static_cast<int>(kind));
        const std::optional<ElementType> element = reduce_element(type);
        if (!element) return fail(code::invalid_parameter, "type {} cannot be reduced", static_cast<int>(type));
        const std::size_t size = size_of(*element);
        if (count % size != 0)
            return fail(code::param_invalid, "count {} is not a multiple of the {} bytes of an element", count, size);
        CANOPY_TRY(require_context());
        CANOPY_TRY(check_device_memory(dst, count, "dst"));
        CANOPY_TRY(check_device_memory(src, count, "src"));
        return reduce_in_stream(
            {device_address(dst).value(), device_address(src).value(), count / size, *operation, *element}, stream);
    });
}

aclError aclrtValueWrite(void* devAddr, uint64_t value, uint32_t flag, aclrtStream stream) {
    return api([&]() -> Status {
        CANOPY_TRY(required(devAddr, "devAddr"));
        if (flag != 0) return fail(code::param_invalid, "flag {} must be 0", flag);
        CANOPY_TRY(check_word(devAddr));
        Command command(Opcode::write_value);
        command.value = {device_address(devAddr), value, ValueCondition::equal};
        return submit_to(stream, command);
    });
}

aclError aclrtValueWait(void* devAddr, uint64_t value, uint32_t flag, aclrtStream stream) {
    return api([&]() -> Status {
        CANOPY_TRY(required(devAddr, "devAddr"));
        if (flag > static_cast<uint32_t>(ValueCondition::bits_nor))
            return fail(code::param_invalid, "flag {} is not between 0 and 3", flag);
        CANOPY_TRY(check_word(devAddr));
        Command command(Opcode::wait_value);
        command.value = {device_address(devAddr), value, static_cast<ValueCondition>(flag)};
        return submit_to(stream, command);
    });
}

aclError aclrtCmoAsync(void* src, size_t size, aclrtCmoType cmoType, aclrtStream stream) {
    return api([&]() -> Status {
        CANOPY_TRY(required(src, "src"));
        if (size == 0) return fail(code::invalid_parameter, "size must not be 0");
        CANOPY_TRY(check_hint_type(cmoType));
        CANOPY_TRY(require_context());
        CANOPY_TRY(check_device_memory(src, size, "src"));
        return submit_nothing(stream);
    });
}

aclError aclrtCmoGetDescSize(size_t* size) {
    return api([&]() -> Status {
        CANOPY_TRY(required(size, "size"));
        *size = sizeof(CacheHint);
        return {};
    });
}

aclError aclrtCmoSetDesc(void* cmoDesc, void* src, size_t size) {
    return api([&]() -> Status {
        CANOPY_TRY(required(cmoDesc, "cmoDesc"));
        CANOPY_TRY(required(src, "src"));
        if (size == 0) return fail(code::param_invalid, "size must not be 0");
        CANOPY_TRY(check_device_memory(src, size, "src"));
        if (Result<MemoryPlace> place = usable_place(device_address(cmoDesc), sizeof(CacheHint), "cmoDesc");
            !place.ok())
            return place.status();
        CacheHint hint;
        hint.mark = CacheHint::written;
        hint.address = device_address(src);
        hint.size = size;
        return write_device(device_address(cmoDesc), &hint, sizeof(hint));
    });
}

aclError aclrtCmoAsyncWithDesc(void* cmoDesc, aclrtCmoType cmoType, aclrtStream stream, const void* reserve) {
    return api([&]() -> Status {
        CANOPY_TRY(required(cmoDesc, "cmoDesc"));
        if (reserve) return fail(code::invalid_parameter, "reserve must be null");
        CANOPY_TRY(check_hint_type(cmoType));
        CANOPY_TRY(require_context());
        if (Result<MemoryPlace> place = usable_place(device_address(cmoDesc), sizeof(CacheHint), "cmoDesc");
            !place.ok())
            return place.status();
        CacheHint hint;
        CANOPY_TRY(read_device(&hint, device_address(cmoDesc), sizeof(hint)));
        if (hint.mark != CacheHint::written)
            return fail(code::param_invalid, "cmoDesc {} was not written by aclrtCmoSetDesc", cmoDesc);
        return submit_nothing(stream);
    });
}

aclError aclrtCmoAsyncWithBarrier(void* src, size_t size, aclrtCmoType cmoType, uint32_t barrierId,
                                  aclrtStream stream) {
    return api([&]() -> Status {
        CANOPY_TRY(required(src, "src"));
        if (size == 0) return fail(code::invalid_parameter, "size must not be 0");
        if (cmoType != ACL_RT_CMO_TYPE_INVALID)
            return fail(code::not_supported, "cmoType {}: barrier {} needs ACL_RT_CMO_TYPE_INVALID",
                        static_cast<int>(cmoType), barrierId);
        CANOPY_TRY(require_context());
        CANOPY_TRY(check_device_memory(src, size, "src"));
        CANOPY_TRY(check_barrier_stream(stream));
        return submit_nothing(stream);
    });
}

aclError aclrtCmoWaitBarrier(aclrtBarrierTaskInfo* taskInfo, aclrtStream stream, uint32_t flag) {
    return api([&]() -> Status {
        CANOPY_TRY(required(taskInfo, "taskInfo"));
        if (taskInfo->barrierNum == 0 || taskInfo->barrierNum > ACL_RT_CMO_MAX_BARRIER_NUM)
            return fail(code::param_invalid, "taskInfo->barrierNum {} is not between 1 and {}", taskInfo->barrierNum,
                        ACL_RT_CMO_MAX_BARRIER_NUM);
        if (flag != 0) return fail(code::param_invalid, "flag {} must be 0", flag);
        CANOPY_TRY(require_context());
        CANOPY_TRY(check_barrier_stream(stream));
        return submit_nothing(stream);
    });
}

}  // extern "C"
