// SPDX-License-Identifier: Apache-2.0
// Human-readable output of graphs: a trace file for Perfetto and canopy-graph, and log lines. Works in every state of a
// graph, also during capture. Any thread.
#pragma once

#include "base/result.h"
#include "core/graph/graph_view.h"

namespace canopy {

// A Chrome trace with one process for the graph and each sub-graph, a thread per stream, an event per task, and flows
// between streams. Times are not measured: each task takes one slot and begins when everything before it has ended. The
// file is written completely or not at all: 107009 if it cannot be created, 107010 if it cannot be written.
Status write_graph_trace(Graph& graph, const char* path, ViewDetail detail);

// One line for the graph and one for each task, at info level.
Status log_graph(Graph& graph);

}  // namespace canopy
