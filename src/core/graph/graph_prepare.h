// SPDX-License-Identifier: Apache-2.0
// Preparing a graph: from its tasks, fused sets and conditions to the executable of its device. Any thread.
#pragma once

#include "base/result.h"
#include "core/graph/graph.h"

namespace canopy {

// 107045 when the body of one of its conditions was not captured.
Status check_bodies(Graph& graph) CANOPY_REQUIRES(*graph.mutex);
// Makes the executable, and those of the bodies of its conditions first. The graph is ready
// afterwards.
Status prepare_graph(Graph& graph) CANOPY_REQUIRES(*graph.mutex);

}  // namespace canopy
