// SPDX-License-Identifier: Apache-2.0
// Prepares a graph: turns its tasks, fused sets and conditions into the executable of its device. Any thread.
#pragma once

#include "base/result.h"
#include "core/graph/graph.h"

namespace canopy {

// 107045 if the body of one of its conditions was not captured.
Status check_bodies(Graph& graph) CANOPY_REQUIRES(*graph.mutex);
// Makes the executables of its conditions' bodies, then its own. The graph is ready afterwards.
Status prepare_graph(Graph& graph) CANOPY_REQUIRES(*graph.mutex);

}  // namespace canopy
