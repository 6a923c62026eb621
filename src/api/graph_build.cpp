// SPDX-License-Identifier: Apache-2.0
// Models built from persistent streams, and functions that start such streams.
#include "core/graph/graph_build.h"

#include "acl/acl_rt.h"
#include "api/api.h"
#include "core/memory/memory.h"
#include "core/process/context.h"

using namespace canopy;

namespace {

constexpr std::uint32_t bind_head = 0, bind_default = 0x7FFFFFFF;

// The body of most functions here: a required model of the current context, pinned.
template <class Body>
int with_model(aclmdlRI model, Body&& body, const char* function = __builtin_FUNCTION()) noexcept {
    return api(
        [&]() -> Status {
            CANOPY_TRY(required(model, "modelRI"));
            Result<Pin<Graph>> graph = find_graph(model, true);
            if (!graph.ok()) return graph.status();
            return body(**graph);
        },
        function);
}

// Checks a value that a task reads when it runs.
Status check_value(const void* address, std::size_t size, const char* name) {
    Result<MemoryPlace> place = usable_place(device_address(address), size, name);
    if (!place.ok()) return place.status();
    if (place->pageable()) return fail(code::param_invalid, "{} {} is not device memory", name, as_address(address));
    if (reinterpret_cast<std::uintptr_t>(address) % size != 0)
        return fail(code::param_invalid, "{} {} is not a multiple of {} bytes", name, as_address(address), size);
    return {};
}

}  // namespace

aclError aclmdlRIBuildBegin(aclmdlRI* modelRI, uint32_t flag) {
    return api([&]() -> Status {
        CANOPY_TRY(required(modelRI, "modelRI"));
        if (flag != 0) return fail(code::invalid_parameter, "flag {} must be 0", flag);
        Result<Handle> graph = begin_build();
        if (!graph.ok()) return graph.status();
        *modelRI = opaque_of(*graph);
        return {};
    });
}

aclError aclmdlRIBindStream(aclmdlRI modelRI, aclrtStream stream, uint32_t flag) {
    return with_model(modelRI, [&](Graph& graph) -> Status {
        if (!stream) return fail(code::param_invalid, "the default stream cannot be bound to a model");
        if (flag != bind_head && flag != bind_default)
            return fail(code::param_invalid, "flag {:#x} is neither {:#x} (head) nor {:#x}", flag, bind_head,
                        bind_default);
        return bind_stream(graph, stream, flag == bind_head);
    });
}

aclError aclmdlRIUnbindStream(aclmdlRI modelRI, aclrtStream stream) {
    return with_model(modelRI, [&](Graph& graph) { return unbind_stream(graph, stream); });
}

aclError aclmdlRIEndTask(aclmdlRI modelRI, aclrtStream stream) {
    return with_model(modelRI, [&](Graph& graph) { return record_end(graph, stream); });
}

aclError aclmdlRIBuildEnd(aclmdlRI modelRI, void* reserve) {
    return with_model(modelRI, [&](Graph& graph) -> Status {
        if (reserve) return fail(code::invalid_parameter, "reserve must be null");
        return end_build(graph);
    });
}

aclError aclrtActiveStream(aclrtStream activeStream, aclrtStream stream) {
    return api([&]() -> Status {
        CANOPY_TRY(required(activeStream, "activeStream"));
        CANOPY_TRY(required(stream, "stream"));
        return record_start(activeStream, stream);
    });
}

aclError aclrtSwitchStream(void* leftValue, aclrtCondition cond, void* rightValue, aclrtCompareDataType dataType,
                           aclrtStream trueStream, aclrtStream falseStream, aclrtStream stream) {
    return api([&]() -> Status {
        CANOPY_TRY(required(leftValue, "leftValue"));
        CANOPY_TRY(required(rightValue, "rightValue"));
        CANOPY_TRY(required(trueStream, "trueStream"));
        CANOPY_TRY(required(stream, "stream"));
        if (falseStream) return fail(code::invalid_parameter, "falseStream must be null");
        if (cond < ACL_RT_EQUAL || cond > ACL_RT_LESS_OR_EQUAL)
            return fail(code::invalid_parameter, "cond {} is not a comparison", static_cast<int>(cond));
        if (dataType != ACL_RT_SWITCH_INT32 && dataType != ACL_RT_SWITCH_INT64)
            return fail(code::invalid_parameter, "dataType {} is neither 0 nor 1", static_cast<int>(dataType));
        const bool wide = dataType == ACL_RT_SWITCH_INT64;
        CANOPY_TRY(require_context());
        CANOPY_TRY(check_value(leftValue, wide ? 8 : 4, "leftValue"));
        CANOPY_TRY(check_value(rightValue, wide ? 8 : 4, "rightValue"));
        const SwitchWork work{device_address(leftValue), device_address(rightValue), static_cast<Comparison>(cond),
                              wide, 0};
        return record_switch(work, trueStream, stream);
    });
}
