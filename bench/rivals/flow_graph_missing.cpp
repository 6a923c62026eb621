// SPDX-License-Identifier: Apache-2.0
// Replaces flow_graph.cpp if oneTBB is missing.
#include "rivals/flow_graph.h"

namespace bench {

std::unique_ptr<FlowGraph> FlowGraph::chain(std::size_t, Nodes) { return nullptr; }
std::unique_ptr<FlowGraph> FlowGraph::branches(std::size_t, std::size_t, Nodes) { return nullptr; }

}  // namespace bench
