// SPDX-License-Identifier: Apache-2.0
#include "core/graph/graph_edit.h"

#include <algorithm>
#include <cstring>

#include "base/error_text.h"
#include "core/base/error_codes.h"
#include "core/base/thread_state.h"
#include "core/check/host_check.h"
#include "core/graph/graph_build.h"
#include "core/graph/graph_fusion.h"
#include "core/process/context.h"
#include "core/stream/event.h"
#include "core/stream/stream.h"

namespace canopy {
namespace {

constexpr std::size_t longest_name = 511;  // without the terminating zero

constexpr std::uint64_t key_of(GraphPlace place) noexcept {
    return static_cast<std::uint64_t>(place.lane) << 32 | place.position;
}

GraphTask* task_at(Graph& graph, GraphPlace place) noexcept CANOPY_REQUIRES(*graph.mutex) {
    if (place.lane >= graph.lanes.size() || place.position >= graph.lanes[place.lane].tasks.size()) return nullptr;
    return &graph.lanes[place.lane].tasks[place.position];
}

}  // namespace

GraphEdits::~GraphEdits() {
    for (const CallWork& call : replaced) call.dispose(call.argument);
}

GraphEdits& edits_of(Graph& graph) {
    if (!graph.edits) graph.edits = std::make_shared<GraphEdits>();
    return *graph.edits;
}

TaskMemory& memory_of(Graph& graph, GraphPlace place) { return edits_of(graph).tasks[key_of(place)]; }

// ---- lookup --------------------------------------------------------------------------------------------------------

Result<PinnedTask> pin_task(const void* opaque) {
    const Pin<GraphPart> part = Runtime::instance().tasks.pin(handle_of(opaque));
    if (!part)
        return fail(code::invalid_handle, "task {} is not a task of a live graph, or another kind of handle",
                    as_address(opaque));
    Result<Pin<Graph>> graph = find_graph(opaque_of(part->graph), false);
    if (!graph.ok()) return graph.status();
    return PinnedTask{std::move(*graph), part->self, part->place};
}

Result<GraphTask*> find_task(Graph& graph, const PinnedTask& pinned) {
    GraphTask* const task = task_at(graph, pinned.place);
    // A stream that was cleared has other tasks at the same positions.
    if (!task || task->handle != pinned.handle)
        return fail(code::invalid_handle, "task {} is no longer part of its graph",
                    as_address(opaque_of(pinned.handle)));
    return task;
}

Handle group_of(const LockedTask& task) {
    if (task.task->group == no_group) return 0;
    return task.graph.groups[task.task->group].handle;
}

namespace {

// The stream that currently represents a lane; 0 if one must be created.
Handle stream_of(const Graph& graph, const RecordedLane& lane) CANOPY_REQUIRES(*graph.mutex) {
    const bool own = graph.flow || graph.state == GraphState::capturing;
    const Handle handle = own && lane.stream != 0 ? lane.stream : lane.model_stream;
    return Runtime::instance().streams.alive(handle) ? handle : 0;
}

// A destroyed graph may still be referenced.
Status check_alive(const Graph& graph) CANOPY_REQUIRES(*graph.mutex) {
    if (graph.state != GraphState::ended) return {};
    return fail(code::invalid_handle, "graph {} was destroyed", graph.id);
}

bool left_behind(const RecordedLane& lane) { return lane.stream == 0 && lane.tasks.empty(); }

}  // namespace

Result<std::vector<Handle>> streams_of(Graph& graph) {
    std::vector<Handle> streams;
    for (std::uint32_t index = 0;; ++index) {
        {
            MutexLock lock(*graph.mutex);
            CANOPY_TRY(check_alive(graph));
            while (index < graph.lanes.size() && left_behind(graph.lanes[index])) ++index;
            if (index >= graph.lanes.size()) return streams;
            if (const Handle handle = stream_of(graph, graph.lanes[index])) {
                streams.push_back(handle);
                continue;
            }
        }
        Result<Handle> fresh = create_lane_stream(graph, index);
        if (!fresh.ok()) return fresh.status();
        Handle chosen = 0;
        {
            MutexLock lock(*graph.mutex);
            if (index < graph.lanes.size()) {
                chosen = stream_of(graph, graph.lanes[index]);
                if (chosen == 0) chosen = graph.lanes[index].model_stream = *fresh;
            }
        }
        if (chosen != *fresh) destroy_stream(*fresh, DestroyMode::quiesced).ignore();
        if (chosen != 0) streams.push_back(chosen);
    }
}

namespace {

Result<Handle> task_handle(const Graph& graph, GraphTask& task, GraphPlace place) {
    if (task.handle == 0)
        task.handle = Runtime::instance().tasks.open([&](GraphPart& part, Handle self) {
            part.self = self;
            part.graph = graph.self;
            part.place = place;
        });
    if (task.handle == 0) return fail(code::resource_alloc, "too many task handles are alive");
    return task.handle;
}

Result<RecorderTarget> lane_of(const void* opaque) {
    Result<Pin<Stream>> stream = find_stream(opaque, false);
    if (!stream.ok()) return stream.status();
    SpinGuard guard((*stream)->lock);
    const Recorder* const recorder = (*stream)->recorder;
    if (recorder && recorder->kind() != RecorderKind::update) return recorder->target();
    return fail(code::not_supported, "stream {} has no recorded tasks: it belongs to no graph", (*stream)->id);
}

}  // namespace

Result<std::vector<Handle>> tasks_of(const void* stream) {
    Result<RecorderTarget> target = lane_of(stream);
    if (!target.ok()) return target.status();
    std::vector<Handle> handles;
    if (target->graph == 0) return handles;
    Result<Pin<Graph>> graph = find_graph(opaque_of(target->graph), false);
    if (!graph.ok()) return graph.status();
    MutexLock lock(*(*graph)->mutex);
    if (target->lane >= (*graph)->lanes.size()) return handles;
    std::deque<GraphTask>& tasks = (*graph)->lanes[target->lane].tasks;
    handles.reserve(tasks.size());
    for (GraphTask& task : tasks) {
        const GraphPlace place{target->lane, static_cast<std::uint32_t>(handles.size())};
        Result<Handle> handle = task_handle(**graph, task, place);
        if (!handle.ok()) return handle.status();
        handles.push_back(*handle);
    }
    return handles;
}

Status attach_operator_info(const void* info, std::size_t size) {
    CANOPY_TRY(require_context());
    const Pin<Graph> graph = Runtime::instance().graphs.pin(thread_state.recorded_graph);
    if (!graph) return fail(code::runtime_internal, "this thread has not recorded a task of a live graph");
    MutexLock lock(*graph->mutex);
    GraphTask* const task = task_at(*graph, {thread_state.recorded_lane, thread_state.recorded_position});
    if (!task) return fail(code::runtime_internal, "the last task that this thread recorded was destroyed");
    const void* kept = graph->memory.copy(info, size);
    if (!kept) return fail(code::bad_alloc, "out of host memory");
    task->operator_info = kept;
    task->operator_info_size = size;
    return {};
}

Status attach_extended_info(std::string_view text) {
    CANOPY_TRY(require_context());
    const Pin<Stream> stream = Runtime::instance().streams.pin(thread_state.last_stream);
    if (stream && stream->context != thread_state.context)
        return fail(code::stream_context,
                    "the last task of this thread is in stream {}, which belongs to another context", stream->id);
    const bool recorded = thread_state.recorded_stream == thread_state.last_stream &&
                          thread_state.recorded_task == thread_state.last_task;
    const Pin<Graph> graph = Runtime::instance().graphs.pin(recorded ? thread_state.recorded_graph : 0);
    if (!graph)
        return fail(code::param_invalid, "the last task of this thread was neither captured nor bound to a live model");
    MutexLock lock(*graph->mutex);
    GraphTask* const task = task_at(*graph, {thread_state.recorded_lane, thread_state.recorded_position});
    if (!task) return fail(code::param_invalid, "the last task of this thread was destroyed");
    const void* kept = graph->memory.copy(text.data(), text.size());
    if (!kept) return fail(code::bad_alloc, "out of host memory");
    task->extended_info = {static_cast<const char*>(kept), text.size()};
    return {};
}

// ---- changes -------------------------------------------------------------------------------------------------------

namespace {

void stage(LockedTask& locked, TaskMemory& memory) CANOPY_REQUIRES(*locked.graph.mutex) {
    if (memory.staged) return;
    locked.graph.staged.push_back({locked.place, {}});  // the command is read from the task at the update
    memory.staged = true;
}

// The bytes may already be in the task's own memory.
void keep_arguments(TaskMemory& memory, LaunchWork& work) {
    const auto* bytes = static_cast<const std::byte*>(work.host_arguments());
    if (memory.arguments.capacity() < work.arguments_size) {
        std::vector<std::byte> fresh(bytes, bytes + work.arguments_size);
        memory.arguments.swap(fresh);
    } else {
        memory.arguments.resize(work.arguments_size);
        std::memmove(memory.arguments.data(), bytes, work.arguments_size);
    }
    work.set_arguments(memory.arguments.data());
}

}  // namespace

Status change_task(LockedTask& locked, const Command& command) {
    GraphTask& task = *locked.task;
    if (!same_kind(command, task.command))
        return fail(code::param_invalid, "task {} has another kind than its new parameters", task.sequence);
    CANOPY_TRY(check_fused_change(task, command));
    TaskMemory& memory = memory_of(locked.graph, locked.place);
    Command changed = command;
    changed.task = task.command.task;
    if (is_kernel(command.opcode)) {
        LaunchWork& work = changed.launch;
        const LaunchWork& before = task.command.launch;
        if (work.kernel->info->simt != before.kernel->info->simt)
            return fail(code::param_invalid, "kernel {} cannot replace kernel {}: one of them is a SIMT kernel",
                        work.kernel->info->name, before.kernel->info->name);
        if (!work.arguments_in_place()) {
            if (!before.arguments_in_place() && work.arguments_size == before.arguments_size) {
                work.placeholders = before.placeholders;
                work.placeholder_count = before.placeholder_count;
            }
            keep_arguments(memory, work);
        }
        task.function = handle_of(work.kernel->user);
    }
    task.command = changed;
    task.disabled = false;
    stage(locked, memory);
    return {};
}

namespace {

Status change_flag(LockedTask& locked, Fence* flag) CANOPY_REQUIRES(*locked.graph.mutex) {
    Command changed = locked.task->command;
    if (changed.opcode == Opcode::wait)
        changed.wait.fence = flag;
    else
        changed.signal.fence = flag;
    CANOPY_TRY(adopt_command(locked.graph, changed));
    const bool fresh =
        std::find(locked.graph.cleared.begin(), locked.graph.cleared.end(), flag) == locked.graph.cleared.end();
    if (locked.graph.flow && locked.task->type == TaskType::event_record && fresh)
        return fail(code::not_supported, "{} cannot record an event that it did not record before",
                    label_of(locked.graph));
    locked.task->command = changed;
    return {};
}

}  // namespace

Status change_event(const void* opaque, const void* event) {
    Result<Pin<Event>> pinned = find_event(event);
    if (!pinned.ok()) return pinned.status();
    bool flagged = false;
    CANOPY_TRY(with_locked_task(opaque, [&](LockedTask& locked) CANOPY_REQUIRES(*locked.graph.mutex) -> Status {
        flagged = locked.task->role == EventRole::flagged;
        if (locked.task->role == EventRole::edge)
            return fail(code::not_supported, "the event of task {} became an edge of its graph and cannot be replaced",
                        locked.task->sequence);
        if (locked.task->type == TaskType::event_wait && ((*pinned)->flags & (event_sync | event_external)) == 0)
            return fail(code::not_supported, "a task can only wait for an event created with the SYNC flag");
        return {};
    }));
    Fence* flag = nullptr;
    if (flagged) {
        Result<Fence*> found = event_flag(**pinned, *(*pinned)->record->opened());
        if (!found.ok()) return found.status();
        flag = *found;
    }
    return with_locked_task(opaque, [&](LockedTask& locked) CANOPY_REQUIRES(*locked.graph.mutex) -> Status {
        if (flagged) CANOPY_TRY(change_flag(locked, flag));
        locked.task->event = (*pinned)->self;
        locked.task->disabled = false;
        stage(locked, memory_of(locked.graph, locked.place));
        return {};
    });
}

Status disable_task(LockedTask& locked) {
    if (locked.task->command.opcode == Opcode::end_graph)
        return fail(code::not_supported, "{} would never end without its last task", label_of(locked.graph));
    locked.task->disabled = true;
    stage(locked, memory_of(locked.graph, locked.place));
    return {};
}

namespace {

// Bound events are looked up when a replay is submitted, from these bindings.
void rebind(Graph& graph, const GraphTask& task) CANOPY_REQUIRES(*graph.mutex) {
    const std::uint64_t index =
        task.command.opcode == Opcode::wait ? task.command.wait.value : task.command.signal.value;
    if (index >= graph.bindings.size()) return;
    graph.bindings[index].event = task.event;
    graph.bindings[index].disabled = task.disabled;
}

Status refuse_update(const Graph& graph) CANOPY_REQUIRES(*graph.mutex) {
    return fail(code::model_update, "{} cannot be updated: it is not complete", label_of(graph));
}

// The changes for the executable; changed members of a fused set become one new launch.
Result<std::vector<GraphChange>> changes_of(Graph& graph) CANOPY_REQUIRES(*graph.mutex) {
    std::vector<GraphChange> changes;
    std::vector<std::uint32_t> sets;
    for (const GraphChange& change : graph.staged) {
        const std::uint32_t set = task_at(graph, change.place)->set;
        if (set == no_set)
            changes.push_back(change);
        else if (std::find(sets.begin(), sets.end(), set) == sets.end())
            sets.push_back(set);
    }
    for (const std::uint32_t set : sets) {
        Result<GraphChange> change = remake_set(graph, set);
        if (!change.ok()) return change.status();
        changes.push_back(*change);
    }
    return changes;
}

Status make_staged(Graph& graph) CANOPY_REQUIRES(*graph.mutex) {
    CANOPY_TRY(check_alive(graph));
    if (graph.state != GraphState::ready) return refuse_update(graph);
    std::erase_if(graph.staged,
                  [&](const GraphChange& change) CANOPY_REQUIRES(*graph.mutex) {  // left by a failed capture
                      if (task_at(graph, change.place)) return false;
                      memory_of(graph, change.place).staged = false;
                      return true;
                  });
    for (GraphChange& change : graph.staged) {
        const GraphTask& task = *task_at(graph, change.place);
        change.command = task.command;
        if (task.disabled) change.command.opcode = Opcode::nothing;
    }
    Result<std::vector<GraphChange>> changes = changes_of(graph);
    if (!changes.ok()) return changes.status();
    Executable* const executable = retain_executable(graph);
    if (!executable) return refuse_update(graph);
    const Status status = change_commands(*executable, *changes, ChangeTime::next_replay);
    executable->release();
    if (!status.ok())
        return fail(code::model_update, "{} cannot be updated: a change does not fit its task", label_of(graph));
    for (const GraphChange& change : graph.staged) {
        memory_of(graph, change.place).staged = false;
        const GraphTask& task = *task_at(graph, change.place);
        if (task.role == EventRole::bound) rebind(graph, task);
    }
    graph.staged.clear();
    return {};
}

}  // namespace

Status update_graph(Graph& graph) {
    std::vector<Handle> bodies;
    {
        MutexLock lock(*graph.mutex);
        CANOPY_TRY(make_staged(graph));
        for (const GraphCondition& condition : graph.conditions)
            bodies.insert(bodies.end(), condition.bodies.begin(), condition.bodies.end());
    }
    for (const Handle handle : bodies) {
        const Pin<Graph> body = Runtime::instance().graphs.pin(handle);
        if (body) CANOPY_TRY(update_graph(*body));
    }
    return {};
}

Status name_graph(Graph& graph, std::string_view name) {
    if (name.size() > longest_name)
        return fail(code::param_invalid, "the name has {} characters; at most {} are allowed", name.size(),
                    longest_name);
    std::string label;
    {
        MutexLock lock(*graph.mutex);
        CANOPY_TRY(check_alive(graph));
        graph.name = name;
        label = label_of(graph);
    }
    if (Executable* const executable = retain_executable(graph)) {
        executable->set_label(std::move(label));
        executable->release();
    }
    return {};
}

}  // namespace canopy
