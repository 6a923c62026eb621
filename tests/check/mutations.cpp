// SPDX-License-Identifier: Apache-2.0
// Takes what orders the pipes of right kernels out of the clocks, one event at a time: flags, barriers, and what queues
// do. The checker must find what goes wrong then; if it finds nothing, the kernel is run in many of the orders that a
// chip may take without the event, and none of them may change what it reads or leaves.
//
//     check_mutations TRACE...          traces of kernels without findings (canopy check --trace)
//
// Prints counts, and fails if an order without a finding changes something. Sends between cores are not run in other
// orders: their counts are apart.
#include <algorithm>
#include <cstdio>
#include <fstream>
#include <map>
#include <random>
#include <set>

#include "check/model/walk.h"
#include "made_up.h"
#include "replay.h"

namespace canopy::check {
namespace {

constexpr unsigned S = CANOPY_CHECK_S, V = CANOPY_CHECK_V, M = CANOPY_CHECK_M, MTE1 = CANOPY_CHECK_MTE1,
                   MTE2 = CANOPY_CHECK_MTE2, MTE3 = CANOPY_CHECK_MTE3, FIX = CANOPY_CHECK_FIX, ALL = CANOPY_CHECK_ALL;

// ---- a core as a chip runs it --------------------------------------------------------------------------------------

// Parts of memory that are accessed as a whole.
struct Segment {
    std::size_t begin = 0, end = 0;
};
struct Touch {
    std::vector<Segment> segments;
    std::uint8_t kind = 0, atomic = 0;
};
struct Instruction {
    unsigned pipe = 0;
    std::vector<Touch> touches;
    bool orders_product = false;  // large enough for the chip to order it behind the one before
    bool auto_ordered = false;
};

// What the program of one core says. An event that may be left out has a number, as CheckOptions::without counts.
struct Step {
    enum Kind { instruction, put, take, barrier, scalar_done, order } kind = instruction;
    unsigned from = 0, to = 0;
    std::uint64_t key = 0;
    std::size_t index = 0;  // of the instruction
    std::int64_t number = -1;
};

struct CoreProgram {
    std::vector<Instruction> instructions;
    std::vector<Step> steps;
    std::size_t segments = 0, events = 0;
    std::set<std::int64_t> sends;  // events that speak to other cores
    bool vector_in_order = false, autosync = false;
    bool not_modelled = false;
};

// The flag that EnQue of a queue sets and DeQue waits for; that of FreeTensor is the other way round.
std::pair<unsigned, unsigned> flag_of_queue(unsigned source, unsigned destination) {
    enum { GM, A1, A2, B1, B2, C1, C2, CO1, CO2, VECIN, VECOUT, VECCALC, SPM, TSCM, C2PIPE2GM };
    if ((source == GM && destination == VECIN) || (source == VECIN && destination == VECIN)) return {MTE2, V};
    if ((source == VECOUT && destination == GM) || (source == VECOUT && destination == VECOUT)) return {V, MTE3};
    if (source == VECCALC || (source == VECIN && destination == VECOUT)) return {MTE2, MTE3};
    if (source == A1 || source == B1 || source == C1) return {MTE2, MTE1};
    if (source == A2 || source == B2 || source == C2) return {MTE1, M};
    if (source == CO1) return {M, FIX};
    if (source == C2PIPE2GM) return {MTE1, FIX};
    return {ALL, ALL};
}

class ProgramMaker {
public:
    ProgramMaker(const TracedLaunchFacts& launch, std::size_t core) : launch_(launch), core_(core) {
        program_.vector_in_order = launch.facts.architecture == 3510;
        program_.autosync = launch.facts.autosync && !launch.cores[core].cube;
    }

    CoreProgram make() {
        collect_segments();
        for (const TracedEvent& event : launch_.events)
            if (event.core == core_) add(event);
        program_.segments = bounds_.size();
        return std::move(program_);
    }

private:
    struct Queue {
        unsigned source = 0, destination = 0, buffers = 0;
        std::uint64_t address = 0, bytes = 0;
        int depth = 0;
        std::vector<std::uint64_t> queued;
    };

    template <class Visit>
    void each_access(Visit visit) const {
        for (const TracedEvent& event : launch_.events) {
            if (event.core != core_) continue;
            for (const CanopyCheckAccess& access : event.accesses) each_piece(access, visit);
            if (event.kind == "raw") visit(event.numbers[0], event.numbers[1]);
        }
    }
    void collect_segments() {
        std::set<std::uint64_t> bounds;
        each_access([&](std::uint64_t address, std::uint64_t bytes) {
            bounds.insert(address);
            bounds.insert(address + bytes);
        });
        bounds_.assign(bounds.begin(), bounds.end());
    }
    [[nodiscard]] std::size_t at(std::uint64_t bound) const {
        return static_cast<std::size_t>(std::ranges::lower_bound(bounds_, bound) - bounds_.begin());
    }

    // As the checker counts: one for each event that it may leave out.
    std::int64_t next_number() { return static_cast<std::int64_t>(program_.events++); }
    void put(std::uint64_t key, unsigned from) {
        program_.steps.push_back({Step::put, from, 0, key, 0, next_number()});
        up_.insert(key);
    }
    void take(std::uint64_t key, unsigned to) {
        if (up_.erase(key) != 0) program_.steps.push_back({Step::take, 0, to, key, 0, -1});
    }
    void barrier(unsigned pipe) { program_.steps.push_back({Step::barrier, pipe, pipe, 0, 0, next_number()}); }
    void order(unsigned from, unsigned to) {
        if (from == ALL && to == ALL) return barrier(ALL);
        program_.steps.push_back({Step::order, from, to, 0, 0, next_number()});
    }
    void send() { program_.sends.insert(next_number()); }

    void add_instruction(const TracedEvent& event) {
        Instruction instruction;
        instruction.pipe = static_cast<unsigned>(event.numbers[0]);
        const auto flags = static_cast<std::uint32_t>(event.numbers[3]);
        if ((flags & CANOPY_CHECK_REFERENCE) != 0) return;
        if (event.numbers[2] != 0) program_.not_modelled = true;  // unit flags
        instruction.orders_product = (event.numbers[4] / 16) * (event.numbers[5] / 16) >= 10;
        instruction.auto_ordered = (flags & CANOPY_CHECK_AUTO_ORDERED) != 0;
        for (const CanopyCheckAccess& access : event.accesses) {
            Touch touch{{}, access.kind, access.atomic};
            each_piece(access, [&](std::uint64_t address, std::uint64_t bytes) {
                touch.segments.push_back({at(address), at(address + bytes)});
            });
            instruction.touches.push_back(std::move(touch));
        }
        add_instruction(std::move(instruction));
        if ((flags & CANOPY_CHECK_RETURNS_SCALAR) != 0) {
            order(V, S);
            order(S, V);
            order(S, MTE3);
        }
    }
    void add_instruction(Instruction instruction) {
        const unsigned pipe = instruction.pipe;
        program_.instructions.push_back(std::move(instruction));
        program_.steps.push_back({Step::instruction, pipe, pipe, 0, program_.instructions.size() - 1, -1});
    }

    Queue* queue_with(std::uint64_t address) {
        for (auto& [name, queue] : queues_)
            if (address - queue.address < queue.bytes * queue.buffers) return &queue;
        return nullptr;
    }
    static std::uint64_t filled(std::uint64_t address) { return 1ULL << 60 | address; }
    static std::uint64_t freed(std::uint64_t address) { return 2ULL << 60 | address; }
    void wait_for_all(Queue& queue) {
        const unsigned to = flag_of_queue(queue.source, queue.destination).first;
        for (unsigned i = 0; i < queue.buffers; ++i) take(freed(queue.address + i * queue.bytes), to);
    }

    void add_buffer(const TracedEvent& event) {
        const std::uint64_t name = event.numbers[2], address = event.numbers[3];
        switch (event.numbers[0]) {
            case CANOPY_CHECK_BUFFER_INIT: {
                if (name == 0) return;
                Queue& queue = queues_[name] = {static_cast<unsigned>(event.numbers[6]),
                                                static_cast<unsigned>(event.numbers[7]),
                                                static_cast<unsigned>(event.numbers[1]),
                                                address,
                                                event.numbers[4],
                                                static_cast<int>(event.numbers[5]),
                                                {}};
                const auto flag = flag_of_queue(queue.source, queue.destination);
                if (flag.first == ALL) program_.not_modelled = true;
                if (queue.depth == 0)
                    for (unsigned i = 0; i < queue.buffers; ++i) put(freed(address + i * queue.bytes), flag.second);
                return;
            }
            case CANOPY_CHECK_BUFFER_ALLOCATE:
                if (Queue* queue = queue_with(address))
                    take(freed(address), flag_of_queue(queue->source, queue->destination).first);
                return;
            case CANOPY_CHECK_BUFFER_ENQUEUE:
                if (Queue* queue = queue_with(address)) {
                    put(filled(address), flag_of_event(event, *queue).first);
                    queue->queued.push_back(address);
                }
                return;
            case CANOPY_CHECK_BUFFER_DEQUEUE:
                if (const auto found = queues_.find(name); found != queues_.end() && !found->second.queued.empty()) {
                    Queue& queue = found->second;
                    take(filled(queue.queued.front()), flag_of_event(event, queue).second);
                    queue.queued.erase(queue.queued.begin());
                }
                return;
            case CANOPY_CHECK_BUFFER_FREE:
                if (Queue* queue = queue_with(address))
                    put(freed(address), flag_of_queue(queue->source, queue->destination).second);
                return;
            case CANOPY_CHECK_BUFFER_FREE_EVENTS:
                if (const auto found = queues_.find(name); found != queues_.end()) wait_for_all(found->second);
                return;
            case CANOPY_CHECK_PIPE_INIT:
            case CANOPY_CHECK_PIPE_RESET:
            case CANOPY_CHECK_PIPE_DESTROY:
                for (auto& [other, queue] : queues_) wait_for_all(queue);
                queues_.clear();
                if (event.numbers[0] == CANOPY_CHECK_PIPE_DESTROY) barrier(ALL);
                return;
            default:
                return;
        }
    }
    static std::pair<unsigned, unsigned> flag_of_event(const TracedEvent& event, const Queue& queue) {
        if (event.numbers[6] != event.numbers[7])
            return flag_of_queue(static_cast<unsigned>(event.numbers[6]), static_cast<unsigned>(event.numbers[7]));
        return flag_of_queue(queue.source, queue.destination);
    }

    void add(const TracedEvent& event) {
        const auto number = [&](std::size_t index) { return static_cast<unsigned>(event.numbers[index]); };
        if (event.kind == "operation" || event.kind == "call") {
            if (silent_ == 0) add_instruction(event);
            if (event.kind == "call") ++silent_;
        } else if (event.kind == "region") {
            silent_ += number(1) != 0 ? 1 : -1;
        } else if (event.kind == "flag") {
            const std::uint64_t key = event.numbers[3] << 8 | number(1) << 4 | number(2);
            if (number(1) == number(2)) {
                if (number(0) != 0) barrier(number(1));
            } else if (number(0) != 0) {
                put(key, number(1));
            } else {
                take(key, number(2));
            }
        } else if (event.kind == "barrier") {
            barrier(number(0));
        } else if (event.kind == "data_barrier") {
            program_.steps.push_back({Step::scalar_done, S, S, 0, 0, next_number()});
        } else if (event.kind == "order") {
            order(number(0), number(1));
        } else if (event.kind == "buffer") {
            add_buffer(event);
        } else if (event.kind == "raw") {
            if (silent_ != 0) return;
            Instruction instruction;
            instruction.pipe = S;
            instruction.touches.push_back({{{at(event.numbers[0]), at(event.numbers[0] + event.numbers[1])}},
                                           static_cast<std::uint8_t>(number(2) & CANOPY_CHECK_READ_WRITE),
                                           0});
            add_instruction(std::move(instruction));
        } else if (event.kind == "mutex" || event.kind == "core_flag" || event.kind == "meet" || event.kind == "word" ||
                   event.kind == "cache") {
            speaks_to_others(event);
        }
    }
    // Mutexes, the data cache and other cores are not run in other orders.
    void speaks_to_others(const TracedEvent& event) {
        program_.not_modelled = true;
        if (event.kind == "mutex" && event.numbers[0] != 0) return;
        if (event.kind == "core_flag" && event.numbers[0] == 0) return;
        send();
    }

    const TracedLaunchFacts& launch_;
    const std::size_t core_;
    CoreProgram program_;
    std::vector<std::uint64_t> bounds_;
    std::set<std::uint64_t> up_;
    std::map<std::uint64_t, Queue> queues_;
    int silent_ = 0;
};

// ---- orders --------------------------------------------------------------------------------------------------------

// Instructions begin and end; steps of the program are points. Each has what must be before it.
class Orders {
public:
    Orders(const CoreProgram& program, std::int64_t without) : program_(program) {
        for (const Step& step : program.steps)
            if (step.number < 0 || step.number != without) add(step);
    }

    // Whether some order changes what an instruction reads, or what is left.
    [[nodiscard]] bool some_order_differs(std::uint64_t seed) const {
        std::vector<std::size_t> order(points_.size());
        for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
        const std::uint64_t expected = run(order);
        for (std::size_t late = 0; late < points_.size(); ++late)
            if (points_[late].kind != Point::other && run(with_late(late)) != expected) return true;
        std::mt19937_64 random(seed);
        for (int i = 0; i < 5; ++i)
            if (run(random_order(random)) != expected) return true;
        return false;
    }
    [[nodiscard]] std::size_t size() const { return points_.size(); }

private:
    struct Point {
        enum Kind { other, reads, writes } kind = other;
        std::size_t instruction = 0;
        std::vector<std::size_t> after;
    };
    struct Pipe {
        std::optional<std::size_t> started;
        std::vector<std::size_t> done;
    };

    std::size_t point(Point::Kind kind = Point::other, std::size_t instruction = 0) {
        points_.push_back({kind, instruction, {}});
        if (handed_) points_.back().after.push_back(*handed_);
        return points_.size() - 1;
    }
    void follow(std::size_t later, std::optional<std::size_t> earlier) {
        if (earlier) points_[later].after.push_back(*earlier);
    }
    void follow_all(std::size_t later, unsigned pipe) {
        follow(later, pipes_[pipe].started);
        for (const std::size_t done : pipes_[pipe].done) follow(later, done);
    }
    // All later instructions of the pipe, or of all that the scalar unit hands out, come behind it.
    void stop(unsigned pipe, std::size_t at) {
        if (pipe == S || pipe == ALL) handed_ = at;
        if (pipe != ALL) {
            follow(at, pipes_[pipe].started);
            pipes_[pipe].started = at;
        }
    }
    [[nodiscard]] bool in_order(unsigned pipe, const Instruction& instruction) const {
        return pipe == S || (pipe == V && (program_.vector_in_order || program_.autosync)) ||
               (pipe == M && instruction.orders_product);
    }

    void add(const Step& step) {
        switch (step.kind) {
            case Step::instruction:
                return add_instruction(step);
            case Step::put: {
                const std::size_t at = point();
                follow_all(at, step.from);
                up_[step.key] = at;
                return;
            }
            case Step::take: {
                const auto put = up_.find(step.key);
                const std::size_t at = point();
                if (put != up_.end()) {
                    follow(at, put->second);
                    up_.erase(put);
                }
                return stop(step.to, at);
            }
            case Step::barrier:
            case Step::order: {
                const std::size_t at = point();
                for (unsigned pipe = 0; pipe < CANOPY_CHECK_PIPES; ++pipe)
                    if (step.from == ALL || step.from == pipe) follow_all(at, pipe);
                return stop(step.to, at);
            }
            case Step::scalar_done: {
                const std::size_t at = point();
                follow_all(at, S);
                handed_ = at;
                return;
            }
        }
    }
    void add_instruction(const Step& step) {
        const Instruction& instruction = program_.instructions[step.index];
        Pipe& pipe = pipes_[instruction.pipe];
        const std::size_t start = point(Point::reads, step.index);
        follow(start, pipe.started);
        if (in_order(instruction.pipe, instruction) && !pipe.done.empty()) follow(start, pipe.done.back());
        if (program_.autosync && instruction.auto_ordered)
            for (const unsigned other : {V, MTE2, MTE3}) follow_all(start, other);
        if (last_auto_ && (instruction.pipe == V || instruction.pipe == MTE2 || instruction.pipe == MTE3))
            follow(start, last_auto_);
        const std::size_t end = point(Point::writes, step.index);
        follow(end, start);
        pipe.started = start;
        pipe.done.push_back(end);
        if (program_.autosync && instruction.auto_ordered) last_auto_ = end;
    }

    [[nodiscard]] std::vector<std::size_t> with_late(std::size_t late) const {
        std::vector<std::size_t> order, rest;
        std::vector<bool> behind(points_.size());
        behind[late] = true;
        for (std::size_t at = 0; at < points_.size(); ++at) {
            for (const std::size_t before : points_[at].after) behind[at] = behind[at] || behind[before];
            (behind[at] ? rest : order).push_back(at);
        }
        order.insert(order.end(), rest.begin(), rest.end());
        return order;
    }
    [[nodiscard]] std::vector<std::size_t> random_order(std::mt19937_64& random) const {
        std::vector<std::vector<std::size_t>> next(points_.size());
        std::vector<std::size_t> missing(points_.size()), ready, order;
        for (std::size_t at = 0; at < points_.size(); ++at) {
            missing[at] = points_[at].after.size();
            for (const std::size_t before : points_[at].after) next[before].push_back(at);
            if (missing[at] == 0) ready.push_back(at);
        }
        while (!ready.empty()) {
            std::swap(ready[random() % ready.size()], ready.back());
            const std::size_t at = ready.back();
            ready.pop_back();
            order.push_back(at);
            for (const std::size_t later : next[at])
                if (--missing[later] == 0) ready.push_back(later);
        }
        return order;
    }

    static std::uint64_t mix(std::uint64_t value) {
        value = (value ^ value >> 31) * 0x9E3779B97F4A7C15U;
        return value ^ value >> 29;
    }
    [[nodiscard]] std::uint64_t run(const std::vector<std::size_t>& order) const {
        std::vector<std::uint64_t> memory(program_.segments), read(program_.instructions.size());
        for (std::size_t i = 0; i < memory.size(); ++i) memory[i] = mix(i + 1);
        for (const std::size_t at : order) {
            if (points_[at].kind == Point::other) continue;
            const std::size_t index = points_[at].instruction;
            for (const Touch& touch : program_.instructions[index].touches) {
                if (points_[at].kind == Point::reads && (touch.kind & CANOPY_CHECK_READ) != 0) {
                    for (const Segment& part : touch.segments)
                        for (std::size_t i = part.begin; i < part.end; ++i) read[index] = mix(read[index] ^ memory[i]);
                } else if (points_[at].kind == Point::writes && (touch.kind & CANOPY_CHECK_WRITE) != 0) {
                    const std::uint64_t value = mix(read[index] + index + 1);
                    for (const Segment& part : touch.segments)
                        for (std::size_t i = part.begin; i < part.end; ++i)
                            memory[i] = touch.atomic != 0 ? memory[i] + value : value + i;
                }
            }
        }
        std::uint64_t result = 0;
        for (const std::uint64_t value : read) result = mix(result ^ value);
        for (const std::uint64_t value : memory) result = mix(result ^ value);
        return result;
    }

    const CoreProgram& program_;
    std::vector<Point> points_;
    std::array<Pipe, CANOPY_CHECK_PIPES> pipes_;
    std::optional<std::size_t> handed_, last_auto_;
    std::map<std::uint64_t, std::size_t> up_;
};

// ---- all events, one at a time -------------------------------------------------------------------------------------

constexpr std::size_t most_points = 1500, most_events = 400;  // of a core

struct Counts {
    std::size_t removed = 0, found = 0, redundant = 0, not_run = 0, missed = 0;
    void add(const Counts& other) {
        removed += other.removed, found += other.found, redundant += other.redundant;
        not_run += other.not_run, missed += other.missed;
    }
};

CheckOptions races_and_caches() {
    CheckOptions options;
    options.classes = {true, true, false, false, false, false, false};
    return options;
}

std::size_t findings_of(const TracedLaunchFacts& launch, const CheckOptions& options) {
    KeptFindings kept;
    replay(launch, options, kept);
    return static_cast<std::size_t>(std::ranges::count_if(kept.findings, [](const Finding& finding) {
        return finding.id.starts_with("race") || finding.id.starts_with("cache");
    }));
}

std::uint64_t index_of(const TracedLaunchFacts& launch, std::size_t core) {
    const CoreFacts& facts = launch.cores[core];
    const std::uint64_t of_group = launch.facts.cube_cores + launch.facts.vector_cores;
    return facts.block * of_group + (facts.cube ? 0 : launch.facts.cube_cores) + facts.sub_index;
}

// The first core of each kind, and the others in no way differ for what is looked at here.
Counts mutate(const TracedLaunchFacts& launch) {
    Counts counts;
    CheckOptions options = races_and_caches();
    const std::size_t before = findings_of(launch, options);
    if (before != 0) std::printf("%s: %zu findings with all events\n", launch.facts.kernel.c_str(), before);
    const std::uint64_t cores =
        std::uint64_t{launch.facts.blocks} * (launch.facts.cube_cores + launch.facts.vector_cores);
    std::set<bool> kinds;
    for (std::size_t core = 0; core < launch.cores.size(); ++core) {
        if (!kinds.insert(launch.cores[core].cube).second) continue;
        const CoreProgram program = ProgramMaker(launch, core).make();
        for (std::size_t event = 0; event < std::min(program.events, most_events); ++event) {
            ++counts.removed;
            options.without = event * cores + index_of(launch, core);
            if (findings_of(launch, options) > before) {
                ++counts.found;
                continue;
            }
            const Orders orders(program, static_cast<std::int64_t>(event));
            if (program.not_modelled || orders.size() > most_points) {
                ++counts.not_run;
            } else if (!orders.some_order_differs(event)) {
                ++counts.redundant;
            } else {
                ++counts.missed;
                std::printf("%s: event %zu of core %zu is needed, and nothing is found without it\n",
                            launch.facts.kernel.c_str(), event, core);
            }
        }
    }
    return counts;
}

void print(const char* name, const Counts& counts) {
    std::printf("%-28s %5zu left out: %5zu found, %5zu redundant, %4zu not run\n", name, counts.removed, counts.found,
                counts.redundant, counts.not_run);
}

int run(int count, char** names) {
    Counts all;
    for (int i = 1; i < count; ++i) {
        std::ifstream file(names[i]);
        if (!file) {
            std::fprintf(stderr, "%s cannot be read\n", names[i]);
            return 2;
        }
        std::set<std::string> seen;
        for (const TracedLaunchFacts& launch : read_trace(file)) {
            if (!seen.insert(launch.facts.kernel).second) continue;
            const Counts counts = mutate(launch);
            print(launch.facts.kernel.c_str(), counts);
            all.add(counts);
        }
    }
    print("all", all);
    return all.missed == 0 && all.found != 0 ? 0 : 1;
}

}  // namespace
}  // namespace canopy::check

int main(int count, char** names) { return canopy::check::run(count, names); }
