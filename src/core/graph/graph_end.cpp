// SPDX-License-Identifier: Apache-2.0
#include "core/graph/graph_end.h"

#include <algorithm>
#include <deque>
#include <iterator>
#include <utility>
#include <vector>

#include "base/error_text.h"
#include "core/base/error_codes.h"
#include "core/base/thread_state.h"
#include "core/memory/memory_pool.h"
#include "core/stream/capture_rules.h"
#include "core/stream/stream.h"

namespace canopy {

namespace {

// The contents of a graph, moved out so that they can be freed without its mutex.
struct Remains {
    std::deque<RecordedLane> lanes;
    std::vector<TaskGroup> groups;
    std::deque<GraphCondition> conditions;
    GraphMemory memory;
    std::vector<Fence*> fences;
    std::vector<DeviceAddress> pool_blocks;
    std::vector<std::shared_ptr<Module>> modules;
    std::vector<std::pair<void (*)(void*), void*>> at_destroy;
    std::shared_ptr<GraphEdits> edits;
    std::shared_ptr<GroupUpdates> updates;
    std::vector<Executable*> earlier;
    Handle own_stream = 0;
};

Remains empty_graph(Graph& graph) CANOPY_REQUIRES(*graph.mutex) {
    Remains remains;
    remains.lanes.swap(graph.lanes);
    remains.groups.swap(graph.groups);
    remains.conditions.swap(graph.conditions);
    std::swap(remains.memory, graph.memory);
    remains.fences.swap(graph.fences);
    remains.pool_blocks.swap(graph.pool_blocks);
    remains.modules.swap(graph.modules);
    remains.at_destroy.swap(graph.at_destroy);
    remains.edits.swap(graph.edits);
    remains.updates.swap(graph.updates);
    remains.earlier.swap(graph.earlier);
    remains.own_stream = std::exchange(graph.own_stream, 0);
    graph.name.clear();
    graph.edges.clear();
    graph.cleared.clear();
    graph.scopes.clear();
    graph.scope_count = 0;
    graph.sets.clear();
    graph.fusions.reset();
    graph.bindings.clear();
    graph.staged.clear();
    graph.state = GraphState::ended;
    return remains;
}

void free_lanes(const std::deque<RecordedLane>& lanes) noexcept {
    Runtime& runtime = Runtime::instance();
    for (const RecordedLane& lane : lanes) {
        for (const GraphTask& task : lane.tasks) {
            const Opcode opcode = task.command.opcode;
            if ((opcode == Opcode::host_call || opcode == Opcode::inline_call) && task.command.call.dispose)
                task.command.call.dispose(task.command.call.argument);
            if (task.handle != 0) runtime.tasks.close(task.handle);
        }
        if (lane.model_stream != 0) destroy_stream(lane.model_stream, DestroyMode::quiesced).ignore();
    }
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

void free_remains(Device& device, Remains& remains) noexcept {
    Runtime& runtime = Runtime::instance();
    free_lanes(remains.lanes);
    for (const TaskGroup& group : remains.groups)
        if (group.handle != 0) runtime.task_groups.close(group.handle);
    for (Executable* executable : remains.earlier) executable->release();
    free_conditions(device, remains.conditions);
    for (Fence* fence : remains.fences) fence->release();
    for (const DeviceAddress block : remains.pool_blocks)
        if (const Pin<MemoryPool> pool = pool_of(block)) pool->give_kept(block).ignore();
    if (remains.own_stream != 0) destroy_stream(remains.own_stream, DestroyMode::force).ignore();
}

Executable* take_executable(Graph& graph) noexcept {
    SpinGuard guard(graph.replay_lock);
    return std::exchange(graph.executable, nullptr);
}

bool has_run(const std::vector<Executable*>& executables) noexcept {
    return std::all_of(executables.begin(), executables.end(),
                       [](const Executable* one) { return one->unfinished() == 0; });
}

// Takes the executable unless a replay is in progress. No replay can be submitted afterwards.
Status stop_replays(Graph& graph) CANOPY_REQUIRES(*graph.mutex) {
    Executable* taken = nullptr;
    bool running = !has_run(graph.earlier);
    {
        SpinGuard guard(graph.replay_lock);
        running = running || (graph.executable && graph.executable->unfinished() != 0);
        if (!running) taken = std::exchange(graph.executable, nullptr);
    }
    if (running)
        return fail(code::model_running, "{} is still running: a replay of it has not finished", label_of(graph));
    if (taken) taken->release();
    return {};
}

// The caller has set the state to `ended`.
void finish_end(Graph& graph) {
    void (*at_end)(Graph&) noexcept = nullptr;
    {
        MutexLock lock(*graph.mutex);
        at_end = graph.at_end;
    }
    if (at_end) at_end(graph);
    Remains remains;
    {
        MutexLock lock(*graph.mutex);
        remains = empty_graph(graph);
    }
    Runtime::instance().graphs.close(graph.self);
    for (const auto& [function, argument] : remains.at_destroy) function(argument);
    free_remains(*graph.device, remains);
}

Status check_destroy(Graph& graph) CANOPY_REQUIRES(*graph.mutex) {
    if (graph.state == GraphState::ended) return fail(code::invalid_handle, "graph {} was destroyed", graph.id);
    if (graph.state == GraphState::capturing)
        return fail(code::model_captured, "{} is still being captured", label_of(graph));
    if (graph.parent != 0)
        return fail(code::param_invalid, "{} is the body of a condition; it is destroyed with the enclosing graph",
                    label_of(graph));
    return stop_replays(graph);
}

}  // namespace

GraphExtent extent_of(const Graph& graph) {
    return {graph.lanes.size(),    graph.edges.size(),       graph.groups.size(), graph.conditions.size(),
            graph.bindings.size(), graph.pool_blocks.size(), graph.next_sequence};
}

void cut_graph(Graph& graph, const GraphExtent& extent) {
    Remains cut;
    {
        MutexLock lock(*graph.mutex);
        if (graph.state == GraphState::ended) return;
        const auto take_tail = [](auto& from, std::size_t keep, auto& to) {
            std::move(from.begin() + static_cast<std::ptrdiff_t>(keep), from.end(), std::back_inserter(to));
            from.resize(keep);
        };
        take_tail(graph.lanes, extent.lanes, cut.lanes);
        take_tail(graph.groups, extent.groups, cut.groups);
        take_tail(graph.conditions, extent.conditions, cut.conditions);
        take_tail(graph.pool_blocks, extent.pool_blocks, cut.pool_blocks);
        graph.edges.resize(extent.edges);
        graph.bindings.resize(extent.bindings);
        graph.next_sequence = extent.sequence;
    }
    free_remains(*graph.device, cut);
}

void end_graph(Graph& graph) {
    end_capture_of(graph);
    {
        MutexLock lock(*graph.mutex);
        if (graph.state == GraphState::ended) return;
        graph.state = GraphState::ended;
    }
    if (Executable* executable = take_executable(graph)) executable->release();
    finish_end(graph);
}

Status destroy_graph(const void* opaque) {
    Result<Pin<Graph>> found = find_graph(opaque, false);
    if (!found.ok()) return found.status();
    Graph& graph = **found;
    // A graph whose context has ended has no owner: any thread may destroy it.
    if (Runtime::instance().contexts.alive(graph.context)) {
        CANOPY_TRY(require_context());
        if (graph.context != thread_state.context)
            return fail(code::model_context, "graph {} belongs to another context, not the thread's current one",
                        graph.id);
    }
    {
        MutexLock lock(*graph.mutex);
        CANOPY_TRY(check_destroy(graph));
        graph.state = GraphState::ended;
    }
    finish_end(graph);
    return {};
}

void end_graphs(Handle context) noexcept {
    Runtime::instance().graphs.for_each([&](Pin<Graph> graph) {
        if (graph->context != context) return;
        {
            MutexLock lock(*graph->mutex);
            if (graph->state != GraphState::ended) graph->state = GraphState::failed;
            graph->own_stream = 0;  // ends with its context
        }
        if (Executable* executable = take_executable(*graph)) executable->release();
    });
}

void end_all_graphs() noexcept {
    Runtime::instance().graphs.for_each([](Pin<Graph> graph) { end_graph(*graph); });
}

}  // namespace canopy
