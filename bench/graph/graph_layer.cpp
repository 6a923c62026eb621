// SPDX-License-Identifier: Apache-2.0
// One layer of a transformer as an inference program issues it: about sixty calls over three streams, once eagerly and
// once captured and replayed. The same function issues both. Kernels are empty, to measure the runtime alone, or do a
// few microseconds of arithmetic, like small kernels.
#include <fmt/core.h>

#include "graph/graph_capture.h"
#include "harness/topics.h"

namespace bench {
namespace {

constexpr std::size_t row = 4096;  // bytes per copy or fill
constexpr std::size_t rows = 16;
constexpr std::size_t layers = 20;  // of a model

enum Stop { fork, key_done, value_done, attention_done, reduced, second_fork, gate_done, feed_done, end, stop_count };

class Layer {
public:
    // `rounds` of arithmetic in a matrix product, a third of that in other kernels; 0: empty kernels.
    Layer(Session& session, std::uint64_t rounds)
        : kernel_(session.function(rounds != 0 ? "churn" : "empty_five")),
          rounds_(rounds),
          memory_(row * rows),
          events_(stop_count) {
        BENCH_CHECK(aclrtMemset(memory_.get(), row * rows, 0, row * rows));
    }
    [[nodiscard]] const Stream& main() const { return main_; }
    [[nodiscard]] std::size_t tasks() const { return tasks_; }

    void issue() {
        tasks_ = 0;
        norm();
        order(fork, main_, side_);
        order(fork, main_, communication_);
        queries_keys_values();
        attention();
        all_reduce();
        feed_forward();
    }

private:
    void matrix_product(const Stream& stream, std::size_t at) { run(stream, at, rounds_); }
    void small(const Stream& stream, std::size_t at) { run(stream, at, rounds_ / 3); }
    void run(const Stream& stream, std::size_t at, std::uint64_t rounds) {
        FiveArguments arguments;
        arguments.a = place(at);
        arguments.b = place((at + 1) % rows);
        arguments.out = arguments.a;
        arguments.factor = rounds;
        launch_empty(kernel_, stream, arguments, 1);
        ++tasks_;
    }
    void copy(const Stream& stream, std::size_t to, std::size_t from) {
        BENCH_CHECK(aclrtMemcpyAsync(place(to), row, place(from), row, ACL_MEMCPY_DEVICE_TO_DEVICE, stream.get()));
        ++tasks_;
    }
    void clear(const Stream& stream, std::size_t at) {
        BENCH_CHECK(aclrtMemsetAsync(place(at), row, 0, row, stream.get()));
        ++tasks_;
    }
    void order(Stop stop, const Stream& from, const Stream& to) {
        record(stop, from);
        wait(stop, to);
    }
    void record(Stop stop, const Stream& from) {
        events_.record(stop, from);
        ++tasks_;
    }
    void wait(Stop stop, const Stream& to) {
        events_.wait(stop, to);
        ++tasks_;
    }

    void norm() {
        small(main_, 0);
        small(main_, 0);
    }
    void queries_keys_values() {
        matrix_product(main_, 1);
        small(main_, 1);
        small(main_, 1);
        matrix_product(side_, 3);
        small(side_, 3);
        small(side_, 3);
        copy(side_, 4, 3);  // into the cache
        record(key_done, side_);
        matrix_product(communication_, 6);
        small(communication_, 6);
        copy(communication_, 7, 6);
        record(value_done, communication_);
        wait(key_done, main_);
        wait(value_done, main_);
    }
    void attention() {
        clear(main_, 9);
        matrix_product(main_, 9);
        for (int step = 0; step < 4; ++step) small(main_, 9);  // scale, mask, and two of softmax
        matrix_product(main_, 9);
        matrix_product(main_, 10);
        small(main_, 10);
        record(attention_done, main_);
    }
    // Copies bring in the parts, which are added while the side stream fetches the next ones.
    void all_reduce() {
        wait(attention_done, communication_);
        for (std::size_t part = 0; part < 2; ++part) {
            copy(communication_, 12, 10);
            small(communication_, 12);
        }
        record(reduced, communication_);
        wait(attention_done, side_);
        copy(side_, 14, 4);
        clear(side_, 15);
        wait(reduced, main_);
        small(main_, 0);
        norm();
    }
    void feed_forward() {
        order(second_fork, main_, side_);
        matrix_product(side_, 14);
        small(side_, 14);
        record(gate_done, side_);
        matrix_product(main_, 1);
        wait(gate_done, main_);
        small(main_, 1);
        matrix_product(main_, 2);
        small(main_, 2);
        order(feed_done, main_, communication_);
        for (std::size_t part = 0; part < 2; ++part) {
            copy(communication_, 12, 2);
            small(communication_, 12);
        }
        order(end, communication_, main_);
        small(main_, 0);
        copy(main_, 1, 0);
    }
    void* place(std::size_t index) const { return static_cast<char*>(memory_.get()) + index * row; }

    aclrtFuncHandle kernel_;
    std::uint64_t rounds_;
    Stream main_, side_, communication_;
    DeviceMemory memory_;
    Events events_;
    std::size_t tasks_ = 0;
};

// Nanoseconds per layer when `together` of them are issued before waiting.
template <class Issue>
Contender layers_of(const char* name, const Stream& stream, std::size_t count, std::size_t together, Issue issue) {
    return {name, [&stream, count, together, issue] {
                return time_each(together, count, [&](std::size_t all) {
                    for (std::size_t i = 0; i < all; ++i) {
                        issue();
                        if ((i + 1) % together == 0) stream.synchronise();
                    }
                });
            }};
}

// The goal: at least `goal` times as fast as the separate calls; for a goal of 1, two percent slower still counts.
void measure_layers(Environment& environment, const char* name, const char* what, std::uint64_t rounds,
                    std::size_t together, double goal) {
    Layer layer(environment.session, rounds);
    const CapturedGraph graph(layer.main(), [&] { layer.issue(); });
    const std::size_t count = rounds != 0 ? 40 : 400;
    std::vector<Contender> contenders = {
        layers_of("Canopy", layer.main(), count, together, [&] { graph.replay(layer.main()); }),
        layers_of("call by call", layer.main(), count, together, [&] { layer.issue(); })};
    take_turns(contenders, environment.options.rounds(30));
    const double ours = contenders[0].summary().p50, eager = contenders[1].summary().p50;
    nlohmann::ordered_json numbers = to_json(contenders);
    numbers["tasks"] = layer.tasks();
    environment.report.add({name, fmt::format("{} ({} tasks)", what, layer.tasks()), nanoseconds_text(ours),
                            goal > 1 ? fmt::format(">= {:.0f} x call by call", goal) : "not slower than call by call",
                            rivals_text(contenders, {}), times_text(eager / ours) + " call by call",
                            eager / ours >= goal * (goal > 1 ? 1.0 : 0.98) ? Verdict::reached : Verdict::missed,
                            numbers});
}

// Number of rounds with which the kernel `churn` takes this many nanoseconds on this machine.
std::uint64_t rounds_for(Session& session, double nanoseconds) {
    constexpr std::uint64_t rounds = 100'000;
    const Stream stream;
    const DeviceMemory memory(2 * row);
    FiveArguments arguments{memory.get(), memory.get(), memory.get(), 1024, rounds};
    std::vector<double> times;
    for (int i = 0; i < 9; ++i)
        times.push_back(time_each(0, 1, [&](std::size_t) {
            launch_empty(session.function("churn"), stream, arguments, 1);
            stream.synchronise();
        }));
    return static_cast<std::uint64_t>(nanoseconds / summarise(times).lowest * static_cast<double>(rounds));
}

}  // namespace

void measure_graph_layer(Environment& environment) {
    measure_layers(environment, "graph-layer", "transformer layer, empty kernels, each waited for", 0, 1, 3);
    measure_layers(environment, "graph-layers", "the same, waited for after 20 layers", 0, layers, 3);
    const std::uint64_t rounds = rounds_for(environment.session, 15'000);
    measure_layers(environment, "graph-layer-work", "transformer layer, kernels of 5 and 15 us, each waited for",
                   rounds, 1, 1);
    measure_layers(environment, "graph-layers-work", "the same, waited for after 20 layers", rounds, layers, 1);
}

}  // namespace bench
