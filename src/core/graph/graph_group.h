// SPDX-License-Identifier: Apache-2.0
// Task groups: tasks of a captured graph that are replaced together. A group is marked while its stream is captured.
// An update collects the same kinds of tasks again, on a stream of its own, and takes effect in the order of that
// stream; a replay sees all of it or nothing.
//
// An update costs what its tasks cost: nothing of the graph but the group is looked at, and the memory of an earlier
// update of the group is used again.
//
// Threads: everything from any thread. Lock order as in graph.h.
#pragma once

#include <cstdint>
#include <memory>

#include "base/result.h"
#include "core/base/recorder.h"
#include "core/graph/graph.h"

namespace canopy {

inline constexpr std::uint32_t max_updates = 1u << 20;

class TaskUpdate;

// Updates of one group; guarded by the graph's mutex.
struct GroupUpdates {
    const TaskUpdate* latest = nullptr;   // tasks of the group point into its memory
    std::unique_ptr<TaskUpdate> current;  // the latest, once its command has left its queue
    std::unique_ptr<TaskUpdate> spare;    // for the next one

    GroupUpdates() noexcept;
    GroupUpdates(GroupUpdates&&) noexcept;
    GroupUpdates& operator=(GroupUpdates&&) noexcept;
    ~GroupUpdates();
};

// 107033 when the stream is not being captured, or when it has an open group already; 507903 when the capture is
// spoilt.
Status begin_task_group(const void* stream);
// 107033 when there is no open group.
Result<Handle> end_task_group(const void* stream);

// 107033 when the stream is captured or has an update under way, or when the graph is not complete; 207005 when there
// are 1,048,576 updates under way.
Status begin_task_update(const void* stream, const void* group);
// 107033 without a beginning; 107034 when the tasks are not as many and of the same kinds as those of the group. No
// task at all is no change.
Status end_task_update(const void* stream);

}  // namespace canopy
