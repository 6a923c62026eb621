// SPDX-License-Identifier: Apache-2.0
// Tasks of a graph in its own memory; creating and finding graphs.
#include "core/graph/graph.h"

#include <cstring>
#include <new>

#include "base/error_text.h"
#include "core/base/error_codes.h"
#include "core/base/thread_state.h"
#include "core/process/builtin_kernels.h"
#include "core/process/context.h"

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
        if (bytes == size) return memory;  // a separate block; the current one stays in use
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

// Makes `pointer` point to a copy of `size` bytes.
template <class T>
bool keep(GraphMemory& memory, const T*& pointer, std::size_t size) noexcept {
    if (size == 0) return true;
    pointer = static_cast<const T*>(memory.copy(pointer, size));
    return pointer != nullptr;
}

bool keep_launch(GraphMemory& memory, LaunchWork& work) noexcept {
    if (work.placeholder_count != 0 && !keep(memory, work.placeholders, work.placeholder_count * sizeof(Placeholder)))
        return false;
    if (work.arguments_in_place() || work.arguments_size == 0) return true;
    const void* const kept = memory.copy(work.host_arguments(), work.arguments_size);
    work.set_arguments(kept);
    return kept != nullptr;
}

// The bytes are in memory of the program, but nothing says so.
Status keep_snapshot(GraphMemory& memory, CopyWork& copy) noexcept {
    const std::size_t size = copy.width * copy.height;
    if (size == 0) return {};
    void* const kept = memory.take(size);
    if (!kept) return out_of_memory();
    CANOPY_TRY(read_device(kept, copy.source, size));
    copy.source = device_address(kept);
    return {};
}

Status keep_fence(Graph& graph, Fence* fence) CANOPY_REQUIRES(*graph.mutex) {
    if (!fence) return {};
    // Commands often use the same fences; skip those among the last 8 that already have a reference.
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
            return command.snapshot ? keep_snapshot(graph.memory, command.copy) : Status();
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
        thread_state.recorded_stream = lane.stream;
        thread_state.recorded_task = command.task;
        return &task;
    } catch (const std::bad_alloc&) {
        return out_of_memory();
    }
}

bool same_kind(const Command& left, const Command& right) noexcept {
    return left.opcode == right.opcode && builtin_of(left) == builtin_of(right);
}

TaskType type_of(const Command& command) noexcept {
    if (builtin_of(command) != Builtin::none) return TaskType::other;
    switch (command.opcode) {
        case Opcode::launch:
        case Opcode::cpu_kernel:
            return TaskType::kernel;
        case Opcode::write_value:
            return TaskType::value_write;
        case Opcode::wait_value:
            return TaskType::value_wait;
        default:
            return TaskType::other;  // event tasks get theirs from the call
    }
}

TaskType type_of(EventAction action) noexcept {
    switch (action) {
        case EventAction::record:
            return TaskType::event_record;
        case EventAction::wait:
            return TaskType::event_wait;
        case EventAction::reset:
            break;
    }
    return TaskType::event_reset;
}

// ---- creation and lookup -------------------------------------------------------------------------------------------

Result<Handle> create_graph(GraphState state, Handle parent) {
    static std::atomic<std::uint32_t> next_id{0};
    Result<Pin<Context>> context = current_context();
    if (!context.ok()) return context.status();
    auto mutex = std::make_unique<Mutex>();
    const Handle handle = Runtime::instance().graphs.open([&](Graph& graph, Handle self) {
        graph.self = self;
        graph.id = next_id.fetch_add(1, std::memory_order_relaxed);
        graph.context = (*context)->self;
        graph.parent = parent;
        graph.record = (*context)->record;
        graph.device = (*context)->device;
        graph.mutex = std::move(mutex);
        MutexLock lock(*graph.mutex);
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

void Graph::recycle() noexcept {
    self = context = parent = 0;
    id = 0;
    record = nullptr;
    device = nullptr;
    {
        MutexLock lock(*mutex);
        state = GraphState::empty;
        flow = false;
        next_sequence = 0;
        at_end = nullptr;
    }
    bound.store(false, std::memory_order_relaxed);
    mutex.reset();
}

void keep_for_graphs(const DeviceRecord& record, const std::shared_ptr<Module>& module) noexcept {
    Runtime::instance().graphs.for_each([&](Pin<Graph> graph) {
        MutexLock lock(*graph->mutex);
        if (graph->record != &record || graph->state == GraphState::ended) return;
        try {
            graph->modules.push_back(module);
        } catch (const std::bad_alloc&) {  // then the graph loses the kernels, as with any unloaded code
        }
    });
}

}  // namespace canopy
