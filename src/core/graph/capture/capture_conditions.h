// SPDX-License-Identifier: Apache-2.0
// Conditions of graphs: a word of device memory, written by kernels or the host, that selects at run time which of
// several sub-graphs runs, or how often one runs. Created while the graph is captured. Any thread.
#pragma once

#include <cstdint>
#include <span>

#include "base/result.h"
#include "core/graph/graph.h"

namespace canopy {

// A condition of a graph being captured. `assign_default`: each replay starts with the word set to the default.
Result<Handle> create_condition(const void* graph, std::uint64_t default_value, bool assign_default);
// The word; owned by the graph and freed with it.
Result<DeviceAddress> condition_word(const void* condition);
// Adds the task to a stream being captured and creates the empty sub-graphs. Each condition can be used once.
Status add_condition_task(const void* condition, ConditionKind kind, std::span<void*> bodies, const void* stream);

}  // namespace canopy
