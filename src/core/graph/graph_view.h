// SPDX-License-Identifier: Apache-2.0
// A snapshot of a graph and its sub-graphs for display: names, details as JSON, and a start time for each task that
// respects the order of the graph. graph_print.h writes it to files and to the log.
//
// Threads: any; each graph's mutex is held while it is copied, one at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "core/graph/graph.h"
#include "core/graph/task_view.h"

namespace canopy {

struct LaneView {
    std::int32_t stream = 0;
    bool starts = true;
    std::vector<TaskView> tasks;
};

struct EdgeView {
    GraphPlace before{};
    GraphPlace after{};
    std::string label;
    bool orders = true;  // false: possible control flow, perhaps backwards
};

// A graph and its position in the hierarchy.
struct GraphView {
    static constexpr std::size_t no_parent = std::numeric_limits<std::size_t>::max();

    std::uint32_t id = 0;
    std::string name;
    std::string state;
    std::size_t parent = no_parent;  // index of the enclosing graph
    GraphPlace condition{};          // the condition's task there
    std::string runs_when;           // readable description
    std::uint64_t slots = 0;         // duration
    std::vector<LaneView> lanes;
    std::vector<EdgeView> edges;
};

// The graph first, then depth-first the graphs of its conditions.
std::vector<GraphView> view_graph(Graph& graph, ViewDetail detail);

// `graph 3 "name"`.
std::string title_of(const GraphView& view);

}  // namespace canopy
