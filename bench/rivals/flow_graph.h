// SPDX-License-Identifier: Apache-2.0
// oneTBB's flow graph: nodes with empty bodies that start when all their predecessors have finished, on two threads. It
// is built once and run many times, like a captured graph.
#pragma once

#include <cstddef>
#include <memory>

namespace bench {

class FlowGraph {
public:
    // How nodes run: as tasks of the pool or, with oneTBB's `lightweight`, inside the preceding node where possible.
    enum class Nodes { tasks, lightweight };
    // One node after the other; nullptr if oneTBB is not installed.
    static std::unique_ptr<FlowGraph> chain(std::size_t nodes, Nodes kind);
    // A node, then `branches` parallel chains of `length` nodes, then a node that joins them.
    static std::unique_ptr<FlowGraph> branches(std::size_t branches, std::size_t length, Nodes kind);
    virtual ~FlowGraph() = default;
    // Runs the graph and waits for it, `count` times.
    virtual void run_and_wait_each(std::size_t count) = 0;
};

}  // namespace bench
