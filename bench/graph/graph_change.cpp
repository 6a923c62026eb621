// SPDX-License-Identifier: Apache-2.0
// The time to create a graph of 10,000 kernels and to change 100 of them.
#include <fmt/core.h>

#include "graph/graph_capture.h"
#include "harness/topics.h"

namespace bench {
namespace {

constexpr std::size_t nodes = 10'000;
constexpr std::size_t changed = 100;
constexpr std::size_t first_changed = nodes / 2;

std::string milliseconds_text(double nanoseconds) { return fmt::format("{:.2f} ms", nanoseconds / 1e6); }
std::string microseconds_text(double nanoseconds) { return fmt::format("{:.1f} us", nanoseconds / 1e3); }

// Nanoseconds from begin to end of a capture, without the destruction of the graph.
template <class Issue>
double time_capture(const Stream& stream, Issue&& issue) {
    const std::uint64_t begin = now();
    const CapturedGraph graph(stream, issue);
    return static_cast<double>(now() - begin);
}

// Queues the kernels in turn on eight streams, which fork from and join the first one every 80 kernels.
void issue_forked(aclrtFuncHandle function, const std::vector<Stream>& streams, const Events& events,
                  FiveArguments& arguments) {
    constexpr std::size_t section = 80;
    for (std::size_t done = 0; done < nodes; done += section) {
        for (std::size_t i = 1; i < streams.size(); ++i) events.order(0, streams[0], streams[i]);
        for (const Stream& stream : streams) launch_empty(function, stream, arguments, section / streams.size());
        for (std::size_t i = 1; i < streams.size(); ++i) events.order(i, streams[i], streams[0]);
    }
}

// A graph of `mark` kernels whose middle ones form one group, or one group each.
class Changeable {
public:
    Changeable(Environment& environment, std::size_t group_size)
        : mark_(environment.session.function("mark")),
          marks_(2 * nodes * sizeof(std::uint32_t)),
          group_size_(group_size),
          groups_(changed / group_size) {
        graph_ = CapturedGraph(stream_, [&] {
            for (std::size_t i = 0; i < nodes; ++i) {
                const bool inside = i >= first_changed && i < first_changed + changed;
                const std::size_t place = (i - first_changed) % group_size_;
                if (inside && place == 0) BENCH_CHECK(aclmdlRICaptureTaskGrpBegin(stream_.get()));
                launch(mark_, stream_.get(), marks_.get(), i);
                if (inside && place == group_size_ - 1)
                    BENCH_CHECK(aclmdlRICaptureTaskGrpEnd(stream_.get(), &groups_[(i - first_changed) / group_size_]));
            }
        });
    }
    // Makes the changed kernels mark `offset` places further on, and waits until the change is complete.
    void update(std::size_t offset) {
        std::size_t i = first_changed + offset;
        for (const aclrtTaskGrp group : groups_) {
            BENCH_CHECK(aclmdlRICaptureTaskUpdateBegin(updates_.get(), group));
            for (std::size_t task = 0; task < group_size_; ++task) launch(mark_, updates_.get(), marks_.get(), i++);
            BENCH_CHECK(aclmdlRICaptureTaskUpdateEnd(updates_.get()));
        }
        updates_.synchronise();
    }
    void check(std::size_t offset) {
        const std::size_t size = 2 * nodes * sizeof(std::uint32_t);
        BENCH_CHECK(aclrtMemset(marks_.get(), size, 0, size));
        graph_.replay(stream_);
        stream_.synchronise();
        const auto marks = marks_.read<std::uint32_t>();
        for (std::size_t i = 0; i < nodes; ++i) {
            const bool inside = i >= first_changed && i < first_changed + changed;
            if (marks[inside ? i + offset : i] != 1) throw std::runtime_error("a replay after an update is wrong");
        }
    }

private:
    aclrtFuncHandle mark_;
    Stream stream_, updates_;
    DeviceMemory marks_;
    std::size_t group_size_;
    std::vector<aclrtTaskGrp> groups_;
    CapturedGraph graph_;
};

Contender updates_of(const char* name, Changeable& graph) {
    constexpr std::size_t count = 20;
    return {name, [&graph] {
                return time_each(2, count, [&](std::size_t updates) {
                    for (std::size_t i = 0; i < updates; ++i) graph.update(i % 2 == 0 ? nodes : 0);
                });
            }};
}

}  // namespace

void measure_graph_capture(Environment& environment) {
    const aclrtFuncHandle function = environment.session.function("empty_five");
    const std::vector<Stream> streams(8);
    const Events events(streams.size());
    FiveArguments arguments;
    std::vector<Contender> contenders = {
        {"one stream",
         [&] { return time_capture(streams[0], [&] { launch_empty(function, streams[0], arguments, nodes); }); }},
        {"eight streams",
         [&] { return time_capture(streams[0], [&] { issue_forked(function, streams, events, arguments); }); }}};
    take_turns(contenders, environment.options.rounds(20));
    const double one = contenders[0].summary().p50, eight = contenders[1].summary().p50;
    environment.report.add({"graph-capture", "capture and preparation of 10,000 kernels", milliseconds_text(one),
                            "<= 10 ms", "", "", one <= 10e6 ? Verdict::reached : Verdict::missed, to_json(contenders)});
    environment.report.add({"graph-capture-forked", "the same on 8 streams with 1,750 forks and joins",
                            milliseconds_text(eight), "<= 10 ms", "", "",
                            eight <= 10e6 ? Verdict::reached : Verdict::missed, to_json(contenders)});
}

void measure_graph_update(Environment& environment) {
    Changeable together(environment, changed), single(environment, 1);
    for (Changeable* graph : {&together, &single}) {
        graph->check(0);
        graph->update(nodes);
        graph->check(nodes);
    }
    std::vector<Contender> contenders = {updates_of("one group", together), updates_of("groups of one task", single)};
    take_turns(contenders, environment.options.rounds(60));
    const double ours = contenders[0].summary().p50;
    environment.report.add({"graph-update", "update of 100 kernels in a graph of 10,000", microseconds_text(ours),
                            "<= 20 us", "", "", ours <= 20e3 ? Verdict::reached : Verdict::missed,
                            to_json(contenders)});
    for (Changeable* graph : {&together, &single}) {
        graph->update(0);
        graph->check(0);
    }
}

}  // namespace bench
