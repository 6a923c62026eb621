// SPDX-License-Identifier: Apache-2.0
// oneTBB's flow graph: nodes that start when all before them have ended, with empty bodies, on two threads. It is built
// once and run often, as a captured graph is.
#pragma once

#include <cstddef>
#include <memory>

namespace bench {

class FlowGraph {
public:
    // How nodes run: as tasks of the pool, or, with oneTBB's `lightweight`, inside the node before where that can be.
    enum class Nodes { tasks, lightweight };
    // One node behind the other; nullptr when oneTBB is not installed.
    static std::unique_ptr<FlowGraph> chain(std::size_t nodes, Nodes kind);
    // A node, then `branches` chains of `length` nodes side by side, then a node that joins them.
    static std::unique_ptr<FlowGraph> branches(std::size_t branches, std::size_t length, Nodes kind);
    virtual ~FlowGraph() = default;
    // Runs the graph and waits for its end, `count` times.
    virtual void run_and_wait_each(std::size_t count) = 0;
};

}  // namespace bench
