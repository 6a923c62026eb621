// SPDX-License-Identifier: Apache-2.0
// Errors: the recent messages, the thread's last code, and hardware faults, which a software device does not have.
#include <cstring>

#include "acl/acl_rt.h"
#include "api/api.h"
#include "core/base/thread_state.h"
#include "core/process/runtime.h"

using namespace canopy;

namespace {

Status check_level(aclrtLastErrLevel level) {
    if (level == ACL_RT_THREAD_LEVEL) return {};
    return fail(code::invalid_parameter, "level {} is not ACL_RT_THREAD_LEVEL", static_cast<int>(level));
}

Status check_device(std::int32_t device) { return Runtime::instance().device(device).status(); }

Status check_fault_list(const void* list, std::size_t count) {
    CANOPY_TRY(required(list, "memUceInfoArray"));
    if (count == 0 || count > MAX_MEM_UCE_INFO_ARRAY_SIZE)
        return fail(code::invalid_parameter, "arraySize {} is not in [1, {}]", count, MAX_MEM_UCE_INFO_ARRAY_SIZE);
    return {};
}

}  // namespace

extern "C" {

const char* aclGetRecentErrMsg() {
    try {
        return take_error_text();
    } catch (...) {
        return nullptr;
    }
}

aclError aclrtPeekAtLastError(aclrtLastErrLevel level) {
    const int last = thread_state.last_error;
    const int code = api([&] { return check_level(level); });
    return code != 0 ? code : last;
}

aclError aclrtGetLastError(aclrtLastErrLevel level) {
    int last = 0;
    const int code = api([&]() -> Status {
        CANOPY_TRY(check_level(level));
        last = std::exchange(thread_state.last_error, 0);
        return {};
    });
    return code != 0 ? code : last;
}

aclError aclrtGetErrorVerbose(int32_t deviceId, aclrtErrorInfo* errorInfo) {
    return api([&]() -> Status {
        CANOPY_TRY(required(errorInfo, "errorInfo"));
        CANOPY_TRY(check_device(deviceId));
        std::memset(errorInfo, 0, sizeof(*errorInfo));
        errorInfo->errorType = ACL_RT_NO_ERROR;
        return {};
    });
}

aclError aclrtRepairError(int32_t deviceId, const aclrtErrorInfo* errorInfo) {
    return api([&]() -> Status {
        CANOPY_TRY(required(errorInfo, "errorInfo"));
        CANOPY_TRY(check_device(deviceId));
        if (errorInfo->errorType == ACL_RT_NO_ERROR) return {};
        return fail(code::not_supported, "errorInfo->errorType {} is a hardware fault, which this device does not have",
                    static_cast<int>(errorInfo->errorType));
    });
}

aclError aclrtGetMemUceInfo(int32_t deviceId, aclrtMemUceInfo* memUceInfoArray, size_t arraySize, size_t* retSize) {
    return api([&]() -> Status {
        CANOPY_TRY(check_fault_list(memUceInfoArray, arraySize));
        CANOPY_TRY(required(retSize, "retSize"));
        CANOPY_TRY(check_device(deviceId));
        *retSize = 0;
        return {};
    });
}

aclError aclrtMemUceRepair(int32_t deviceId, aclrtMemUceInfo* memUceInfoArray, size_t arraySize) {
    return api([&]() -> Status {
        CANOPY_TRY(check_fault_list(memUceInfoArray, arraySize));
        return check_device(deviceId);
    });
}

}  // extern "C"
