// SPDX-License-Identifier: Apache-2.0
// Devices: setting, resetting, synchronising, querying properties and state.
#include <unistd.h>

#include "acl/acl_rt.h"
#include "api/api.h"
#include "core/base/thread_state.h"
#include "core/lifecycle/contexts.h"
#include "core/process/context.h"
#include "core/process/device_callbacks.h"
#include "core/process/device_facts.h"
#include "core/process/runtime.h"
#include "core/stream/stream.h"

using namespace canopy;

namespace {

constexpr std::uint32_t longest_abort = 36 * 60 * 1000;  // milliseconds

Status synchronise_current(Deadline deadline) {
    auto context = current_context();
    if (!context.ok()) return context.status();
    return synchronise_context(**context, deadline);
}

Status abort_device(DeviceRecord& record, std::uint32_t timeout) {
    const auto id = static_cast<std::int32_t>(record.index);
    if (const std::int32_t answer = notify_task_abort(id, AbortStage::before, timeout); answer != 0)
        return fail(code::runtime_internal, "a task-abort callback returned {} before the abort", answer);
    Runtime::instance().streams.for_each([&](Pin<Stream> stream) {
        if (stream->record == &record) abort_stream(*stream, code::device_task_abort);
    });
    if (const std::int32_t answer = notify_task_abort(id, AbortStage::after, timeout); answer != 0)
        return fail(code::runtime_internal, "a task-abort callback returned {} after the abort", answer);
    return {};
}

// The argument check of aclrtGetRunMode counts as a runtime error: aclrtGetLastError returns it.
Status check_run_mode(const aclrtRunMode* mode) {
    const Status status = required(mode, "runMode");
    if (!status.ok()) thread_state.last_error = status.code();
    return status;
}

}  // namespace

extern "C" {

aclError aclrtSetDevice(int32_t deviceId) {
    return changing_api([&]() -> Status { return set_device(deviceId); });
}

aclError aclrtResetDevice(int32_t deviceId) {
    return changing_api([&]() -> Status { return reset_device(deviceId, ResetMode::counted); });
}

aclError aclrtResetDeviceForce(int32_t deviceId) {
    return changing_api([&]() -> Status { return reset_device(deviceId, ResetMode::forced); });
}

aclError aclrtGetDevice(int32_t* deviceId) {
    return api([&]() -> Status {
        CANOPY_TRY(required(deviceId, "deviceId"));
        CANOPY_TRY(require_context());
        *deviceId = thread_state.device;
        return {};
    });
}

aclError aclrtSetTsDevice(aclrtTsId tsId) {
    return api([&]() -> Status {
        if (tsId == ACL_TS_ID_AICORE || tsId == ACL_TS_ID_AIVECTOR) return {};
        return fail(code::invalid_parameter, "tsId {} is neither ACL_TS_ID_AICORE nor ACL_TS_ID_AIVECTOR",
                    static_cast<int>(tsId));
    });
}

aclError aclrtSynchronizeDevice(void) {
    return api([&]() -> Status { return synchronise_current(Deadline::never()); });
}

aclError aclrtSynchronizeDeviceWithTimeout(int32_t timeout) {
    return api([&]() -> Status {
        const auto deadline = deadline_of(timeout);
        if (!deadline.ok()) return deadline.status();
        return synchronise_current(deadline.value());
    });
}

aclError aclrtDeviceTaskAbort(int32_t deviceId, uint32_t timeout) {
    return api([&]() -> Status {
        auto record = Runtime::instance().device(deviceId);
        if (!record.ok()) return record.status();
        if (timeout > longest_abort)
            return fail(code::param_invalid, "timeout {} is longer than {} milliseconds", timeout, longest_abort);
        return abort_device(**record, timeout);
    });
}

aclError aclrtSetDeviceTaskAbortCallback(const char* regName, aclrtDeviceTaskAbortCallback callback, void* args) {
    return api([&]() -> Status {
        CANOPY_TRY(required(regName, "regName"));
        return register_task_abort_callback(regName, reinterpret_cast<TaskAbortFunction>(callback), args);
    });
}

aclError aclrtRegDeviceStateCallback(const char* regName, aclrtDeviceStateCallback callback, void* args) {
    return api([&]() -> Status {
        CANOPY_TRY(required(regName, "regName"));
        return register_device_state_callback(regName, reinterpret_cast<DeviceStateFunction>(callback), args);
    });
}

aclError aclrtGetDeviceCount(uint32_t* count) {
    return api([&]() -> Status {
        CANOPY_TRY(required(count, "count"));
        *count = Runtime::instance().device_count();
        if (*count == 0) return fail(code::no_device, "ASCEND_RT_VISIBLE_DEVICES leaves no device visible");
        return {};
    });
}

const char* aclrtGetSocName() {
    const char* name = nullptr;
    api([&]() -> Status {
        name = Runtime::instance().settings().chip->name.data();
        return {};
    });
    return name;
}

aclError aclrtGetRunMode(aclrtRunMode* runMode) {
    return api([&]() -> Status {
        CANOPY_TRY(check_run_mode(runMode));
        *runMode = ACL_HOST;
        return {};
    });
}

aclError aclrtQueryDeviceStatus(int32_t deviceId, aclrtDeviceStatus* deviceStatus) {
    return api([&]() -> Status {
        CANOPY_TRY(required(deviceStatus, "deviceStatus"));
        CANOPY_TRY(Runtime::instance().device(deviceId).status());
        *deviceStatus = ACL_RT_DEVICE_STATUS_NORMAL;
        return {};
    });
}

aclError aclrtGetDeviceUtilizationRate(int32_t deviceId, aclrtUtilizationInfo* utilizationInfo) {
    return api([&]() -> Status {
        CANOPY_TRY(required(utilizationInfo, "utilizationInfo"));
        if (utilizationInfo->utilizationExtend != nullptr)
            return fail(code::invalid_parameter, "utilizationInfo->utilizationExtend must be null");
        auto record = Runtime::instance().device(deviceId);
        if (!record.ok()) return record.status();
        Utilisation rates{0, 0, 0};  // for a device that is not open
        if (Device* device = (*record)->opened()) rates = device->utilisation();
        utilizationInfo->cubeUtilization = rates.cube;
        utilizationInfo->vectorUtilization = rates.vector;
        utilizationInfo->aicpuUtilization = rates.cpu;
        utilizationInfo->memoryUtilization = -1;
        return {};
    });
}

aclError aclrtGetDeviceInfo(uint32_t deviceId, aclrtDevAttr attr, int64_t* value) {
    return api([&]() -> Status {
        CANOPY_TRY(required(value, "value"));
        auto record = Runtime::instance().device(deviceId);
        if (!record.ok()) return record.status();
        const auto found = device_attribute(**record, attr);
        if (!found.ok()) return found.status();
        *value = found.value();
        return {};
    });
}

aclError aclGetDeviceCapability(uint32_t deviceId, aclDeviceInfo deviceInfo, int64_t* value) {
    return api([&]() -> Status {
        CANOPY_TRY(required(value, "value"));
        CANOPY_TRY(Runtime::instance().device(deviceId).status());
        const Chip& chip = *Runtime::instance().settings().chip;
        switch (deviceInfo) {
            case ACL_DEVICE_INFO_AI_CORE_NUM:
                *value = chip.cube_cores;
                return {};
            case ACL_DEVICE_INFO_VECTOR_CORE_NUM:
                *value = chip.vector_cores;
                return {};
            case ACL_DEVICE_INFO_L2_SIZE:
                *value = static_cast<int64_t>(chip.l2_cache);
                return {};
            default:
                break;
        }
        return fail(code::invalid_parameter, "deviceInfo {} is not a capability", static_cast<int>(deviceInfo));
    });
}

aclError aclrtGetDeviceCapability(int32_t deviceId, aclrtDevFeatureType devFeatureType, int32_t* value) {
    return api([&]() -> Status {
        CANOPY_TRY(required(value, "value"));
        CANOPY_TRY(Runtime::instance().device(deviceId).status());
        switch (devFeatureType) {
            case ACL_FEATURE_TSCPU_TASK_UPDATE_SUPPORT_AIC_AIV:
                *value = ACL_DEV_FEATURE_SUPPORT;
                return {};
            case ACL_FEATURE_SYSTEM_MEMQ_EVENT_CROSS_DEV:
                *value = ACL_DEV_FEATURE_NOT_SUPPORT;
                return {};
            default:
                break;
        }
        return fail(code::param_invalid, "devFeatureType {} is not a feature", static_cast<int>(devFeatureType));
    });
}

aclError aclrtDeviceGetStreamPriorityRange(int32_t* leastPriority, int32_t* greatestPriority) {
    return api([&]() -> Status {
        if (leastPriority != nullptr) *leastPriority = 7;
        if (greatestPriority != nullptr) *greatestPriority = 0;
        return {};
    });
}

aclError aclrtDeviceGetBareTgid(int32_t* pid) {
    return api([&]() -> Status {
        CANOPY_TRY(required(pid, "pid"));
        *pid = getpid();
        return {};
    });
}

aclError aclrtCheckArchCompatibility(const char* socVersion, int32_t* canCompatible) {
    return api([&]() -> Status {
        CANOPY_TRY(required(socVersion, "socVersion"));
        CANOPY_TRY(required(canCompatible, "canCompatible"));
        const Chip* other = find_chip(socVersion);
        if (other == nullptr) return fail(code::soc_version, "socVersion \"{}\" is not a known chip", socVersion);
        *canCompatible = other->architecture == Runtime::instance().settings().chip->architecture ? 1 : 0;
        return {};
    });
}

// Host and device share the caches, so there is nothing to write back.
aclError aclrtDeviceL2CacheFlush(void* rsv) {
    return api([&]() -> Status {
        if (rsv != nullptr) return fail(code::invalid_parameter, "rsv is reserved and must be null");
        return {};
    });
}

}  // extern "C"
