// SPDX-License-Identifier: Apache-2.0
// Replays of a graph, each one command of a stream. Any thread.
#pragma once

#include "base/result.h"
#include "core/graph/graph.h"
#include "foundation/clock.h"

namespace canopy {

// Submits a replay to the stream. 107026 while the graph is being captured.
Status execute_graph(Graph& graph, const void* stream);
// Runs a replay and waits for it. 507046 when the deadline passes; the replay continues.
Status execute_graph_now(Graph& graph, Deadline deadline);
// Ends the running replay, if any.
Status abort_graph(Graph& graph);

}  // namespace canopy
