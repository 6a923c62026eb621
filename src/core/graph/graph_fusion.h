// SPDX-License-Identifier: Apache-2.0
// Fusing the kernels of a captured graph: the search for kernels that can be one launch, within the scopes that were
// marked while it was captured (capture/capture_scopes.h). Recorded tasks stay as they are; a fused set names its
// members, and preparing the graph puts one launch in the place of the first and nothing in the places of the others.
//
// Threads: everything from any thread; what a graph holds is guarded by its mutex.
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
    bool sync_all = false;  // every kernel waits for the whole of those before it
};
// Sub-graphs of conditions as well. 107040 when the graph is not complete; 107000 when scopes are open, or it was built
// from streams.
Status optimise_graph(Graph& graph, const FuseOptions& options);

// 207000 when a command cannot take the place of a task that is fused.
Status check_fused_change(const GraphTask& task, const Command& command);
// Members of a fused set were changed or disabled: makes it again. Returns the change for the
// executable.
Result<GraphChange> remake_set(Graph& graph, std::uint32_t set);

// Also those of the sub-graphs of conditions.
std::vector<std::shared_ptr<Fusion>> fusions_of(Graph& graph);
// From the next replay on a fused launch, by its place in fusions_of, writes the times of its members. Null: no more.
Status profile_fused(Graph& graph, std::uint32_t number, void* buffer);

}  // namespace canopy
