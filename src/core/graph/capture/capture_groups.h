// SPDX-License-Identifier: Apache-2.0
// Task groups: tasks of a captured graph that are replaced together (group_update.h). A group is marked while its
// stream is captured. Any thread.
#pragma once

#include "base/result.h"
#include "core/base/handles.h"

namespace canopy {

// 107033 if the stream is not being captured or already has an open group; 507903 if the capture is invalidated.
Status begin_task_group(const void* stream);
// 107033 if there is no open group.
Result<Handle> end_task_group(const void* stream);

}  // namespace canopy
