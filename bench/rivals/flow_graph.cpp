// SPDX-License-Identifier: Apache-2.0
#include "rivals/flow_graph.h"

#include <tbb/flow_graph.h>
#include <tbb/task_arena.h>

#include <vector>

namespace bench {
namespace {

constexpr int threads = 2;

struct Empty {
    void operator()(const tbb::flow::continue_msg& message) const noexcept {
        asm volatile("" : : "r"(&message) : "memory");
    }
};

template <class Policy>
class OpenedFlowGraph final : public FlowGraph {
public:
    using Node = tbb::flow::continue_node<tbb::flow::continue_msg, Policy>;

    OpenedFlowGraph() : arena_(threads) {
        arena_.execute([this] { graph_ = std::make_unique<tbb::flow::graph>(); });
    }
    ~OpenedFlowGraph() override {
        arena_.execute([this] {
            graph_->wait_for_all();
            nodes_.clear();
            graph_.reset();
        });
    }
    Node& add() {
        nodes_.push_back(std::make_unique<Node>(*graph_, Empty{}));
        return *nodes_.back();
    }
    // Appends a chain to `from` and returns its last node.
    Node& append(Node& from, std::size_t length) {
        Node* last = &from;
        for (std::size_t i = 0; i < length; ++i) {
            Node& next = add();
            tbb::flow::make_edge(*last, next);
            last = &next;
        }
        return *last;
    }
    void run_and_wait_each(std::size_t count) override {
        arena_.execute([this, count] {
            for (std::size_t i = 0; i < count; ++i) {
                nodes_.front()->try_put(tbb::flow::continue_msg());
                graph_->wait_for_all();
            }
        });
    }

private:
    tbb::task_arena arena_;
    std::unique_ptr<tbb::flow::graph> graph_;
    std::vector<std::unique_ptr<Node>> nodes_;  // the first one starts the graph
};

template <class Policy>
std::unique_ptr<FlowGraph> make_chain(std::size_t nodes) {
    auto graph = std::make_unique<OpenedFlowGraph<Policy>>();
    graph->append(graph->add(), nodes - 1);
    return graph;
}

template <class Policy>
std::unique_ptr<FlowGraph> make_branches(std::size_t branches, std::size_t length) {
    auto graph = std::make_unique<OpenedFlowGraph<Policy>>();
    auto& fork = graph->add();
    auto& join = graph->add();
    for (std::size_t i = 0; i < branches; ++i) tbb::flow::make_edge(graph->append(fork, length), join);
    return graph;
}

}  // namespace

std::unique_ptr<FlowGraph> FlowGraph::chain(std::size_t nodes, Nodes kind) {
    return kind == Nodes::tasks ? make_chain<tbb::flow::queueing>(nodes) : make_chain<tbb::flow::lightweight>(nodes);
}

std::unique_ptr<FlowGraph> FlowGraph::branches(std::size_t branches, std::size_t length, Nodes kind) {
    return kind == Nodes::tasks ? make_branches<tbb::flow::queueing>(branches, length)
                                : make_branches<tbb::flow::lightweight>(branches, length);
}

}  // namespace bench
