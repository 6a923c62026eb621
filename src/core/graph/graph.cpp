// SPDX-License-Identifier: Apache-2.0
// The life of a graph: tasks in memory of its own, the executable made from them, replays, and its end.
#include "core/graph/graph.h"

#include <pthread.h>

#include <algorithm>
#include <cstring>
#include <iterator>
#include <new>

#include "base/error_text.h"
#include "core/base/error_codes.h"
#include "core/base/thread_state.h"
#include "core/graph/capture/capture.h"
#include "core/graph/graph_conditions.h"
#include "core/graph/graph_fusion.h"
#include "core/memory/memory_pool.h"
#include "core/process/context.h"
#include "core/stream/stream.h"

namespace canopy {

// ---- memory --------------------------------------------------------------------------------------------------------

void* GraphMemory::take(std::size_t size) noexcept {
    constexpr std::size_t alignment = 16, block = 64 * 1024;
    size = (size + alignment - 1) / alignment * alignment;
    if (size > left_) {
        const std::size_t bytes = size > block / 4 ? size : block;
        std::unique_ptr<std::byte[]> fresh(new (std::nothrow) std::byte[bytes]);
        if (!fresh) return nullptr;
        std::byte* const memory = fresh.get();
        try {
            blocks_.push_back(std::move(fresh));
        } catch (...) {
            return nullptr;
        }
        if (bytes == size) return memory;  // a block of its own; the open one goes on
        next_ = memory;
        left_ = bytes;
    }
    std::byte* const memory = next_;
    next_ += size;
    left_ -= size;
    return memory;
}

void* GraphMemory::copy(const void* bytes, std::size_t size) noexcept {
    void* const memory = take(size);
    if (memory && size != 0) std::memcpy(memory, bytes, size);
    return memory;
}

void GraphMemory::clear() noexcept {
    blocks_.clear();
    next_ = nullptr;
    left_ = 0;
}

// ---- tasks ---------------------------------------------------------------------------------------------------------

namespace {

Status out_of_memory() { return fail(code::bad_alloc, "out of host memory"); }

// Lets `pointer` point at a copy of `size` bytes.
template <class T>
bool keep(GraphMemory& memory, const T*& pointer, std::size_t size) noexcept {
    if (size == 0) return true;
    pointer = static_cast<const T*>(memory.copy(pointer, size));
    return pointer != nullptr;
}

bool keep_launch(GraphMemory& memory, LaunchWork& work) noexcept {
    if (work.placeholder_count != 0 && !keep(memory, work.placeholders, work.placeholder_count * sizeof(Placeholder)))
        return false;
    return work.arguments_in_place || keep(memory, work.arguments, work.arguments_size);
}

Status keep_fence(Graph& graph, Fence* fence) {
    if (!fence) return {};
    // Commands name the same fences again and again; one reference each of the last few is enough.
    const std::size_t size = graph.fences.size(), look = size < 8 ? size : 8;
    for (std::size_t back = 1; back <= look; ++back)
        if (graph.fences[size - back] == fence) return {};
    graph.fences.push_back(fence);
    fence->retain();
    return {};
}

}  // namespace

Status adopt_command(Graph& graph, Command& command) {
    switch (command.opcode) {
        case Opcode::launch:
        case Opcode::cpu_kernel:
            return keep_launch(graph.memory, command.launch) ? Status() : out_of_memory();
        case Opcode::copy:
            if (!command.snapshot) return {};
            return keep(graph.memory, command.copy.source, command.copy.width * command.copy.height) ? Status()
                                                                                                     : out_of_memory();
        case Opcode::signal:
            return keep_fence(graph, command.signal.fence);
        case Opcode::wait:
            return keep_fence(graph, command.wait.fence);
        case Opcode::jump:
            return keep(graph.memory, command.jump.targets, command.jump.count * sizeof(GraphPlace)) ? Status()
                                                                                                     : out_of_memory();
        case Opcode::replay:
            return fail(code::not_supported, "the execution of a graph cannot be a task of another graph");
        default:
            return {};
    }
}

Result<GraphTask*> append_task(Graph& graph, std::uint32_t lane_index, const Command& command) {
    try {
        RecordedLane& lane = graph.lanes[lane_index];
        GraphTask& task = lane.tasks.emplace_back();
        task.command = command;
        if (const Status status = adopt_command(graph, task.command); !status.ok()) {
            lane.tasks.pop_back();
            return status;
        }
        task.type = type_of(command);
        task.sequence = graph.next_sequence++;
        task.group = lane.open_group;
        task.scope = lane.open_scope;
        if (task.group != no_group) ++graph.groups[task.group].count;
        if (command.opcode == Opcode::launch || command.opcode == Opcode::cpu_kernel)
            task.function = handle_of(command.launch.kernel->user);
        thread_state.recorded_graph = graph.self;
        thread_state.recorded_lane = lane_index;
        thread_state.recorded_position = static_cast<std::uint32_t>(lane.tasks.size() - 1);
        return &task;
    } catch (const std::bad_alloc&) {
        return out_of_memory();
    }
}

TaskType type_of(const Command& command) noexcept {
    switch (command.opcode) {
        case Opcode::launch:
        case Opcode::cpu_kernel:
            return TaskType::kernel;
        case Opcode::write_value:
            return TaskType::value_write;
        case Opcode::wait_value:
            return TaskType::value_wait;
        default:
            return TaskType::other;  // records, waits and resets of events are named by whoever records them
    }
}

// ---- life ----------------------------------------------------------------------------------------------------------

Result<Handle> create_graph(GraphState state, Handle parent) {
    static std::atomic<std::uint32_t> next_id{0};
    Result<Pin<Context>> context = current_context();
    if (!context.ok()) return context.status();
    const Handle handle = Runtime::instance().graphs.open([&](Graph& graph, Handle self) {
        graph.self = self;
        graph.id = next_id.fetch_add(1, std::memory_order_relaxed);
        graph.context = (*context)->self;
        graph.parent = parent;
        graph.record = (*context)->record;
        graph.device = (*context)->device;
        std::lock_guard guard(graph.mutex);
        graph.state = state;
    });
    if (handle == 0) return fail(code::no_model, "too many graphs are alive");
    return handle;
}

Result<Pin<Graph>> find_graph(const void* opaque, bool same_context) {
    if (same_context) CANOPY_TRY(require_context());
    Pin<Graph> graph = Runtime::instance().graphs.pin(handle_of(opaque));
    if (!graph) [[unlikely]]
        return fail(code::invalid_handle,
                    "modelRI {} is not a live graph: never captured or built, destroyed, or another kind of handle",
                    as_address(opaque));
    if (same_context && graph->context != thread_state.context) [[unlikely]]
        return fail(code::model_context, "graph {} belongs to another context, not the thread's current one",
                    graph->id);
    return graph;
}

std::string label_of(const Graph& graph) {
    return graph.name.empty() ? fmt::format("graph {}", graph.id)
                              : fmt::format("graph {} \"{}\"", graph.id, graph.name);
}

Executable* retain_executable(Graph& graph) noexcept {
    SpinGuard guard(graph.replay_lock);
    if (graph.executable) graph.executable->retain();
    return graph.executable;
}

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
    plan.kept = kept_fusions(graph);
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

void Graph::recycle() noexcept {
    self = context = parent = 0;
    id = 0;
    record = nullptr;
    device = nullptr;
    {
        std::lock_guard guard(mutex);
        state = GraphState::empty;
        flow = false;
        next_sequence = 0;
        at_end = nullptr;
    }
    bound.store(false, std::memory_order_relaxed);
    // Graphs are locked before their bodies. The next graph in this slot may be either, whatever this one was: it gets
    // a lock that has never been in an order with others. Nobody holds the object now.
    pthread_mutex_destroy(mutex.native_handle());
    new (&mutex) std::mutex;
}

namespace {

// Everything a graph has, taken out of it so that it can be freed without its mutex.
struct Remains {
    std::deque<RecordedLane> lanes;
    std::vector<TaskGroup> groups;
    std::deque<GraphCondition> conditions;
    GraphMemory memory;
    std::vector<Fence*> fences;
    std::vector<void*> pool_blocks;
    std::vector<std::shared_ptr<Module>> modules;
    std::vector<std::pair<void (*)(void*), void*>> at_destroy;
    std::shared_ptr<GraphEdits> edits;
    std::vector<Executable*> earlier;
    Handle own_stream = 0;
};

// The caller holds the mutex.
Remains empty_graph(Graph& graph) {
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
        if (lane.model_stream != 0) destroy_stream(lane.model_stream, DestroyMode::settled).ignore();
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
    for (void* block : remains.pool_blocks)
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

// Takes the executable unless a replay is under way. Nobody can submit one afterwards. The caller holds the mutex.
Status stop_replays(Graph& graph) {
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

// The caller has set the state to ended.
void finish_end(Graph& graph) {
    if (graph.at_end) graph.at_end(graph);
    Remains remains;
    {
        std::lock_guard guard(graph.mutex);
        remains = empty_graph(graph);
    }
    Runtime::instance().graphs.close(graph.self);
    for (const auto& [function, argument] : remains.at_destroy) function(argument);
    free_remains(*graph.device, remains);
}

Status check_destroy(Graph& graph) {
    if (graph.state == GraphState::ended) return fail(code::invalid_handle, "graph {} was destroyed", graph.id);
    if (graph.state == GraphState::capturing)
        return fail(code::model_captured, "{} is still being captured", label_of(graph));
    if (graph.parent != 0)
        return fail(code::param_invalid, "{} is the body of a condition; it is destroyed with the enclosing graph",
                    label_of(graph));
    return stop_replays(graph);
}

}  // namespace

void cut_graph(Graph& graph, const GraphExtent& extent) {
    Remains cut;
    {
        std::lock_guard guard(graph.mutex);
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
        std::lock_guard guard(graph.mutex);
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
    // A graph whose context has ended belongs to nobody any more: everybody may take it away.
    if (Runtime::instance().contexts.alive(graph.context)) {
        CANOPY_TRY(require_context());
        if (graph.context != thread_state.context)
            return fail(code::model_context, "graph {} belongs to another context, not the thread's current one",
                        graph.id);
    }
    {
        std::lock_guard guard(graph.mutex);
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
            std::lock_guard guard(graph->mutex);
            if (graph->state != GraphState::ended) graph->state = GraphState::failed;
            graph->own_stream = 0;  // ends with its context
        }
        if (Executable* executable = take_executable(*graph)) executable->release();
    });
}

void end_all_graphs() noexcept {
    Runtime::instance().graphs.for_each([](Pin<Graph> graph) { end_graph(*graph); });
}

void keep_for_graphs(const DeviceRecord& record, const std::shared_ptr<Module>& module) noexcept {
    Runtime::instance().graphs.for_each([&](Pin<Graph> graph) {
        std::lock_guard guard(graph->mutex);
        if (graph->record != &record || graph->state == GraphState::ended) return;
        try {
            graph->modules.push_back(module);
        } catch (const std::bad_alloc&) {  // the graph's kernels are gone then, like any that was unloaded
        }
    });
}

}  // namespace canopy
