// SPDX-License-Identifier: Apache-2.0
#include "core/graph_conditions.h"

#include "base/error_text.h"
#include "core/error_codes.h"

namespace canopy {

Status check_bodies(Graph& graph) {
    for (const GraphCondition& condition : graph.conditions) {
        for (const Handle handle : condition.bodies) {
            const Pin<Graph> body = Runtime::instance().graphs.pin(handle);
            if (!body) continue;
            std::lock_guard guard(body->mutex);
            if (body->state != GraphState::ready)
                return fail(code::body_unfinished, "body {} of a condition of {} has not been captured", body->id,
                            label_of(graph));
        }
    }
    return {};
}

Status prepare_conditions(Graph& graph) {
    for (GraphCondition& condition : graph.conditions) {
        if (!condition.used) continue;
        auto** bodies = static_cast<Executable**>(graph.memory.take(condition.bodies.size() * sizeof(Executable*)));
        if (!bodies) return fail(code::bad_alloc, "out of host memory");
        for (std::size_t index = 0; index < condition.bodies.size(); ++index) {
            const Pin<Graph> body = Runtime::instance().graphs.pin(condition.bodies[index]);
            if (!body) return fail(code::runtime_internal, "a body of {} is gone", label_of(graph));
            SpinGuard guard(body->replay_lock);
            bodies[index] = body->executable;  // lives as long as this graph, which owns the body
        }
        GraphTask& task = graph.lanes[condition.place.lane].tasks[condition.place.position];
        task.command.condition.bodies = bodies;
    }
    return {};
}

std::vector<WordPreset> presets_of(const Graph& graph) {
    std::vector<WordPreset> presets;
    for (const GraphCondition& condition : graph.conditions)
        if (condition.assign_default) presets.push_back({condition.selector, condition.default_value});
    return presets;
}

void free_conditions(Device& device, const std::deque<GraphCondition>& conditions) noexcept {
    Runtime& runtime = Runtime::instance();
    for (const GraphCondition& condition : conditions) {
        for (const Handle handle : condition.bodies)
            if (const Pin<Graph> body = runtime.graphs.pin(handle)) end_graph(*body);
        if (condition.selector) device.release(condition.selector).ignore();
        if (condition.handle != 0) runtime.conditions.close(condition.handle);
    }
}

}  // namespace canopy
