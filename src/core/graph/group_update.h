// SPDX-License-Identifier: Apache-2.0
// Updates of task groups: tasks of a captured graph that are replaced together (capture/capture_groups.h). An update
// records the same kinds of tasks again on another stream and takes effect in the order of that stream; a replay sees
// all of it or nothing.
//
// The cost depends only on the tasks of the update: only the group is accessed, not the rest of the graph, and the
// memory of an earlier update of the group is reused.
//
// Threads: everything from any thread. Lock order as in graph.h.
#pragma once

#include <cstdint>

#include "base/result.h"

namespace canopy {

inline constexpr std::uint32_t max_updates = 1u << 20;

// 107033 if the stream is captured, persistent or already has an update in progress, or if the graph is not complete;
// 207005 if 1,048,576 updates are in progress.
Status begin_task_update(const void* stream, const void* group);
// 107033 if no update was begun; 107034 if the number or kinds of tasks differ from the group's. An update without
// tasks changes nothing.
Status end_task_update(const void* stream);

}  // namespace canopy
