// SPDX-License-Identifier: Apache-2.0
// Fuses kernels of a captured graph: finds kernels that can run as one launch, within the scopes marked during capture
// (capture/capture_scopes.h). Recorded tasks are unchanged; a fused set lists its members, and preparing the graph
// replaces the first member with the launch and the others with nothing.
//
// Threads: everything from any thread; a graph's contents are guarded by its mutex.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "core/graph/graph.h"
#include "device/fused_list.h"

namespace canopy {

inline constexpr std::size_t most_fused_tasks = 1024;

struct FuseOptions {
    bool streams = false;   // kernels of several streams may become one launch
    bool sync_all = false;  // every kernel waits for all earlier ones to finish
};
// Includes sub-graphs of conditions. 107040 if the graph is not complete; 107000 if scopes are open or it was built
// from streams.
Status optimise_graph(Graph& graph, const FuseOptions& options);

// 207000 if the command cannot replace a fused task.
Status check_fused_change(const GraphTask& task, const Command& command);
// Rebuilds a fused set after members were changed or disabled. Returns the change for the executable.
Result<GraphChange> remake_set(Graph& graph, std::uint32_t set);

// Includes those of the sub-graphs of conditions.
std::vector<std::shared_ptr<Fusion>> fusions_of(Graph& graph);
// From the next replay on, the fused launch with this index in fusions_of writes the times of its members. Null: stops.
Status profile_fused(Graph& graph, std::uint32_t number, DeviceAddress buffer);

}  // namespace canopy
