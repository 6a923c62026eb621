// SPDX-License-Identifier: Apache-2.0
#include "core/graph/graph_prepare.h"

#include <span>
#include <vector>

#include "base/error_text.h"
#include "core/base/error_codes.h"

namespace canopy {

Status check_bodies(Graph& graph) {
    for (const GraphCondition& condition : graph.conditions) {
        for (std::size_t index = 0; index < condition.bodies.size(); ++index) {
            const Pin<Graph> body = Runtime::instance().graphs.pin(condition.bodies[index]);
            if (!body) continue;
            MutexLock lock(*body->mutex);
            if (body->state == GraphState::filled || body->state == GraphState::ready) continue;
            return fail(code::body_unfinished, "body {} of a condition of {} {}", index, label_of(graph),
                        body->state == GraphState::capturing ? "is still being captured" : "was never captured");
        }
    }
    return {};
}

// ---- bodies of conditions

namespace {

Result<Executable*> prepare_body(Handle handle) {
    const Pin<Graph> body = Runtime::instance().graphs.pin(handle);
    if (!body) return fail(code::runtime_internal, "the body of a condition was destroyed");
    MutexLock lock(*body->mutex);
    if (body->state != GraphState::ready) CANOPY_TRY(prepare_graph(*body));
    SpinGuard replays(body->replay_lock);
    return body->executable;
}

Status prepare_conditions(Graph& graph) CANOPY_REQUIRES(*graph.mutex) {
    for (const GraphCondition& condition : graph.conditions) {
        if (!condition.used) continue;
        auto** bodies = static_cast<Executable**>(graph.memory.take(condition.bodies.size() * sizeof(Executable*)));
        if (!bodies) return fail(code::bad_alloc, "out of host memory");
        for (std::size_t index = 0; index < condition.bodies.size(); ++index) {
            Result<Executable*> body = prepare_body(condition.bodies[index]);
            if (!body.ok()) return body.status();
            bodies[index] = *body;
        }
        graph.lanes[condition.place.lane].tasks[condition.place.position].command.condition.bodies = bodies;
    }
    return {};
}

// Includes those of the bodies: a default is set once per execution of the whole graph, not per loop iteration.
void collect_presets(const Graph& graph, std::vector<WordPreset>& presets) CANOPY_REQUIRES(*graph.mutex) {
    for (const GraphCondition& condition : graph.conditions) {
        if (condition.assign_default) presets.push_back({condition.selector, condition.default_value});
        for (const Handle handle : condition.bodies) {
            const Pin<Graph> body = Runtime::instance().graphs.pin(handle);
            if (!body) continue;
            MutexLock lock(*body->mutex);
            collect_presets(*body, presets);
        }
    }
}

std::vector<WordPreset> presets_of(const Graph& graph) CANOPY_REQUIRES(*graph.mutex) {
    std::vector<WordPreset> presets;
    if (graph.parent == 0) collect_presets(graph, presets);
    return presets;
}

// ---- fused sets

Command fused_command(const Graph& graph, GraphPlace place, const GraphTask& task) CANOPY_REQUIRES(*graph.mutex) {
    const FusedSet& set = graph.sets[task.set];
    if (place.lane == set.place.lane && place.position == set.place.position) return set.launch;
    Command command(Opcode::nothing);
    command.task = task.command.task;
    return command;
}

std::vector<GraphEdge> fused_edges(const Graph& graph) CANOPY_REQUIRES(*graph.mutex) {
    std::vector<GraphEdge> edges = graph.edges;
    for (const FusedSet& set : graph.sets) edges.insert(edges.end(), set.edges.begin(), set.edges.end());
    return edges;
}

}  // namespace

Status prepare_graph(Graph& graph) {
    CANOPY_TRY(prepare_conditions(graph));
    std::vector<Command> commands;
    std::size_t count = 0;
    for (const RecordedLane& lane : graph.lanes) count += lane.tasks.size();
    commands.reserve(count);
    std::vector<GraphLane> lanes;
    lanes.reserve(graph.lanes.size());
    for (const RecordedLane& lane : graph.lanes) {
        const std::size_t first = commands.size();
        const auto number = static_cast<std::uint32_t>(lanes.size());
        for (const GraphTask& task : lane.tasks) {
            const GraphPlace place{number, static_cast<std::uint32_t>(commands.size() - first)};
            commands.push_back(task.set == no_set ? task.command : fused_command(graph, place, task));
            if (task.disabled && task.set == no_set) commands.back().opcode = Opcode::nothing;
        }
        lanes.push_back({std::span(commands).subspan(first), lane.starts, lane.stream_id});
    }
    std::vector<GraphGroup> groups;
    for (const TaskGroup& group : graph.groups)
        if (group.count != 0) groups.push_back({{group.lane, group.first}, group.count});
    const std::vector<WordPreset> presets = presets_of(graph);
    GraphPlan plan;
    plan.lanes = lanes;
    const std::vector<GraphEdge> edges = fused_edges(graph);
    plan.edges = edges;
    plan.kept = graph.fusions;
    plan.groups = groups;
    plan.cleared = graph.cleared;
    plan.presets = presets;
    plan.flow = graph.flow;
    plan.label = label_of(graph);
    Result<Executable*> executable = graph.device->prepare(plan);
    if (!executable.ok()) return executable.status();
    graph.state = GraphState::ready;
    SpinGuard guard(graph.replay_lock);
    graph.executable = *executable;
    return {};
}

}  // namespace canopy
