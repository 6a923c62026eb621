// SPDX-License-Identifier: Apache-2.0
// Ends graphs: their contents are freed without holding the mutex, because streams and sub-graphs end with them. Any
// thread.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/result.h"
#include "core/graph/graph.h"

namespace canopy {

// 107037 while a submitted replay is unfinished, 107026 while it is being captured.
Status destroy_graph(const void* graph);
// Ends a graph the program no longer has a handle to, running or not.
void end_graph(Graph& graph);
// The number of elements of each kind in a graph.
struct GraphExtent {
    std::size_t lanes = 0, edges = 0, groups = 0, conditions = 0, bindings = 0, pool_blocks = 0;
    std::uint32_t sequence = 0;
};
GraphExtent extent_of(const Graph& graph) CANOPY_REQUIRES(*graph.mutex);
// Removes everything added since.
void cut_graph(Graph& graph, const GraphExtent& extent);

// The context ends: its graphs release their executables, which end with their last replay. The handles stay valid, but
// only for destroying the graphs.
void end_graphs(Handle context) noexcept;
// Destroys every graph in any state.
void end_all_graphs() noexcept;

}  // namespace canopy
