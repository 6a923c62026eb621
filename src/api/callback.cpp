// SPDX-License-Identifier: Apache-2.0
// Host functions, callbacks on threads of the program, and exception callbacks.
#include "acl/acl_rt.h"
#include "api/api.h"
#include "core/base/thread_state.h"
#include "core/kernel/kernel.h"
#include "core/launch/exceptions.h"
#include "core/stream/stream_callbacks.h"
#include "device/opaque_pointer.h"

using namespace canopy;

aclError aclrtLaunchHostFunc(aclrtStream stream, aclrtHostFunc fn, void* args) {
    return api([&]() -> Status {
        CANOPY_TRY(required(reinterpret_cast<void*>(fn), "fn"));
        return launch_host_function(fn, args, stream);
    });
}

aclError aclrtLaunchCallback(aclrtCallback fn, void* userData, aclrtCallbackBlockType blockType, aclrtStream stream) {
    return api([&]() -> Status {
        CANOPY_TRY(required(reinterpret_cast<void*>(fn), "fn"));
        if (blockType != ACL_CALLBACK_NO_BLOCK && blockType != ACL_CALLBACK_BLOCK)
            return fail(code::invalid_parameter, "blockType {} is neither 0 nor 1", static_cast<int>(blockType));
        return launch_callback(fn, userData, blockType == ACL_CALLBACK_BLOCK, stream);
    });
}

aclError aclrtSubscribeReport(uint64_t threadId, aclrtStream stream) {
    return api([&]() -> Status { return subscribe(ReportKind::callback, threadId, stream); });
}

aclError aclrtUnSubscribeReport(uint64_t threadId, aclrtStream stream) {
    return api([&]() -> Status { return unsubscribe(ReportKind::callback, threadId, stream); });
}

aclError aclrtProcessReport(int32_t timeout) {
    return api([&]() -> Status { return process_reports(ReportKind::callback, timeout); });
}

aclError aclrtSubscribeHostFunc(uint64_t hostFuncThreadId, aclrtStream exeStream) {
    return api([&]() -> Status { return subscribe(ReportKind::host_function, hostFuncThreadId, exeStream); });
}

aclError aclrtUnSubscribeHostFunc(uint64_t hostFuncThreadId, aclrtStream exeStream) {
    return api([&]() -> Status { return unsubscribe(ReportKind::host_function, hostFuncThreadId, exeStream); });
}

aclError aclrtProcessHostFunc(int32_t timeout) {
    return api([&]() -> Status { return process_reports(ReportKind::host_function, timeout); });
}

aclError aclrtSetExceptionInfoCallback(aclrtExceptionInfoCallback callback) {
    set_exception_callback(callback);
    return ACL_SUCCESS;
}

aclError aclrtExceptionInfoCallbackRegister(aclrtExceptionInfoCallback callback) {
    return api([&]() -> Status { return add_exception_callback(callback); });
}

aclError aclrtExceptionInfoCallbackUnregister(aclrtExceptionInfoCallback callback) {
    return api([&]() -> Status {
        if (!callback) return fail(code::param_invalid, "callback must not be null");
        remove_exception_callback(callback);
        return {};
    });
}

aclError aclrtBinarySetExceptionCallback(aclrtBinHandle binHandle, aclrtOpExceptionCallback callback, void* userData) {
    return api([&]() -> Status {
        CANOPY_TRY(required(binHandle, "binHandle"));
        CANOPY_TRY(required(reinterpret_cast<void*>(callback), "callback"));
        Result<Pin<Binary>> binary = find_binary(binHandle);
        if (!binary.ok()) return binary.status();
        (*binary)->exception_argument.store(userData, std::memory_order_relaxed);
        (*binary)->exception_function.store(callback, std::memory_order_release);
        return {};
    });
}

namespace {
constexpr std::uint32_t nothing = 0xFFFFFFFFu;
}

uint32_t aclrtGetTaskIdFromExceptionInfo(const aclrtExceptionInfo* info) { return info ? info->taskid : nothing; }
uint32_t aclrtGetStreamIdFromExceptionInfo(const aclrtExceptionInfo* info) { return info ? info->streamid : nothing; }
uint32_t aclrtGetThreadIdFromExceptionInfo(const aclrtExceptionInfo* info) { return info ? info->tid : nothing; }
uint32_t aclrtGetDeviceIdFromExceptionInfo(const aclrtExceptionInfo* info) { return info ? info->deviceid : nothing; }
uint32_t aclrtGetErrorCodeFromExceptionInfo(const aclrtExceptionInfo* info) { return info ? info->retcode : nothing; }

aclError aclrtGetArgsFromExceptionInfo(const aclrtExceptionInfo* info, void** devArgsPtr, uint32_t* devArgsLen) {
    return api([&]() -> Status {
        CANOPY_TRY(required(info, "info"));
        CANOPY_TRY(required(devArgsPtr, "devArgsPtr"));
        CANOPY_TRY(required(devArgsLen, "devArgsLen"));
        const ExceptionArguments arguments = exception_arguments(*info);
        *devArgsPtr = opaque_pointer(arguments.address);
        *devArgsLen = arguments.size;
        return {};
    });
}

aclError aclrtGetFuncHandleFromExceptionInfo(const aclrtExceptionInfo* info, aclrtFuncHandle* func) {
    return api([&]() -> Status {
        CANOPY_TRY(required(info, "info"));
        CANOPY_TRY(required(func, "func"));
        const std::optional<ExceptionDetails> details = exception_details(info);
        if (!details)
            return fail(code::param_invalid, "info {} does not belong to a running callback", as_address(info));
        *func = details->function;
        return {};
    });
}

aclError aclrtGetThreadLastTaskId(uint32_t* taskId) {
    return api([&]() -> Status {
        CANOPY_TRY(required(taskId, "taskId"));
        *taskId = thread_state.last_task;
        return {};
    });
}
