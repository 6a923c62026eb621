// SPDX-License-Identifier: Apache-2.0
#include "graph_script.h"

#include <algorithm>
#include <array>
#include <numeric>

namespace graphs {
namespace {

using Clock = std::array<int, all_streams>;  // per stream, the last of its steps known to be done

struct Place {
    int stream;
    int position;
};

// The steps that have touched a cell.
struct Cell {
    Place writer{-1, 0};
    std::vector<Place> readers;  // since the last write
};

// Generates one sequence, either of a graph or of a body of a condition.
class Generator {
public:
    Generator(Plan& plan, std::mt19937_64& random, Profile profile, std::vector<int> streams, std::vector<int> cells,
              int depth)
        : plan_(plan),
          random_(random),
          profile_(profile),
          streams_(std::move(streams)),
          cells_(std::move(cells)),
          depth_(depth),
          inside_{streams_[0]} {}

    Script run(int limit) {
        for (int done = 0; done < limit; ++done) {
            if (pick(100) < (profile_ == Profile::redundant ? 70 : 10)) redundant_order();
            add();
        }
        join();
        return std::move(script_);
    }

private:
    int pick(int count) { return static_cast<int>(random_() % static_cast<std::uint64_t>(count)); }
    bool chance(int percent) { return pick(100) < percent; }
    template <class T>
    T& any(std::vector<T>& values) {
        return values[static_cast<std::size_t>(pick(static_cast<int>(values.size())))];
    }
    int device_cell() {
        for (;;)
            if (const int cell = any(cells_); cell < device_cells) return cell;
    }
    int host_cell() {  // -1: none among the cells of this sequence
        for (int i = 0; i < 16; ++i)
            if (const int cell = any(cells_); cell >= device_cells) return cell;
        return -1;
    }
    bool is_inside(int stream) const { return std::find(inside_.begin(), inside_.end(), stream) != inside_.end(); }

    // A stream for the next step; a new stream joins by waiting for an event of another one.
    int stream() {
        const int chosen = streams_[static_cast<std::size_t>(pick(static_cast<int>(streams_.size())))];
        if (!is_inside(chosen)) {
            order_by_event(any(inside_), chosen);
            inside_.push_back(chosen);
        }
        return chosen;
    }

    Step& push(Kind kind, int stream) {
        ++clocks_[stream][stream];
        script_.steps.push_back({});
        script_.steps.back().kind = kind;
        script_.steps.back().stream = stream;
        return script_.steps.back();
    }
    void learn(int stream, const Clock& from) {
        for (int i = 0; i < all_streams; ++i) clocks_[stream][i] = std::max(clocks_[stream][i], from[i]);
    }

    void order_by_event(int from, int to) {
        const bool again = !records_.empty() && chance(20);
        const int event = again ? any(records_).first : plan_.events++;
        push(Kind::record, from).object = event;
        const auto known = std::find_if(records_.begin(), records_.end(), [&](auto& r) { return r.first == event; });
        if (known != records_.end())
            known->second = clocks_[from];
        else
            records_.push_back({event, clocks_[from]});
        push(Kind::wait, to).object = event;
        learn(to, clocks_[from]);
    }
    // Notifies, counters and words take effect only at run time; each is used for one ordering.
    void order_by_signal(int from, int to) {
        const int way = pick(3);
        const int object = way == 0 ? plan_.notifies++ : way == 1 ? plan_.counters++ : plan_.words++;
        for (const auto& [kind, stream] : {std::pair{Kind::signal, from}, std::pair{Kind::await, to}}) {
            Step& step = push(kind, stream);
            step.way = way;
            step.object = object;
        }
        learn(to, clocks_[from]);
    }
    void order(int from, int to) {
        if (chance(75))
            order_by_event(from, to);
        else
            order_by_signal(from, to);
    }
    // Adds an unnecessary ordering: another wait for a recorded event, or an event between any two streams.
    void redundant_order() {
        if (!records_.empty() && chance(50)) {
            auto& [event, clock] = any(records_);
            const int to = any(inside_);
            push(Kind::wait, to).object = event;
            learn(to, clock);
            return;
        }
        const int from = any(inside_), to = any(inside_);
        if (from != to) order_by_event(from, to);
    }

    bool known(int stream, const Place& place) const {
        return place.stream < 0 || clocks_[stream][place.stream] >= place.position;
    }
    // Adds the orderings needed before a step of `stream` that reads and writes these cells.
    void order_cells(int stream, const std::vector<int>& reads, const std::vector<int>& writes) {
        const auto need = [&](const Place& place) {
            if (!known(stream, place)) order(place.stream, stream);
        };
        for (const int cell : reads) need(touched_[cell].writer);
        for (const int cell : writes) {
            need(touched_[cell].writer);
            for (const Place& reader : std::vector<Place>(touched_[cell].readers)) need(reader);
        }
    }
    void note(int stream, const std::vector<int>& reads, const std::vector<int>& writes) {
        const Place here{stream, clocks_[stream][stream]};
        for (const int cell : reads) touched_[cell].readers.push_back(here);
        for (const int cell : writes) touched_[cell] = {here, {}};
    }
    Step& touch(Kind kind, int stream, const std::vector<int>& reads, const std::vector<int>& writes) {
        order_cells(stream, reads, writes);
        Step& step = push(kind, stream);
        note(stream, reads, writes);
        step.salt = plan_.new_salt();
        return step;
    }

    void add() {
        switch (pick(depth_ == 0 ? 24 : 17)) {
            case 0 ... 5:
                return kernel();
            case 6 ... 8:
                return copy();
            case 9:
                return simple(Kind::copy_rows, {device_cell()}, device_cell());
            case 10:
                return simple(Kind::copy_snapshot, {}, device_cell());
            case 11:
                return simple(chance(50) ? Kind::fill : Kind::fill_words, {}, device_cell());
            case 12:
                return simple(Kind::write_value, {}, device_cell());
            case 13:
                if (const int cell = host_cell(); cell >= 0) return simple(Kind::host_function, {}, cell);
                return kernel();
            case 14:
                return simple(Kind::reduce, {device_cell()}, device_cell());
            case 15:
                return random_numbers();
            case 16:
                return depth_ < deepest && chance(depth_ == 0 ? 100 : 30) ? condition() : exchange();
            case 17:
                return exchange();
            case 18 ... 19:
                return simple(Kind::pool, {device_cell()}, device_cell());
            case 20 ... 21:
                return group();
            default:
                return outside();
        }
    }

    void simple(Kind kind, std::vector<int> reads, int write) {
        Step& step = touch(kind, stream(), reads, {write});
        step.out = write;
        step.a = reads.empty() ? write : reads[0];
        step.way = pick(6);
    }
    void fill_kernel(Step& step, int out, int a, int b) {
        step.out = out;
        step.a = a;
        step.b = b;
        step.blocks = chance(50) ? 1u : static_cast<std::uint32_t>(1 + pick(12));
        step.way = pick(static_cast<int>(Way::count));
    }
    void kernel() {
        const int out = device_cell(), a = device_cell(), b = device_cell();
        Step& step = touch(Kind::kernel, stream(), {a, b}, {out});
        fill_kernel(step, out, a, b);
        step.object = plan_.argument_blocks++;
    }
    void exchange() {
        const int out = device_cell(), scratch = device_cell();
        if (out == scratch) return kernel();
        Step& step = touch(Kind::exchange, stream(), {}, {out, scratch});
        step.out = out;
        step.a = scratch;
        step.blocks = static_cast<std::uint32_t>(1 + pick(8));
    }
    void copy() {
        int from = device_cell(), to = device_cell();
        const int host = host_cell();
        if (host >= 0 && chance(60)) (chance(50) ? from : to) = host;
        if (from == to) return kernel();
        Step& step = touch(Kind::copy, stream(), {from}, {to});
        step.out = to;
        step.a = from;
    }
    void random_numbers() {
        const int out = device_cell(), counter = device_cell();
        if (out == counter) return kernel();
        Step& step = touch(Kind::random_numbers, stream(), {}, {out, counter});
        step.out = out;
        step.a = counter;
        step.way = pick(2);
    }
    void group() {
        const int count = 1 + pick(4), on = stream();
        std::vector<std::array<int, 3>> cells;
        std::vector<int> reads, writes;
        for (int i = 0; i < count; ++i) {
            cells.push_back({device_cell(), device_cell(), device_cell()});
            writes.push_back(cells.back()[0]);
            reads.push_back(cells.back()[1]);
            reads.push_back(cells.back()[2]);
        }
        Step& step = touch(Kind::group, on, reads, writes);
        step.object = plan_.groups++;
        for (const auto& [out, a, b] : cells) {
            step.steps.push_back({});
            Step& inner = step.steps.back();
            inner.stream = on;
            inner.salt = plan_.new_salt();
            fill_kernel(inner, out, a, b);
            if (inner.way == static_cast<int>(Way::device_arguments)) inner.way = 0;
        }
    }
    void condition() {
        std::vector<int> cells = cells_;
        std::shuffle(cells.begin(), cells.end(), random_);
        cells.resize(std::min(cells.size(), static_cast<std::size_t>(3 + pick(3))));
        if (std::none_of(cells.begin(), cells.end(), [](int cell) { return cell < device_cells; })) return kernel();
        const int selecting = *std::find_if(cells.begin(), cells.end(), [](int cell) { return cell < device_cells; });
        const int body_stream = stream_count + depth_ * body_streams;
        const int on = stream();
        order_cells(on, {}, cells);
        Step step;
        step.kind = Kind::condition;
        step.stream = on;
        step.a = selecting;
        step.object = plan_.conditions++;
        step.condition = static_cast<Condition>(pick(3));
        const int bodies =
            step.condition == Condition::loop ? 1 : 1 + pick(step.condition == Condition::branch ? 2 : 3);
        step.assigns_default = chance(50);
        step.selects = !step.assigns_default || chance(50);
        step.modulo = step.condition == Condition::loop     ? 4u
                      : step.condition == Condition::branch ? 2u
                                                            : static_cast<std::uint32_t>(bodies + pick(2));
        step.default_value = static_cast<std::uint32_t>(pick(static_cast<int>(step.modulo)));
        step.body_stream = body_stream;
        for (int i = 0; i < bodies; ++i) {
            Generator body(plan_, random_, profile_, {body_stream, body_stream + 1}, cells, depth_ + 1);
            step.bodies.push_back(body.run(pick(5)));
        }
        ++clocks_[on][on];
        script_.steps.push_back(std::move(step));
        note(on, {}, cells);
    }
    void outside() {
        const int on = stream();
        const int which = pick(3);
        const int cell = device_cell();
        bool& used = which == 0 ? plan_.outside_flag : which == 1 ? plan_.outside_wait : plan_.outside_record;
        if (used) return kernel();
        used = true;
        const Kind kinds[] = {Kind::outside_flag, Kind::outside_wait, Kind::outside_record};
        Step& step = which == 2 ? touch(kinds[which], on, {cell}, {}) : touch(kinds[which], on, {}, {cell});
        step.out = cell;
    }
    // Every stream rejoins the first one, some by way of others.
    void join() {
        while (inside_.size() > 1) {
            const std::size_t last = inside_.size() - 1;
            std::swap(inside_[static_cast<std::size_t>(1 + pick(static_cast<int>(last)))], inside_[last]);
            const int leaving = inside_[last];
            inside_.pop_back();
            order_by_event(leaving, chance(50) ? inside_[0] : any(inside_));
        }
    }

    Plan& plan_;
    std::mt19937_64& random_;
    Profile profile_;
    std::vector<int> streams_, cells_;
    int depth_;
    std::vector<int> inside_;  // streams that have joined
    Script script_;
    std::array<Clock, all_streams> clocks_{};
    std::array<Cell, device_cells + host_cells> touched_{};
    std::vector<std::pair<int, Clock>> records_;
};

}  // namespace

Plan generate(std::uint64_t seed, int limit, Profile profile) {
    Plan plan;
    plan.seed = seed;
    std::mt19937_64 random(seed * 2 + (profile == Profile::redundant ? 1 : 0));
    std::vector<int> streams(1 + random() % stream_count), cells(device_cells + host_cells);
    std::iota(streams.begin(), streams.end(), 0);
    std::iota(cells.begin(), cells.end(), 0);
    const int tasks = 1 + static_cast<int>(random() % 64);
    plan.script = Generator(plan, random, profile, streams, cells, 0).run(std::min(limit, tasks));
    return plan;
}

std::string describe(const Script& script, int depth) {
    static constexpr const char* kinds[] = {
        "kernel",      "exchange",      "copy",   "copy_rows", "copy_snapshot", "fill",         "fill_words",
        "write_value", "host_function", "reduce", "random",    "pool",          "group",        "condition",
        "record",      "wait",          "signal", "await",     "outside_flag",  "outside_wait", "outside_record"};
    std::string text;
    for (const Step& step : script.steps) {
        text += std::string(static_cast<std::size_t>(2 * depth), ' ') + "stream " + std::to_string(step.stream) + ": " +
                kinds[static_cast<std::size_t>(step.kind)] + " out " + std::to_string(step.out) + " a " +
                std::to_string(step.a) + " b " + std::to_string(step.b) + " way " + std::to_string(step.way) +
                " object " + std::to_string(step.object) + " blocks " + std::to_string(step.blocks);
        if (step.kind == Kind::condition)
            text += " type " + std::to_string(static_cast<int>(step.condition)) + " modulo " +
                    std::to_string(step.modulo) + (step.selects ? " selects" : "") +
                    (step.assigns_default ? " default " + std::to_string(step.default_value) : "");
        text += "\n" + describe({step.steps}, depth + 1);
        for (const Script& body : step.bodies) text += "  body\n" + describe(body, depth + 2);
    }
    return text;
}

}  // namespace graphs
