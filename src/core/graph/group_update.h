// SPDX-License-Identifier: Apache-2.0
// Updates of task groups: tasks of a captured graph that are replaced together (capture/capture_groups.h). An update
// collects the same kinds of tasks again, on another stream, and takes effect in the order of that stream; a
// replay sees all of it or nothing.
//
// An update costs what its tasks cost: nothing of the graph but the group is looked at, and the memory of an earlier
// update of the group is used again.
//
// Threads: everything from any thread. Lock order as in graph.h.
#pragma once

#include <cstdint>

#include "base/result.h"

namespace canopy {

inline constexpr std::uint32_t max_updates = 1u << 20;

// 107033 when the stream is captured or has an update under way, or when the graph is not complete; 207005 when there
// are 1,048,576 updates under way.
Status begin_task_update(const void* stream, const void* group);
// 107033 without a beginning; 107034 when the tasks are not as many and of the same kinds as those of the group. No
// task at all is no change.
Status end_task_update(const void* stream);

}  // namespace canopy
