// SPDX-License-Identifier: Apache-2.0
// Inspects and changes the tasks of a graph. Task handles are created on request. A change is stored in the task at
// once; the graph's update applies it to the executable, for replays submitted from then on.
//
// Threads: everything from any thread. Lock order as in graph.h.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <type_traits>
#include <unordered_map>
#include <vector>

#include "base/result.h"
#include "core/graph/graph.h"
#include "foundation/mutex.h"

namespace canopy {

// Memory of a task that was inspected or changed; does not move until the graph ends.
struct TaskMemory {
    std::vector<std::byte> arguments;              // of a changed launch
    alignas(16) std::byte launch_attributes[192];  // filled on request
    bool staged = false;                           // changed since the last update of the graph
};

// Memory for changes of a graph's tasks; guarded by the graph's mutex.
struct GraphEdits {
    std::unordered_map<std::uint64_t, TaskMemory> tasks;  // by lane and position
    std::vector<CallWork> replaced;                       // calls of replaced tasks; replays may still run them

    GraphEdits() = default;
    GraphEdits(const GraphEdits&) = delete;
    GraphEdits& operator=(const GraphEdits&) = delete;
    ~GraphEdits();
};
GraphEdits& edits_of(Graph& graph) CANOPY_REQUIRES(*graph.mutex);
TaskMemory& memory_of(Graph& graph, GraphPlace place) CANOPY_REQUIRES(*graph.mutex);

// A task found by handle, with its graph pinned.
struct PinnedTask {
    Pin<Graph> graph;
    Handle handle = 0;
    GraphPlace place{};
};
// 107017 if it is not a task or its graph has ended.
Result<PinnedTask> pin_task(const void* task);
// 107017 if it is no longer part of its graph.
Result<GraphTask*> find_task(Graph& graph, const PinnedTask& pinned) CANOPY_REQUIRES(*graph.mutex);

// A task whose graph is locked.
struct LockedTask {
    Graph& graph;
    GraphPlace place{};
    GraphTask* task CANOPY_POINTEE_GUARDED_BY(*graph.mutex) = nullptr;
};
// Calls body(LockedTask&) with the task's graph locked and returns its result. A body that accesses the task declares
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
    return body.operator()(locked);  // explicit operator(): clang 14 mixes up the arguments of a plain call
}

// Handles of a graph's streams: those it was built from or is being captured from, else streams created to represent
// its lanes.
Result<std::vector<Handle>> streams_of(Graph& graph);
// Handles of the tasks of a stream that belongs to a graph, is persistent or is being captured. 207000 for others.
Result<std::vector<Handle>> tasks_of(const void* stream);
// The group of a task; 0 if it has none or the group is still open.
Handle group_of(const LockedTask& task) CANOPY_REQUIRES(*task.graph.mutex);

// Attaches a copy of the bytes to the last task recorded by the calling thread. 507000 if it recorded none.
Status attach_operator_info(const void* info, std::size_t size);
// Text for the task this thread submitted last, which must be one of a graph (107000). 107003 if its stream belongs to
// another context than the current one.
Status attach_extended_info(std::string_view text);

// Replaces the work of a task with work of the same type, and enables it. Bytes a launch points to are copied; its
// placeholders are kept if the size is unchanged.
Status change_task(LockedTask& task, const Command& command) CANOPY_REQUIRES(*task.graph.mutex);
// The same for an event task. 207000 if the task became an edge of the graph.
Status change_event(const void* task, const void* event);
// 207000 for the end task of a built graph.
Status disable_task(LockedTask& task) CANOPY_REQUIRES(*task.graph.mutex);
// Applies the changes to replays submitted from now on. 107040 if the graph is not complete or its executable cannot
// take them.
Status update_graph(Graph& graph);

Status name_graph(Graph& graph, std::string_view name);

}  // namespace canopy
