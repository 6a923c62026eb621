// SPDX-License-Identifier: Apache-2.0
// Conditions of graphs: a word of device memory, written by kernels or by the host, that decides at run time which of
// several sub-graphs runs, or how often one does. They are made while the graph is captured. Any thread.
#pragma once

#include <cstdint>
#include <span>

#include "base/result.h"
#include "core/graph/graph.h"

namespace canopy {

// A condition of a graph that is being captured. `assign_default`: each replay begins with the word set to the default.
Result<Handle> create_condition(const void* graph, std::uint64_t default_value, bool assign_default);
// The word; it is the graph's and ends with it.
Result<std::uint64_t*> condition_word(const void* condition);
// Puts the task into a stream that is being captured, and makes the empty sub-graphs. Each condition is used once.
Status add_condition_task(const void* condition, ConditionKind kind, std::span<void*> bodies, const void* stream);

}  // namespace canopy
