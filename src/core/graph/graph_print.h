// SPDX-License-Identifier: Apache-2.0
// Graphs for people to look at: a trace file that Perfetto and canopy-graph open, and lines for the log. Works in every
// state of a graph, also while it is captured. Any thread.
#pragma once

#include "base/result.h"
#include "core/graph/graph_view.h"

namespace canopy {

// A Chrome trace with one process for the graph and one for each sub-graph, a thread for each stream, an event for each
// task, and flows between streams. Times are made up: each task takes one slot and begins when everything before it has
// ended. The file is complete or not there: 107009 when it cannot be created, 107010 when it cannot be written.
Status write_graph_trace(Graph& graph, const char* path, ViewDetail detail);

// One line for the graph and one for each task, at the level of information.
Status log_graph(Graph& graph);

}  // namespace canopy
