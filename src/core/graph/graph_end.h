// SPDX-License-Identifier: Apache-2.0
// The end of a graph: what it holds is freed without its mutex, for streams and sub-graphs end with it. Any thread.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/result.h"
#include "core/graph/graph.h"

namespace canopy {

// 107037 while a replay is submitted and not finished, 107026 while it is captured.
Status destroy_graph(const void* graph);
// Ends a graph that the program has no handle of any more, running or not.
void end_graph(Graph& graph);
// How much a graph has of everything.
struct GraphExtent {
    std::size_t lanes = 0, edges = 0, groups = 0, conditions = 0, bindings = 0, pool_blocks = 0;
    std::uint32_t sequence = 0;
};
GraphExtent extent_of(const Graph& graph) CANOPY_REQUIRES(*graph.mutex);
// Takes away what was added since.
void cut_graph(Graph& graph, const GraphExtent& extent);

// The context ends: its graphs let go of their executables, which end with their last replay. Their handles stay until
// they are destroyed; nothing else can be done with them.
void end_graphs(Handle context) noexcept;
// Destroys every graph, whatever its state.
void end_all_graphs() noexcept;

}  // namespace canopy
