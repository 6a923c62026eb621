// SPDX-License-Identifier: Apache-2.0
// Replays of captured graphs with empty kernels: a chain, branches with fork and join, and the cost of the call that
// starts a replay. oneTBB's flow graph runs the same shapes with empty bodies on as many threads, and a stream without
// a graph gets the same launches one by one.
#include <fmt/core.h>

#include <algorithm>

#include "graph/graph_capture.h"
#include "harness/topics.h"
#include "rivals/flow_graph.h"

namespace bench {
namespace {

constexpr std::size_t chain_nodes = 1'000;
constexpr std::size_t branch_count = 32, branch_length = 32;
constexpr std::size_t branch_nodes = branch_count * branch_length + 2;
const char* const no_taskflow = "Taskflow is not in Debian 12";

// Queues a kernel for each node of the shape; `run` gets the stream and the number of the node.
template <class Run>
void issue_chain(const Stream& stream, Run&& run) {
    for (std::size_t i = 0; i < chain_nodes; ++i) run(stream, i);
}

// One stream forks into a stream for each branch and joins them.
class Branches {
public:
    Branches() : streams_(branch_count), events_(branch_count + 1) {}
    template <class Run>
    void issue(const Stream& origin, Run&& run) const {
        std::size_t node = 0;
        run(origin, node++);
        events_.record(branch_count, origin);
        for (std::size_t branch = 0; branch < branch_count; ++branch) {
            events_.wait(branch_count, streams_[branch]);
            for (std::size_t i = 0; i < branch_length; ++i) run(streams_[branch], node++);
            events_.order(branch, streams_[branch], origin);
        }
        run(origin, node++);
    }

private:
    std::vector<Stream> streams_;
    Events events_;
};

// Throws unless a replay of the shape runs all of its nodes.
template <class Issue>
void check_replay(Environment& environment, const Stream& stream, std::size_t nodes, Issue&& issue) {
    const aclrtFuncHandle mark = environment.session.function("mark");
    const DeviceMemory marks(nodes * sizeof(std::uint32_t));
    BENCH_CHECK(aclrtMemset(marks.get(), nodes * sizeof(std::uint32_t), 0, nodes * sizeof(std::uint32_t)));
    const CapturedGraph graph(
        stream, [&] { issue([&](const Stream& on, std::size_t node) { launch(mark, on.get(), marks.get(), node); }); });
    graph.replay(stream);
    stream.synchronise();
    for (const std::uint32_t value : marks.read<std::uint32_t>())
        if (value != 1) throw std::runtime_error("a replay left out a node");
}

Contender flow_graph(const char* name, FlowGraph& graph, std::size_t runs, std::size_t nodes) {
    return {name, [&graph, runs, nodes] {
                return time_each(runs / 8, runs, [&](std::size_t count) { graph.run_and_wait_each(count); }) /
                       static_cast<double>(nodes);
            }};
}

// The time per node when each run is waited for.
template <class Run>
Contender runs_of(const char* name, const Stream& stream, std::size_t runs, std::size_t nodes, Run run) {
    return {name, [&stream, runs, nodes, run] {
                return time_each(runs / 8, runs,
                                 [&](std::size_t count) {
                                     for (std::size_t i = 0; i < count; ++i) {
                                         run();
                                         stream.synchronise();
                                     }
                                 }) /
                       static_cast<double>(nodes);
            }};
}

// `limit` in nanoseconds, 0: none. The rival is oneTBB with task nodes; lightweight nodes are only shown.
Row judge(const char* name, const char* what, const std::vector<Contender>& contenders, double limit) {
    const double ours = contenders[0].summary().p50;
    const auto rival = std::find_if(contenders.begin(), contenders.end(),
                                    [](const Contender& contender) { return contender.name == "oneTBB"; });
    std::vector<std::string> missing = {no_taskflow};
    if (rival == contenders.end()) missing.insert(missing.begin(), "oneTBB not installed");
    Row row{name,
            what,
            nanoseconds_text(ours) + " a node",
            limit != 0 ? fmt::format("<= {:.0f} ns and < oneTBB", limit) : std::string("< oneTBB"),
            rivals_text(contenders, missing),
            "",
            limit == 0 || ours <= limit ? Verdict::reached : Verdict::missed,
            to_json(contenders)};
    if (rival == contenders.end()) {
        if (row.verdict == Verdict::reached) row.verdict = Verdict::no_rival;
        return row;
    }
    row.ratio = times_text(rival->summary().p50 / ours) + " faster than oneTBB";
    if (ours >= rival->summary().p50) row.verdict = Verdict::missed;
    return row;
}

void add_flow_graphs(std::vector<Contender>& contenders, FlowGraph* tasks, FlowGraph* lightweight, std::size_t runs,
                     std::size_t nodes) {
    if (tasks) contenders.push_back(flow_graph("oneTBB", *tasks, runs, nodes));
    if (lightweight) contenders.push_back(flow_graph("oneTBB lightweight", *lightweight, runs, nodes));
}

void measure_chain(Environment& environment, const Stream& stream, const CapturedGraph& graph,
                   aclrtFuncHandle function) {
    constexpr std::size_t runs = 64;
    FiveArguments arguments;
    const auto tasks = FlowGraph::chain(chain_nodes, FlowGraph::Nodes::tasks);
    const auto lightweight = FlowGraph::chain(chain_nodes, FlowGraph::Nodes::lightweight);
    std::vector<Contender> contenders = {runs_of("Canopy", stream, runs, chain_nodes, [&] { graph.replay(stream); })};
    add_flow_graphs(contenders, tasks.get(), lightweight.get(), runs, chain_nodes);
    contenders.push_back(runs_of("stream without graph", stream, runs, chain_nodes,
                                 [&] { launch_empty(function, stream, arguments, chain_nodes); }));
    take_turns(contenders, environment.options.rounds(60));
    environment.report.add(judge("graph-chain", "replay of a chain of 1,000 empty kernels", contenders, 15));
}

void measure_branches(Environment& environment, const Stream& stream, aclrtFuncHandle function) {
    constexpr std::size_t runs = 64;
    const Branches branches;
    FiveArguments arguments;
    const auto run = [&](const Stream& on, std::size_t) { launch_empty(function, on, arguments, 1); };
    check_replay(environment, stream, branch_nodes, [&](auto&& mark) { branches.issue(stream, mark); });
    const CapturedGraph graph(stream, [&] { branches.issue(stream, run); });
    const auto tasks = FlowGraph::branches(branch_count, branch_length, FlowGraph::Nodes::tasks);
    const auto lightweight = FlowGraph::branches(branch_count, branch_length, FlowGraph::Nodes::lightweight);
    std::vector<Contender> contenders = {runs_of("Canopy", stream, runs, branch_nodes, [&] { graph.replay(stream); })};
    add_flow_graphs(contenders, tasks.get(), lightweight.get(), runs, branch_nodes);
    contenders.push_back(
        runs_of("streams without graph", stream, runs, branch_nodes, [&] { branches.issue(stream, run); }));
    take_turns(contenders, environment.options.rounds(60));
    environment.report.add(judge("graph-branches", "replay of 32 branches of 32 empty kernels", contenders, 0));
}

// Batches are small enough never to fill the stream's queue; the device drains it outside the timed part. The device is
// already running at the first timed call; the cost of a call that must wake it is measured separately.
void measure_call(Environment& environment, const Stream& stream, const CapturedGraph& graph) {
    constexpr std::size_t first = 4, calls = 100;
    const auto replay = [&](std::size_t count) {
        for (std::size_t i = 0; i < count; ++i) graph.replay(stream);
    };
    const auto timed = [&](std::size_t before, std::size_t count) {
        const double time = time_each(before, count, replay);
        stream.synchronise();
        return time;
    };
    std::vector<Contender> contenders = {{"Canopy", [&] { return timed(first, calls); }},
                                         {"to a sleeping device", [&] { return timed(0, 1); }}};
    take_turns(contenders, environment.options.rounds(100));
    const double ours = contenders[0].summary().p50;
    environment.report.add({"graph-call", "the call that replays 1,000 nodes", nanoseconds_text(ours), "<= 300 ns",
                            rivals_text(contenders, {}), "", ours <= 300 ? Verdict::reached : Verdict::missed,
                            to_json(contenders)});
}

}  // namespace

void measure_graph(Environment& environment) {
    const Stream stream;
    const aclrtFuncHandle function = environment.session.function("empty_five");
    FiveArguments arguments;
    check_replay(environment, stream, chain_nodes, [&](auto&& mark) { issue_chain(stream, mark); });
    const CapturedGraph chain(stream, [&] {
        issue_chain(stream, [&](const Stream& on, std::size_t) { launch_empty(function, on, arguments, 1); });
    });
    measure_chain(environment, stream, chain, function);
    measure_branches(environment, stream, function);
    measure_call(environment, stream, chain);
}

}  // namespace bench
