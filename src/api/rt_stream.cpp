// SPDX-License-Identifier: Apache-2.0
// The lower interface: streams, and host functions they run.
#include "acl/acl_rt.h"
#include "api/lower.h"
#include "core/graph/capture/capture.h"
#include "core/graph/graph.h"
#include "runtime/rt.h"
#include "runtime/runtime/rts/rts_kernel.h"

using namespace canopy;

namespace {

const void* address_of(rtCallback_t function) noexcept { return reinterpret_cast<const void*>(function); }

// The stream that a graph is being captured from.
Result<Handle> origin_of(const void* model) {
    Result<Pin<Graph>> graph = find_graph(model, true);
    if (!graph.ok()) return graph.status();
    for (const std::shared_ptr<Capture>& capture : all_captures())
        if (capture->graph.get() == graph->get()) return capture->origin;
    return fail(code::stream_not_captured, "graph {} is not being captured", as_address(model));
}

bool is_part_of(rtStream_t stream, rtModel_t model) {
    aclmdlRICaptureStatus status = ACL_MODEL_RI_CAPTURE_STATUS_NONE;
    aclmdlRI captured = nullptr;
    return aclmdlRICaptureGetInfo(stream, &status, &captured) == 0 && status == ACL_MODEL_RI_CAPTURE_STATUS_ACTIVE &&
           captured == model;
}

// Makes the stream wait for everything captured so far, which adds it to the capture.
int add_behind(rtStream_t stream, rtStream_t origin) {
    aclrtEvent event = nullptr;
    int code = aclrtCreateEventExWithFlag(&event, ACL_EVENT_SYNC);
    if (code != 0) return code;
    code = aclrtRecordEvent(event, origin);
    if (code == 0) code = aclrtStreamWaitEvent(stream, event);
    aclrtDestroyEvent(event);
    return code;
}

}  // namespace

extern "C" {

rtError_t rtStreamCreate(rtStream_t* stm, int32_t priority) {
    return lower({{stm, "stm"}}, [&] {
        if (priority < 0) return fail(code::param_invalid, "priority {} is less than 0", priority).code();
        return aclrtCreateStreamWithConfig(stm, static_cast<std::uint32_t>(priority), 0);
    });
}

rtError_t rtStreamDestroy(rtStream_t stm) {
    return lower({{stm, "stm"}}, [&] { return aclrtDestroyStream(stm); });
}

rtError_t rtStreamSynchronize(rtStream_t stm) {
    return lower({}, [&] { return aclrtSynchronizeStream(stm); });
}

rtError_t rtStreamQuery(rtStream_t stm) {
    aclrtStreamStatus status = ACL_STREAM_STATUS_COMPLETE;
    const rtError_t code = lower({}, [&] { return aclrtStreamQuery(stm, &status); });
    // Not a failure: no message, and nothing for aclrtGetLastError.
    if (code == 0 && status != ACL_STREAM_STATUS_COMPLETE) return ACL_ERROR_RT_STREAM_NOT_COMPLETE;
    return code;
}

rtError_t rtStreamAddToModel(rtStream_t stm, rtModel_t captureMdl) {
    return lower({{stm, "stm"}, {captureMdl, "captureMdl"}}, [&] {
        const Result<Handle> origin = origin_of(captureMdl);
        if (!origin.ok()) return origin.status().code();
        return is_part_of(stm, captureMdl) ? 0 : add_behind(stm, opaque_of(origin.value()));
    });
}

rtError_t rtsLaunchHostFunc(rtStream_t stm, const rtCallback_t callBackFunc, void* const fnData) {
    return lower({{address_of(callBackFunc), "callBackFunc"}},
                 [&] { return aclrtLaunchHostFunc(stm, callBackFunc, fnData); });
}

rtError_t rtsCallbackLaunch(rtCallback_t callBackFunc, void* fnData, rtStream_t stm, bool isBlock) {
    return lower({{address_of(callBackFunc), "callBackFunc"}}, [&] {
        return aclrtLaunchCallback(callBackFunc, fnData, isBlock ? ACL_CALLBACK_BLOCK : ACL_CALLBACK_NO_BLOCK, stm);
    });
}

rtError_t rtsSubscribeReport(uint64_t threadId, rtStream_t stm) {
    return lower({}, [&] { return aclrtSubscribeReport(threadId, stm); });
}

rtError_t rtsUnSubscribeReport(uint64_t threadId, rtStream_t stm) {
    return lower({}, [&] { return aclrtUnSubscribeReport(threadId, stm); });
}

rtError_t rtsProcessReport(int32_t timeout) {
    return lower({}, [&] { return aclrtProcessReport(timeout); });
}

rtError_t rtsGetThreadLastTaskId(uint32_t* taskId) {
    return lower({{taskId, "taskId"}}, [&] { return aclrtGetThreadLastTaskId(taskId); });
}

rtError_t rtsGetFloatOverflowStatus(void* const outputAddrPtr, const uint64_t outputSize, rtStream_t stm) {
    return lower({{outputAddrPtr, "outputAddrPtr"}},
                 [&] { return aclrtGetFloatOverflowStatus(outputAddrPtr, outputSize, stm); });
}

rtError_t rtsResetFloatOverflowStatus(rtStream_t stm) {
    return lower({}, [&] { return aclrtResetFloatOverflowStatus(stm); });
}

rtError_t rtsNpuGetFloatOverFlowStatus(void* outputAddrPtr, uint64_t outputSize, uint32_t checkMode, rtStream_t stm) {
    return lower({{outputAddrPtr, "outputAddrPtr"}},
                 [&] { return aclrtNpuGetFloatOverFlowStatus(outputAddrPtr, outputSize, checkMode, stm); });
}

rtError_t rtsNpuClearFloatOverFlowStatus(uint32_t checkMode, rtStream_t stm) {
    return lower({}, [&] { return aclrtNpuClearFloatOverFlowStatus(checkMode, stm); });
}

rtError_t rtsNpuGetFloatOverFlowDebugStatus(void* outputAddrPtr, uint64_t outputSize, uint32_t checkMode,
                                            rtStream_t stm) {
    return rtsNpuGetFloatOverFlowStatus(outputAddrPtr, outputSize, checkMode, stm);
}

rtError_t rtsNpuClearFloatOverFlowDebugStatus(uint32_t checkMode, rtStream_t stm) {
    return rtsNpuClearFloatOverFlowStatus(checkMode, stm);
}

}  // extern "C"
