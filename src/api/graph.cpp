// SPDX-License-Identifier: Apache-2.0
// Graphs: capture, conditions, execution, destruction.
#include "core/graph/graph.h"

#include <algorithm>

#include "acl/acl_rt.h"
#include "api/api.h"
#include "core/base/thread_state.h"
#include "core/graph/capture/capture.h"
#include "core/graph/capture/capture_conditions.h"
#include "core/graph/graph_end.h"
#include "core/graph/graph_execute.h"
#include "device/opaque_pointer.h"

using namespace canopy;

namespace {

// The body of most functions here: a required graph of the current context, pinned.
template <class Body>
int with_graph(aclmdlRI graph, Body&& body, const char* function = __builtin_FUNCTION()) noexcept {
    return api(
        [&]() -> Status {
            CANOPY_TRY(required(graph, "modelRI"));
            Result<Pin<Graph>> pinned = find_graph(graph, true);
            if (!pinned.ok()) [[unlikely]]
                return pinned.status();
            return body(**pinned);
        },
        function);
}

Result<ConditionKind> condition_kind(aclmdlRICondTaskType type) {
    switch (type) {
        case ACL_MODEL_RI_COND_TYPE_IF:
            return ConditionKind::branch;
        case ACL_MODEL_RI_COND_TYPE_WHILE:
            return ConditionKind::loop;
        case ACL_MODEL_RI_COND_TYPE_SWITCH:
            return ConditionKind::choice;
    }
    return fail(code::param_invalid, "params.type {} is not a kind of condition", static_cast<int>(type));
}

}  // namespace

// ---- capture -------------------------------------------------------------------------------------------------------

aclError aclmdlRICaptureBegin(aclrtStream stream, aclmdlRICaptureMode mode) {
    return api([&]() -> Status {
        CANOPY_TRY(required(stream, "stream"));
        return begin_capture(stream, static_cast<CaptureMode>(mode));
    });
}

aclError aclmdlRICaptureToModelRIBegin(aclrtStream stream, aclmdlRI modelRI, aclmdlRICaptureMode mode) {
    return api([&]() -> Status {
        CANOPY_TRY(required(stream, "stream"));
        CANOPY_TRY(required(modelRI, "modelRI"));
        return begin_capture_into(stream, modelRI, static_cast<CaptureMode>(mode));
    });
}

aclError aclmdlRICaptureEnd(aclrtStream stream, aclmdlRI* modelRI) {
    return api([&]() -> Status {
        CANOPY_TRY(required(stream, "stream"));
        CANOPY_TRY(required(modelRI, "modelRI"));
        *modelRI = nullptr;
        Result<Handle> graph = end_capture(stream);
        if (!graph.ok()) return graph.status();
        *modelRI = opaque_of(*graph);
        return {};
    });
}

aclError aclmdlRICaptureGetInfo(aclrtStream stream, aclmdlRICaptureStatus* status, aclmdlRI* modelRI) {
    return api([&]() -> Status {
        CANOPY_TRY(required(stream, "stream"));
        if (!modelRI) CANOPY_TRY(required(status, "status"));  // at least one is required
        Result<CaptureInfo> info = capture_info(stream);
        if (!info.ok()) return info.status();
        if (status) *status = static_cast<aclmdlRICaptureStatus>(info->status);
        if (modelRI) *modelRI = opaque_of(info->graph);
        return {};
    });
}

aclError aclmdlRICaptureThreadExchangeMode(aclmdlRICaptureMode* mode) {
    return api([&]() -> Status {
        CANOPY_TRY(required(mode, "mode"));
        const int wanted = static_cast<int>(*mode);
        if (wanted < ACL_MODEL_RI_CAPTURE_MODE_GLOBAL || wanted > ACL_MODEL_RI_CAPTURE_MODE_RELAXED)
            return fail(code::param_invalid, "mode {} is not a capture mode", wanted);
        *mode = static_cast<aclmdlRICaptureMode>(
            std::exchange(thread_state.capture_mode, static_cast<CaptureMode>(wanted)));
        return {};
    });
}

// ---- conditions ----------------------------------------------------------------------------------------------------

aclError aclmdlRICondHandleCreate(aclmdlRI modelRI, uint32_t defaultLaunchValue, aclmdlRICondHandleFlag flag,
                                  aclmdlRICondHandle* handle) {
    return changing_api([&]() -> Status {
        CANOPY_TRY(required(modelRI, "modelRI"));
        CANOPY_TRY(required(handle, "handle"));
        const int bits = static_cast<int>(flag);
        if (bits != 0 && bits != ACL_MODEL_RI_COND_HANDLE_ASSIGN_DEFAULT)
            return fail(code::param_invalid, "flag {} is neither 0 nor 1 (assign the default)", bits);
        Result<Handle> condition = create_condition(modelRI, defaultLaunchValue, bits != 0);
        if (!condition.ok()) return condition.status();
        *handle = opaque_of(*condition);
        return {};
    });
}

aclError aclmdlRICondHandleGetCondPtr(aclmdlRICondHandle handle, uint64_t** ptr) {
    return api([&]() -> Status {
        CANOPY_TRY(required(handle, "handle"));
        CANOPY_TRY(required(ptr, "ptr"));
        Result<DeviceAddress> word = condition_word(handle);
        if (!word.ok()) return word.status();
        *ptr = static_cast<std::uint64_t*>(opaque_pointer(*word));
        return {};
    });
}

aclError aclmdlRIAddCondTask(aclmdlRICondTaskParams params, aclrtStream stream, uint32_t flags) {
    return api([&]() -> Status {
        CANOPY_TRY(required(params.handle, "params.handle"));
        CANOPY_TRY(required(params.modelRIArray, "params.modelRIArray"));
        CANOPY_TRY(required(stream, "stream"));
        if (flags != 0) return fail(code::invalid_parameter, "flags {} must be 0", flags);
        Result<ConditionKind> kind = condition_kind(params.type);
        if (!kind.ok()) return kind.status();
        return add_condition_task(params.handle, *kind, {params.modelRIArray, params.size}, stream);
    });
}

// ---- running -------------------------------------------------------------------------------------------------------

aclError aclmdlRIExecuteAsync(aclmdlRI modelRI, aclrtStream stream) {
    return with_graph(modelRI, [&](Graph& graph) { return execute_graph(graph, stream); });
}

aclError aclmdlRIExecute(aclmdlRI modelRI, int32_t timeout) {
    return with_graph(modelRI, [&](Graph& graph) -> Status {
        Result<Deadline> deadline = deadline_of(timeout);
        if (!deadline.ok()) return deadline.status();
        return execute_graph_now(graph, *deadline);
    });
}

aclError aclmdlRIAbort(aclmdlRI modelRI) {
    return with_graph(modelRI, [&](Graph& graph) { return abort_graph(graph); });
}

// ---- destruction ---------------------------------------------------------------------------------------------------

aclError aclmdlRIDestroy(aclmdlRI modelRI) {
    return changing_api([&]() -> Status {
        CANOPY_TRY(required(modelRI, "modelRI"));
        return destroy_graph(modelRI);
    });
}

aclError aclmdlRIDestroyRegisterCallback(aclmdlRI modelRI, aclrtCallback func, void* userData) {
    return with_graph(modelRI, [&](Graph& graph) -> Status {
        CANOPY_TRY(required(func, "func"));
        MutexLock lock(*graph.mutex);
        if (graph.state == GraphState::ended) return fail(code::invalid_handle, "the graph was destroyed");
        graph.at_destroy.emplace_back(func, userData);
        return {};
    });
}

aclError aclmdlRIDestroyUnregisterCallback(aclmdlRI modelRI, aclrtCallback func) {
    return with_graph(modelRI, [&](Graph& graph) -> Status {
        CANOPY_TRY(required(func, "func"));
        MutexLock lock(*graph.mutex);
        if (std::erase_if(graph.at_destroy, [&](const auto& entry) { return entry.first == func; }) == 0)
            return fail(code::param_invalid, "func is not among the functions registered for {}", label_of(graph));
        return {};
    });
}
