// SPDX-License-Identifier: Apache-2.0
// Looking at the tasks of a graph and changing them. Tasks have handles, made when programs ask for them. A change is
// noted in the task at once and reaches the executable with the graph's update, for replays that are submitted then.
//
// Threads: everything from any thread. Lock order as in graph.h.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <type_traits>
#include <unordered_map>
#include <vector>

#include "base/mutex.h"
#include "base/result.h"
#include "core/graph/graph.h"

namespace canopy {

// Memory of a task that was looked at or changed; stays where it is until the graph ends.
struct TaskMemory {
    std::vector<std::byte> arguments;              // of a changed launch
    alignas(16) std::byte launch_attributes[192];  // written when programs ask for them
    bool staged = false;                           // changed since the last update of the graph
};

// Memory for changes of a graph's tasks; guarded by the graph's mutex.
struct GraphEdits {
    std::unordered_map<std::uint64_t, TaskMemory> tasks;  // by lane and position
    std::vector<CallWork> replaced;                       // calls that were tasks; replays may still make them

    GraphEdits() = default;
    GraphEdits(const GraphEdits&) = delete;
    GraphEdits& operator=(const GraphEdits&) = delete;
    ~GraphEdits();
};
GraphEdits& edits_of(Graph& graph) CANOPY_REQUIRES(*graph.mutex);
TaskMemory& memory_of(Graph& graph, GraphPlace place) CANOPY_REQUIRES(*graph.mutex);

// A task by its handle, with its graph pinned.
struct PinnedTask {
    Pin<Graph> graph;
    Handle handle = 0;
    GraphPlace place{};
};
// 107017 when it is not a task, or its graph has ended.
Result<PinnedTask> pin_task(const void* task);
// 107017 when it is not part of its graph any more.
Result<GraphTask*> find_task(Graph& graph, const PinnedTask& pinned) CANOPY_REQUIRES(*graph.mutex);

// A task of a graph that is locked.
struct LockedTask {
    Graph& graph;
    GraphPlace place{};
    GraphTask* task CANOPY_POINTEE_GUARDED_BY(*graph.mutex) = nullptr;
};
// Calls body(LockedTask&) with the task's graph locked and returns its result. A body that looks at the task asks for
// the lock: [&](LockedTask& locked) CANOPY_REQUIRES(*locked.graph.mutex) -> Status { ... }
template <class Body>
auto with_locked_task(const void* opaque, Body&& body) -> std::invoke_result_t<Body&, LockedTask&> {
    Result<PinnedTask> pinned = pin_task(opaque);
    if (!pinned.ok()) return pinned.status();
    LockedTask locked{*pinned->graph, pinned->place};
    MutexLock lock(*locked.graph.mutex);
    Result<GraphTask*> found = find_task(locked.graph, *pinned);
    if (!found.ok()) return found.status();
    locked.task = *found;
    return body.operator()(locked);  // by name: clang 14 mixes up the arguments of a plain call
}

// Handles of the streams of a graph: those it was built from or is being captured from, otherwise ones made for it.
Result<std::vector<Handle>> streams_of(Graph& graph);
// Handles of the tasks of a stream: of a graph, persistent, or being captured. 207000 for others.
Result<std::vector<Handle>> tasks_of(const void* stream);
// The group a task belongs to; 0 when there is none, or its end is still to come.
Handle group_of(const LockedTask& task) CANOPY_REQUIRES(*task.graph.mutex);

// Attaches a copy of the bytes to the task that the calling thread recorded last. 507000 when it recorded none.
Status attach_operator_info(const void* info, std::size_t size);

// Replaces the work of a task of the same type, and enables it. Bytes that a launch points at are copied; its
// placeholders stay when it has the same size as before.
Status change_task(LockedTask& task, const Command& command) CANOPY_REQUIRES(*task.graph.mutex);
// The same for a task about an event. 207000 when the task became an edge of the graph.
Status change_event(const void* task, const void* event);
// 207000 for the end of a built graph.
Status disable_task(LockedTask& task) CANOPY_REQUIRES(*task.graph.mutex);
// Makes the changes take effect for replays that are submitted from now on. 107040 when the graph is not complete, or
// when its executable cannot have them.
Status update_graph(Graph& graph);

Status name_graph(Graph& graph, std::string_view name);

}  // namespace canopy
