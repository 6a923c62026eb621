// SPDX-License-Identifier: Apache-2.0
// A copy of what a graph and its sub-graphs hold, made for people: names, details as JSON, and a place in time for each
// task that respects the order of the graph. graph_print.h writes it to files and to the log.
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
    bool orders = true;  // false: shows where control may go, perhaps backwards
};

// A graph and where it hangs: a sub-graph follows the graph it is part of.
struct GraphView {
    static constexpr std::size_t no_parent = std::numeric_limits<std::size_t>::max();

    std::uint32_t id = 0;
    std::string name;
    std::string state;
    std::size_t parent = no_parent;  // index of the graph whose condition it belongs to
    GraphPlace condition{};          // the task there
    std::string runs_when;           // in words
    std::uint64_t slots = 0;         // it takes
    std::vector<LaneView> lanes;
    std::vector<EdgeView> edges;
};

// The graph first, then the graphs of its conditions, theirs behind each of them.
std::vector<GraphView> view_graph(Graph& graph, ViewDetail detail);

// `graph 3 "name"`.
std::string title_of(const GraphView& view);

}  // namespace canopy
