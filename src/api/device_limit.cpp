// SPDX-License-Identifier: Apache-2.0
// Limits of devices, streams and threads, and overflow modes.
#include "acl/acl_rt.h"
#include "api/api.h"
#include "core/base/thread_state.h"
#include "core/graph/capture/capture.h"
#include "core/memory/memory.h"
#include "core/process/context.h"
#include "core/process/device_limits.h"
#include "core/process/runtime.h"
#include "core/stream/capture_rules.h"
#include "core/stream/stream.h"

using namespace canopy;

namespace {

constexpr std::uint64_t overflow_status_bytes = 64;

std::size_t slot(CoreLimit kind) { return static_cast<std::size_t>(kind); }

// The stream's own limit, or else its device's.
std::uint32_t stream_cores(const Stream& stream, CoreLimit kind) {
    const std::uint32_t own = stream.core_limit[slot(kind)].load(std::memory_order_relaxed);
    return own != 0 ? own : device_cores(*stream.record, kind);
}

// A stream of the current context that is not being captured.
Status check_stream(aclrtStream stream) {
    Result<Pin<Stream>> pinned = find_stream(stream, true);
    if (!pinned.ok()) return pinned.status();
    return check_stream_free(**pinned);
}

// Writes the status, in stream order, to 64 bytes of device memory. Kernels here use IEEE arithmetic and raise no
// overflow flag, so the status is all zeros.
Status write_overflow_status(void* address, std::uint64_t size, aclrtStream stream) {
    CANOPY_TRY(required(address, "outputAddr"));
    if (size != overflow_status_bytes)
        return fail(code::param_invalid, "outputSize {} is not {}", size, overflow_status_bytes);
    CANOPY_TRY(require_context());
    const auto place = usable_place(device_address(address), size, "outputAddr");
    if (!place.ok()) return place.status();
    if (!place.value().on_device()) return fail(code::param_invalid, "outputAddr {} is not device memory", address);
    CANOPY_TRY(check_stream(stream));
    auto target = LockedStream::acquire(stream);
    if (!target.ok()) return target.status();
    Command command(Opcode::fill);
    command.fill = {device_address(address), overflow_status_bytes, 0, 1};
    return target.value().submit(command);
}

// There is no flag to clear; only checks that the thread may use the stream.
Status clear_overflow_status(aclrtStream stream) { return check_stream(stream); }

}  // namespace

extern "C" {

aclError aclrtDeviceSetLimit(aclrtDeviceLimit limit, size_t value) {
    return api([&]() -> Status { return set_device_limit(limit, value); });
}

aclError aclrtDeviceGetLimit(aclrtDeviceLimit limit, size_t* value) {
    return api([&]() -> Status {
        CANOPY_TRY(required(value, "value"));
        const auto found = device_limit(limit);
        if (!found.ok()) return found.status();
        *value = found.value();
        return {};
    });
}

aclError aclrtSetDeviceResLimit(int32_t deviceId, aclrtDevResLimitType type, uint32_t value) {
    return api([&]() -> Status {
        auto record = Runtime::instance().device(deviceId);
        if (!record.ok()) return record.status();
        const auto kind = core_limit_of(type);
        if (!kind.ok()) return kind.status();
        CANOPY_TRY(check_core_limit(*Runtime::instance().settings().chip, kind.value(), value));
        (*record)->core_limit[slot(kind.value())].store(value, std::memory_order_relaxed);
        return {};
    });
}

aclError aclrtGetDeviceResLimit(int32_t deviceId, aclrtDevResLimitType type, uint32_t* value) {
    return api([&]() -> Status {
        CANOPY_TRY(required(value, "value"));
        auto record = Runtime::instance().device(deviceId);
        if (!record.ok()) return record.status();
        const auto kind = core_limit_of(type);
        if (!kind.ok()) return kind.status();
        *value = device_cores(**record, kind.value());
        return {};
    });
}

aclError aclrtResetDeviceResLimit(int32_t deviceId) {
    return api([&]() -> Status {
        auto record = Runtime::instance().device(deviceId);
        if (!record.ok()) return record.status();
        for (auto& limit : (*record)->core_limit) limit.store(0, std::memory_order_relaxed);
        return {};
    });
}

aclError aclrtSetStreamResLimit(aclrtStream stream, aclrtDevResLimitType type, uint32_t value) {
    return api([&]() -> Status {
        auto target = find_stream(stream, false);
        if (!target.ok()) return target.status();
        const auto kind = core_limit_of(type);
        if (!kind.ok()) return kind.status();
        CANOPY_TRY(check_core_limit(*Runtime::instance().settings().chip, kind.value(), value));
        (*target)->core_limit[slot(kind.value())].store(value, std::memory_order_relaxed);
        return {};
    });
}

aclError aclrtGetStreamResLimit(aclrtStream stream, aclrtDevResLimitType type, uint32_t* value) {
    return api([&]() -> Status {
        CANOPY_TRY(required(value, "value"));
        auto target = find_stream(stream, false);
        if (!target.ok()) return target.status();
        const auto kind = core_limit_of(type);
        if (!kind.ok()) return kind.status();
        *value = stream_cores(**target, kind.value());
        return {};
    });
}

aclError aclrtResetStreamResLimit(aclrtStream stream) {
    return api([&]() -> Status {
        auto target = find_stream(stream, false);
        if (!target.ok()) return target.status();
        for (auto& limit : (*target)->core_limit) limit.store(0, std::memory_order_relaxed);
        return {};
    });
}

aclError aclrtUseStreamResInCurrentThread(aclrtStream stream) {
    return api([&]() -> Status {
        auto target = find_stream(stream, false);
        if (!target.ok()) return target.status();
        thread_state.resource_stream = (*target)->self;
        return {};
    });
}

aclError aclrtUnuseStreamResInCurrentThread(aclrtStream stream) {
    return api([&]() -> Status {
        auto target = find_stream(stream, false);
        if (!target.ok()) return target.status();
        if (thread_state.resource_stream == (*target)->self) thread_state.resource_stream = 0;
        return {};
    });
}

aclError aclrtGetResInCurrentThread(aclrtDevResLimitType type, uint32_t* value) {
    return api([&]() -> Status {
        CANOPY_TRY(required(value, "value"));
        const auto kind = core_limit_of(type);
        if (!kind.ok()) return kind.status();
        auto record = current_device();
        if (!record.ok()) return record.status();
        *value = device_cores(**record, kind.value());
        if (const auto stream = Runtime::instance().streams.pin(thread_state.resource_stream))
            *value = stream_cores(*stream, kind.value());
        return {};
    });
}

aclError aclrtSetDeviceSatMode(aclrtFloatOverflowMode mode) {
    return api([&]() -> Status {
        if (mode != ACL_RT_OVERFLOW_MODE_SATURATION && mode != ACL_RT_OVERFLOW_MODE_INFNAN)
            return fail(code::param_invalid, "mode {} is neither saturation (0) nor inf/nan (1)",
                        static_cast<int>(mode));
        auto record = current_device();
        if (!record.ok()) return record.status();
        (*record)->saturation_mode.store(mode, std::memory_order_relaxed);
        return {};
    });
}

aclError aclrtGetDeviceSatMode(aclrtFloatOverflowMode* mode) {
    return api([&]() -> Status {
        CANOPY_TRY(required(mode, "mode"));
        auto record = current_device();
        if (!record.ok()) return record.status();
        *mode = static_cast<aclrtFloatOverflowMode>((*record)->saturation_mode.load(std::memory_order_relaxed));
        return {};
    });
}

aclError aclrtGetOverflowStatus(void* outputAddr, size_t outputSize, aclrtStream stream) {
    return api([&]() -> Status { return write_overflow_status(outputAddr, outputSize, stream); });
}

aclError aclrtResetOverflowStatus(aclrtStream stream) {
    return api([&]() -> Status { return clear_overflow_status(stream); });
}

aclError aclrtGetFloatOverflowStatus(void* outputAddr, uint64_t outputSize, aclrtStream stream) {
    return api([&]() -> Status { return write_overflow_status(outputAddr, outputSize, stream); });
}

aclError aclrtResetFloatOverflowStatus(aclrtStream stream) {
    return api([&]() -> Status { return clear_overflow_status(stream); });
}

aclError aclrtNpuGetFloatOverFlowStatus(void* outputAddr, uint64_t outputSize, uint32_t /*checkMode*/,
                                        aclrtStream stream) {
    return api([&]() -> Status { return write_overflow_status(outputAddr, outputSize, stream); });
}

aclError aclrtNpuClearFloatOverFlowStatus(uint32_t /*checkMode*/, aclrtStream stream) {
    return api([&]() -> Status { return clear_overflow_status(stream); });
}

}  // extern "C"
