// SPDX-License-Identifier: Apache-2.0
#include "core/graph/capture/capture_conditions.h"

#include <cstring>

#include "base/error_text.h"
#include "core/base/error_codes.h"
#include "core/graph/capture/capture.h"
#include "core/graph/graph_end.h"

namespace canopy {
namespace {

Status no_such_condition(const void* opaque) {
    return fail(code::invalid_handle, "handle {} is not a condition of a live graph", as_address(opaque));
}

// The graph of a condition and the condition's index in it.
struct FoundCondition {
    Pin<Graph> graph;
    std::uint32_t index = 0;
};

Result<FoundCondition> find_condition(const void* opaque) {
    Runtime& runtime = Runtime::instance();
    const Pin<GraphPart> part = runtime.conditions.pin(handle_of(opaque));
    if (!part) return no_such_condition(opaque);
    FoundCondition found{runtime.graphs.pin(part->graph), part->index};
    if (!found.graph) return no_such_condition(opaque);
    return found;
}

Result<GraphCondition*> condition_at(Graph& graph, std::uint32_t index, const void* opaque)
    CANOPY_REQUIRES(*graph.mutex) {
    if (index >= graph.conditions.size() || graph.conditions[index].handle != handle_of(opaque))
        return no_such_condition(opaque);
    return &graph.conditions[index];
}

Status check_count(ConditionKind kind, std::size_t count) {
    const std::size_t most = kind == ConditionKind::branch ? 2 : kind == ConditionKind::loop ? 1 : UINT32_MAX;
    if (count >= 1 && count <= most) return {};
    return fail(code::param_invalid,
                "params.size {} is invalid: an IF has 1 or 2 bodies, a WHILE 1, a SWITCH any number", count);
}

// Empty sub-graphs of a graph.
class Bodies {
public:
    explicit Bodies(Handle parent) noexcept : parent_(parent) {}
    ~Bodies() {
        for (const Handle handle : handles_)
            if (const Pin<Graph> body = Runtime::instance().graphs.pin(handle)) end_graph(*body);
    }
    Bodies(const Bodies&) = delete;
    Bodies& operator=(const Bodies&) = delete;

    Status make(std::size_t count) {
        for (std::size_t index = 0; index < count; ++index) {
            Result<Handle> handle = create_graph(GraphState::empty, parent_);
            if (!handle.ok()) return handle.status();
            handles_.push_back(*handle);
        }
        return {};
    }
    std::vector<Handle> hand_over() noexcept { return std::exchange(handles_, {}); }

private:
    Handle parent_;
    std::vector<Handle> handles_;
};

}  // namespace

Result<Handle> create_condition(const void* opaque, std::uint64_t default_value, bool assign_default) {
    Result<Pin<Graph>> found = find_graph(opaque, true);
    if (!found.ok()) return found.status();
    Graph& graph = **found;
    MutexLock lock(*graph.mutex);
    if (graph.state != GraphState::capturing)
        return fail(code::param_invalid, "{} is not being captured: add conditions during the capture",
                    label_of(graph));
    Result<DeviceAddress> word = graph.device->allocate(sizeof(std::uint64_t), memory_default);
    if (!word.ok()) return word.status();
    const DeviceAddress selector = *word;
    const std::uint64_t first = assign_default ? default_value : 0;
    if (const Status written = write_device(selector, &first, sizeof(first)); !written.ok()) {
        graph.device->release(selector).ignore();
        return written;
    }
    const auto index = static_cast<std::uint32_t>(graph.conditions.size());
    const Handle handle = Runtime::instance().conditions.open([&](GraphPart& part, Handle self) {
        part.self = self;
        part.graph = graph.self;
        part.index = index;
    });
    if (handle == 0) {
        graph.device->release(selector).ignore();
        return fail(code::resource_alloc, "too many conditions are alive");
    }
    GraphCondition& condition = graph.conditions.emplace_back();
    condition.handle = handle;
    condition.selector = selector;
    condition.assign_default = assign_default;
    condition.default_value = default_value;
    return handle;
}

Result<DeviceAddress> condition_word(const void* opaque) {
    Result<FoundCondition> found = find_condition(opaque);
    if (!found.ok()) return found.status();
    MutexLock lock(*found->graph->mutex);
    Result<GraphCondition*> condition = condition_at(*found->graph, found->index, opaque);
    if (!condition.ok()) return condition.status();
    return (*condition)->selector;
}

Status add_condition_task(const void* opaque, ConditionKind kind, std::span<void*> out, const void* handle) {
    CANOPY_TRY(check_count(kind, out.size()));
    Result<FoundCondition> found = find_condition(opaque);
    if (!found.ok()) return found.status();
    Graph& graph = *found->graph;
    Bodies bodies(graph.self);
    CANOPY_TRY(bodies.make(out.size()));
    return with_stream(handle, [&](LockedStream& stream) CANOPY_REQUIRES(stream->lock) -> Status {
        Result<CapturedLane> target = captured_lane(*stream);
        if (!target.ok()) return target.status();
        if (target->graph != &graph)
            return fail(code::param_invalid, "stream {} is captured into a different graph than the condition's",
                        stream->id);
        MutexLock lock(*graph.mutex);
        Result<GraphCondition*> condition = condition_at(graph, found->index, opaque);
        if (!condition.ok()) return condition.status();
        if ((*condition)->used)
            return fail(code::param_invalid, "the condition already has a task: each condition is used once");
        Command command(Opcode::condition);
        command.condition = {(*condition)->selector, nullptr, static_cast<std::uint32_t>(out.size()), kind};
        stream->number(command);
        Result<GraphTask*> task = append_task(graph, target->lane, command);
        if (!task.ok()) return task.status();
        (*condition)->used = true;
        (*condition)->kind = kind;
        (*condition)->place = {target->lane, static_cast<std::uint32_t>(graph.lanes[target->lane].tasks.size() - 1)};
        (*condition)->bodies = bodies.hand_over();
        for (std::size_t index = 0; index < out.size(); ++index) out[index] = opaque_of((*condition)->bodies[index]);
        return {};
    });
}

}  // namespace canopy
