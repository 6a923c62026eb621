// SPDX-License-Identifier: Apache-2.0
// Looking at the tasks of a graph and changing them. Tasks have handles, made when programs ask for them. A change is
// noted in the task at once and reaches the executable with the graph's update, for replays that are submitted then.
//
// Threads: everything from any thread. Lock order as in graph.h.
#pragma once

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/result.h"
#include "core/graph/graph.h"
#include "core/graph/graph_group.h"

namespace canopy {

// Memory of a task that was looked at or changed; stays where it is until the graph ends.
struct TaskMemory {
    std::vector<std::byte> arguments;              // of a changed launch
    alignas(16) std::byte launch_attributes[192];  // written when programs ask for them
    bool staged = false;                           // changed since the last update of the graph
};

// What changes of a graph's tasks need; guarded by the graph's mutex.
struct GraphEdits {
    std::unordered_map<std::uint64_t, TaskMemory> tasks;  // by lane and position
    std::vector<GroupUpdates> groups;                     // by number
    std::vector<CallWork> replaced;                       // calls that were tasks; replays may still make them

    GraphEdits() = default;
    GraphEdits(const GraphEdits&) = delete;
    GraphEdits& operator=(const GraphEdits&) = delete;
    ~GraphEdits();
};
GraphEdits& edits_of(Graph& graph);
TaskMemory& memory_of(Graph& graph, GraphPlace place);

// A task with its graph pinned and locked.
struct LockedTask {
    Pin<Graph> graph;
    std::unique_lock<std::mutex> lock;
    GraphTask* task = nullptr;
    GraphPlace place{};
};
// 107017 when it is none, or its graph has ended.
Result<LockedTask> lock_task(const void* task);

// Handles of the streams of a graph: those it was built from or is being captured from, otherwise ones made for it.
Result<std::vector<Handle>> streams_of(Graph& graph);
// Handles of the tasks of a stream: of a graph, persistent, or being captured. 207000 for others.
Result<std::vector<Handle>> tasks_of(const void* stream);
// The group a task belongs to; 0 when there is none, or its end is still to come.
Handle group_of(const LockedTask& task);

// Attaches a copy of the bytes to the task that the calling thread recorded last. 507000 when it recorded none.
Status attach_operator_info(const void* info, std::size_t size);

// Replaces the work of a task of the same type, and enables it. Bytes that a launch points at are copied; its
// placeholders stay when it has the same size as before.
Status change_task(LockedTask& task, const Command& command);
// The same for a task about an event. 207000 when the task became an edge of the graph.
Status change_event(const void* task, const void* event);
// 207000 for the end of a built graph.
Status disable_task(LockedTask& task);
// Makes the changes take effect for replays that are submitted from now on. 107040 when the graph is not complete, or
// when its executable cannot have them.
Status update_graph(Graph& graph);

Status name_graph(Graph& graph, std::string_view name);

}  // namespace canopy
