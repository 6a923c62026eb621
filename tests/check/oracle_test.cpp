// SPDX-License-Identifier: Apache-2.0
// The checker against orders that a chip may take: random programs are run in many of them. If one changes what an
// instruction reads or what is left at the end, there must be a finding; and for each finding there must be an order
// that runs its two accesses the other way round. CANOPY_SEEDS sets how many programs of each kind are made.
#include <gtest/gtest.h>

#include <array>
#include <bitset>
#include <cstdlib>
#include <map>
#include <optional>
#include <random>
#include <set>
#include <tuple>

#include "made_up.h"

namespace canopy::check {
namespace {

constexpr unsigned S = CANOPY_CHECK_S, V = CANOPY_CHECK_V, MTE2 = CANOPY_CHECK_MTE2, MTE3 = CANOPY_CHECK_MTE3,
                   FIX = CANOPY_CHECK_FIX, ALL = CANOPY_CHECK_ALL;
constexpr std::uint32_t memory_bytes = 1024;

struct Range {
    std::uint32_t begin = 0, end = 0;
    std::uint32_t rows = 1, stride = 0;
    bool write = false;

    template <class Visit>
    void each_byte(Visit visit) const {
        for (std::uint32_t row = 0; row < rows; ++row)
            for (std::uint32_t at = begin; at < end; ++at) visit(at + row * stride);
    }
};

struct Item {
    enum Kind { instruction, set, wait, barrier, data_barrier, core_set, core_wait } kind = instruction;
    unsigned core = 0, pipe = 0, to = 0, id = 0;
    std::uint32_t line = 0;
    std::vector<Range> ranges;
};

struct Program {
    std::vector<Item> items;
    bool global = false;  // ranges are in global memory, else in UB
    std::uint32_t architecture = 2201;
};

// ---- the orders that a chip may take
// -----------------------------------------------------------------------------------

constexpr std::size_t most_events = 256;
using Events = std::bitset<most_events>;

// What happens, and what must have happened before. An instruction reads when it starts, and writes when it is done.
class Chip {
public:
    // Flags and barriers `without` order nothing.
    explicit Chip(const Program& program, std::optional<std::size_t> without = std::nullopt)
        : program_(program), without_(without) {
        for (std::size_t i = 0; i < program.items.size(); ++i) add(i);
    }

    struct Event {
        std::size_t item = 0;
        enum Kind { other, reads, writes } kind = other;
    };

    [[nodiscard]] const std::vector<Event>& events() const { return events_; }
    [[nodiscard]] bool ordered(std::size_t a, std::size_t b) const { return before_[b][a] || before_[a][b]; }
    [[nodiscard]] std::size_t start(std::size_t item) const { return starts_.at(item); }
    [[nodiscard]] std::size_t end(std::size_t item) const { return ends_.at(item); }

    // In the order of the program, but what does not depend on `late` comes before it.
    [[nodiscard]] std::vector<std::size_t> order_with_late(std::size_t late) const {
        std::vector<std::size_t> order, rest;
        for (std::size_t event = 0; event < events_.size(); ++event)
            (event == late || before_[event][late] ? rest : order).push_back(event);
        order.insert(order.end(), rest.begin(), rest.end());
        return order;
    }
    [[nodiscard]] std::vector<std::size_t> random_order(std::mt19937_64& random) const {
        std::vector<std::size_t> order, ready;
        Events done;
        std::vector<bool> taken(events_.size());
        while (order.size() < events_.size()) {
            ready.clear();
            for (std::size_t event = 0; event < events_.size(); ++event)
                if (!taken[event] && (before_[event] & ~done).none()) ready.push_back(event);
            const std::size_t next = ready[random() % ready.size()];
            taken[next] = true;
            done.set(next);
            order.push_back(next);
        }
        return order;
    }

    // What instructions read and what is left, if events happen in this order.
    [[nodiscard]] std::vector<std::uint64_t> run(const std::vector<std::size_t>& order) const {
        std::vector<std::uint64_t> read(program_.items.size(), 1);
        std::array<std::uint64_t, memory_bytes> memory{};
        for (const std::size_t event : order) {
            const Item& item = program_.items[events_[event].item];
            std::uint64_t& digest = read[events_[event].item];
            for (const Range& range : item.ranges) {
                if (range.write && events_[event].kind == Event::writes) {
                    const std::uint64_t value = (digest + events_[event].item) * 0x9E3779B97F4A7C15U;
                    range.each_byte([&](std::uint32_t at) { memory[at] = value; });
                } else if (!range.write && events_[event].kind == Event::reads) {
                    range.each_byte([&](std::uint32_t at) { digest = (digest ^ memory[at]) * 0x100000001B3U; });
                }
            }
        }
        read.insert(read.end(), memory.begin(), memory.end());
        return read;
    }

private:
    struct Pipe {
        std::optional<std::size_t> started;  // the event that all later ones of the pipe come behind
        std::vector<std::size_t> done;       // of its instructions so far
    };
    struct OfCore {
        std::array<Pipe, CANOPY_CHECK_PIPES> pipes;
        std::optional<std::size_t> handed;  // the last event that the scalar unit has waited for
        std::map<std::tuple<unsigned, unsigned, unsigned>, std::size_t> flags;
        std::map<unsigned, std::vector<std::size_t>> counters;
    };

    std::size_t event(std::size_t item, Event::Kind kind = Event::other) {
        events_.push_back({item, kind});
        before_.emplace_back();
        return events_.size() - 1;
    }
    void follow(std::size_t later, std::optional<std::size_t> earlier) {
        if (!earlier) return;
        before_[later] |= before_[*earlier];
        before_[later].set(*earlier);
    }

    [[nodiscard]] bool in_order(unsigned pipe) const {
        return pipe == S || (pipe == V && program_.architecture == 3510);
    }

    // Waits of the scalar unit stop the program; those of a pipe stop the pipe.
    void stop(OfCore& core, unsigned pipe, std::size_t event) {
        if (pipe == S) {
            core.handed = event;
        } else {
            follow(event, core.pipes[pipe].started);
            core.pipes[pipe].started = event;
        }
    }

    void add(std::size_t i) {
        const Item& item = program_.items[i];
        OfCore& core = cores_[item.core];
        const auto given = [&](Event::Kind kind = Event::other) {
            const std::size_t made = event(i, kind);
            if (without_ != i) follow(made, core.handed);
            return made;
        };
        // What a flag says: the pipe has done all so far.
        const auto all_done = [&](std::size_t event, unsigned pipe) {
            if (without_ == i) return;
            follow(event, core.pipes[pipe].started);
            for (const std::size_t done : core.pipes[pipe].done) follow(event, done);
        };
        switch (item.kind) {
            case Item::instruction: {
                Pipe& pipe = core.pipes[item.pipe];
                const std::size_t start = given(Event::reads);
                follow(start, pipe.started);
                if (in_order(item.pipe) && !pipe.done.empty()) follow(start, pipe.done.back());
                const std::size_t end = event(i, Event::writes);
                follow(end, start);
                pipe.started = start;
                pipe.done.push_back(end);
                starts_[i] = start;
                ends_[i] = end;
                return;
            }
            case Item::set: {
                const std::size_t set = given();
                all_done(set, item.pipe);
                core.flags[{item.pipe, item.to, item.id}] = set;
                return;
            }
            case Item::wait: {
                const std::size_t wait = given();
                follow(wait, core.flags.at({item.pipe, item.to, item.id}));
                stop(core, item.to, wait);
                return;
            }
            case Item::barrier: {
                const std::size_t barrier = given();
                if (without_ == i) return;
                if (item.pipe != ALL) {
                    all_done(barrier, item.pipe);
                    core.pipes[item.pipe].started = barrier;
                    return;
                }
                for (unsigned pipe = 0; pipe < CANOPY_CHECK_PIPES; ++pipe) all_done(barrier, pipe);
                core.handed = barrier;
                return;
            }
            case Item::data_barrier: {
                const std::size_t barrier = given();
                if (without_ == i) return;
                all_done(barrier, S);
                core.handed = barrier;
                return;
            }
            case Item::core_set: {
                const std::size_t set = given();
                all_done(set, item.pipe);
                cores_[1 - item.core].counters[item.id].push_back(set);
                return;
            }
            case Item::core_wait: {
                const std::size_t wait = given();
                std::vector<std::size_t>& counter = core.counters[item.id];
                follow(wait, counter.front());
                counter.erase(counter.begin());
                stop(core, program_.architecture == 3510 ? item.pipe : S, wait);
                return;
            }
        }
    }

    const Program& program_;
    const std::optional<std::size_t> without_;
    std::vector<Event> events_;
    std::vector<Events> before_;
    std::array<OfCore, 2> cores_;
    std::map<std::size_t, std::size_t> starts_, ends_;
};

// ---- random programs
// ---------------------------------------------------------------------------------------------------

class Maker {
public:
    Maker(std::uint64_t seed, unsigned cores) : random_(seed), cores_(cores) {}

    Program make() {
        Program program;
        program.global = cores_ == 2;
        program.architecture = below(3) == 0 ? 3510 : 2201;
        for (unsigned core = 0; core < cores_; ++core) pipes_[core] = choose_pipes(core);
        // Few flags make hazards likely, many make right programs.
        const std::uint64_t events = 2 + below(7);
        const std::size_t size = 4 + below(37);
        while (program.items.size() < size) {
            const auto core = static_cast<unsigned>(below(cores_));
            if (below(10) < events) {
                add_event(program, core);
            } else {
                add_instruction(program, core);
            }
        }
        return program;
    }

private:
    std::uint64_t below(std::uint64_t limit) { return random_() % limit; }

    std::vector<unsigned> choose_pipes(unsigned core) {
        std::vector<unsigned> pipes{S, V, MTE2, MTE3};
        if (cores_ == 2) pipes = core == 0 ? std::vector<unsigned>{S, MTE2, FIX} : std::vector<unsigned>{S, MTE2, MTE3};
        std::shuffle(pipes.begin(), pipes.end(), random_);
        pipes.resize(std::min<std::size_t>(pipes.size(), 2 + below(3)));
        return pipes;
    }

    unsigned pipe_of(unsigned core) { return pipes_[core][below(pipes_[core].size())]; }

    Range range(const Item& item, bool write, bool aligned) {
        Range range;
        range.write = write;
        auto bytes = static_cast<std::uint32_t>(1 + below(96));
        auto begin = static_cast<std::uint32_t>(below(512));
        if (aligned) {
            bytes = (bytes + 31) / 32 * 32;
            begin = begin / 32 * 32;
        }
        // Lines go on where they ended, over the same again, or with a distance.
        auto& last = last_[{item.core, item.line, write}];
        switch (below(6)) {
            case 0:
                range = last;
                break;
            case 1:
            case 2:
                if (last.end != 0) {
                    bytes = last.end - last.begin;
                    begin = last.begin + (below(2) == 0 ? bytes : 64);
                }
                [[fallthrough]];
            default:
                break;
        }
        if (range.end == 0 || range.end + (range.rows - 1) * range.stride > memory_bytes) {
            range = {begin, begin + bytes};
            if (below(5) == 0) {
                range.rows = static_cast<std::uint32_t>(2 + below(3));
                range.stride = bytes + static_cast<std::uint32_t>(aligned ? 32 * below(3) : below(50));
            }
            if (range.end + (range.rows - 1) * range.stride > memory_bytes) range = {begin % 512, begin % 512 + bytes};
        }
        range.write = write;
        last = range;
        return range;
    }

    void add_instruction(Program& program, unsigned core) {
        Item item;
        item.core = core;
        item.pipe = pipe_of(core);
        item.line = static_cast<std::uint32_t>(100 + item.pipe * 10 + below(2));
        const bool aligned = below(2) == 0;
        // MTE2 brings in, MTE3 and FIX bring out; in global memory that is the other way round.
        const bool in = item.pipe == MTE2, out = item.pipe == MTE3 || item.pipe == FIX;
        const bool only_writes = program.global ? out : in, only_reads = program.global ? in : out;
        const std::uint64_t kind = only_writes ? 2 : only_reads ? 0 : below(3);
        if (kind <= 1) item.ranges.push_back(range(item, false, aligned));
        if (kind >= 1) item.ranges.push_back(range(item, true, aligned));
        program.items.push_back(std::move(item));
    }

    void add_event(Program& program, unsigned core) {
        Item item;
        item.core = core;
        item.pipe = pipe_of(core);
        item.line = 900;
        const std::uint64_t choice = below(20);
        if (choice == 0) {
            item.kind = Item::barrier;
            item.pipe = ALL;
        } else if (choice <= 2 && item.pipe != S) {
            item.kind = Item::barrier;
        } else if (choice == 3) {
            item.kind = Item::data_barrier;
        } else if (cores_ == 2 && choice <= 11) {
            item.id = static_cast<unsigned>(below(2));
            int& sent = sent_[{core, item.id}];
            if (sent > 0 && below(4) != 0) {
                item.kind = Item::core_wait;
                --sent;
            } else {
                item.kind = Item::core_set;
                ++sent_[{1 - core, item.id}];
            }
        } else {
            item.to = pipe_of(core);
            item.id = static_cast<unsigned>(below(2));
            if (item.to == item.pipe) return;
            const std::tuple key{core, item.pipe, item.to, item.id};
            item.kind = up_.contains(key) ? Item::wait : Item::set;
            if (item.kind == Item::set) {
                up_.insert(key);
            } else {
                up_.erase(key);
            }
            // Mostly both at once, since flags that are never waited for order nothing.
            if (item.kind == Item::set && below(3) != 0) {
                program.items.push_back(item);
                item.kind = Item::wait;
                up_.erase(key);
            }
        }
        program.items.push_back(item);
    }

    std::mt19937_64 random_;
    unsigned cores_;
    std::array<std::vector<unsigned>, 2> pipes_;
    std::map<std::tuple<unsigned, std::uint32_t, bool>, Range> last_;
    std::set<std::tuple<unsigned, unsigned, unsigned, unsigned>> up_;
    std::map<std::tuple<unsigned, unsigned>, int> sent_;
};

// ---- both compared
// -----------------------------------------------------------------------------------------------------

struct Checked {
    std::vector<Finding> findings;
    // By core and number of its instructions.
    std::map<std::pair<std::string, std::uint64_t>, std::size_t> items;
};

Checked check(const Program& program, unsigned cores, std::optional<std::uint64_t> without = std::nullopt) {
    CheckOptions options = only_races();
    options.without = without;
    MadeUpLaunch launch(1, program.architecture, options, 1, cores - 1);
    std::vector<MadeUpCore> made;
    if (cores == 2) made.push_back(launch.cube());
    made.push_back(launch.core());
    Checked checked;
    std::array<std::uint64_t, 2> numbers{};
    for (std::size_t i = 0; i < program.items.size(); ++i) {
        const Item& item = program.items[i];
        const MadeUpCore& core = made[item.core];
        const auto pipe = static_cast<std::uint8_t>(item.pipe);
        switch (item.kind) {
            case Item::instruction: {
                std::vector<CanopyCheckAccess> accesses;
                for (const Range& range : item.ranges) {
                    const std::uint8_t kind = range.write ? CANOPY_CHECK_WRITE : CANOPY_CHECK_READ;
                    CanopyCheckAccess access =
                        program.global
                            ? access_of(kind, CANOPY_MEMORY_GLOBAL, global_base + range.begin, range.end - range.begin)
                            : access_of(kind, CANOPY_MEMORY_UB, ub_base + range.begin, range.end - range.begin);
                    access.pieces = range.rows;
                    access.step = range.stride;
                    accesses.push_back(access);
                }
                const std::string name = cores == 2 && item.core == 0 ? "aic(0)" : "aiv(0)";
                checked.items[{name, ++numbers[item.core]}] = i;
                core.does(pipe, item.line, accesses);
                break;
            }
            case Item::set:
                core.sets(item.pipe, item.to, static_cast<std::int32_t>(item.id));
                break;
            case Item::wait:
                core.waits(item.pipe, item.to, static_cast<std::int32_t>(item.id));
                break;
            case Item::barrier:
                core.barrier(item.pipe);
                break;
            case Item::data_barrier:
                (*core).data_barrier(0, at_line(900));
                break;
            case Item::core_set:
                core.sets_core_flag(2, item.pipe, item.id);
                break;
            case Item::core_wait:
                core.waits_core_flag(2, item.id, item.pipe);
                break;
        }
    }
    launch.end();
    checked.findings = std::move(launch.sink.findings);
    return checked;
}

bool touches(const Item& item, bool write, std::uint64_t byte) {
    bool touched = false;
    for (const Range& range : item.ranges)
        if (range.write == write) range.each_byte([&](std::uint32_t at) { touched |= at == byte; });
    return touched;
}

// Whether the two accesses of a finding may happen the other way round.
bool may_turn(const Program& program, const Chip& chip, const Checked& checked, const Finding& finding) {
    std::array<std::size_t, 2> items{}, events{};
    std::array<bool, 2> writes{};
    for (std::size_t i = 0; i < 2; ++i) {
        const Place& place = finding.places[i];
        items[i] = checked.items.at({place.core, place.number});
        writes[i] = place.access == "write";
        events[i] = writes[i] ? chip.end(items[i]) : chip.start(items[i]);
        const std::uint64_t byte = place.address - (program.global ? global_base : 0);
        if (!touches(program.items[items[i]], writes[i], byte)) return false;
    }
    return !chip.ordered(events[0], events[1]);
}

bool some_order_differs(const Chip& chip, std::mt19937_64& random) {
    std::vector<std::size_t> order(chip.events().size());
    for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
    const std::vector<std::uint64_t> expected = chip.run(order);
    for (std::size_t late = 0; late < order.size(); ++late)
        if (chip.events()[late].kind != Chip::Event::other && chip.run(chip.order_with_late(late)) != expected)
            return true;
    for (int i = 0; i < 3; ++i)
        if (chip.run(chip.random_order(random)) != expected) return true;
    return false;
}

std::string text_of(const Program& program) {
    std::string text = "chip " + std::to_string(program.architecture) + "\n";
    constexpr std::array kinds = {"instruction", "set", "wait", "barrier", "data_barrier", "core_set", "core_wait"};
    for (const Item& item : program.items) {
        text += std::to_string(item.core) + ": " + kinds[item.kind] + " pipe " + std::to_string(item.pipe) + " to " +
                std::to_string(item.to) + " id " + std::to_string(item.id) + " line " + std::to_string(item.line);
        for (const Range& range : item.ranges)
            text += std::string(range.write ? " writes " : " reads ") + std::to_string(range.begin) + ".." +
                    std::to_string(range.end) + " x" + std::to_string(range.rows) + " by " +
                    std::to_string(range.stride);
        text += "\n";
    }
    return text;
}

std::uint64_t programs() {
    const char* text = std::getenv("CANOPY_SEEDS");
    return text == nullptr ? 1500 : std::strtoull(text, nullptr, 10);
}

void compare(unsigned cores) {
    std::uint64_t found = 0, differed = 0;
    for (std::uint64_t seed = 1; seed <= programs(); ++seed) {
        const Program program = Maker(seed, cores).make();
        const Chip chip(program);
        ASSERT_LE(chip.events().size(), most_events);
        const Checked checked = check(program, cores);
        std::mt19937_64 random(seed);
        const bool differs = some_order_differs(chip, random);
        ASSERT_TRUE(!differs || !checked.findings.empty()) << "seed " << seed << ": not found\n" << text_of(program);
        for (const Finding& finding : checked.findings)
            ASSERT_TRUE(may_turn(program, chip, checked, finding))
                << "seed " << seed << ": " << finding.id << " " << finding.kind << " " << finding.places[0].core << " "
                << finding.places[0].number << ", " << finding.places[1].core << " " << finding.places[1].number << "\n"
                << text_of(program);
        found += checked.findings.empty() ? 0 : 1;
        differed += differs ? 1 : 0;
    }
    // Programs of both kinds, or the test says little.
    EXPECT_GT(found, programs() / 10);
    EXPECT_LT(found, programs() * 9 / 10);
    std::printf("%llu programs: findings in %llu, %llu with an order that differs\n",
                static_cast<unsigned long long>(programs()), static_cast<unsigned long long>(found),
                static_cast<unsigned long long>(differed));
}

bool may_be_left_out(const Item& item) {
    return item.kind == Item::set || item.kind == Item::barrier || item.kind == Item::data_barrier ||
           item.kind == Item::core_set;
}

// In programs that are right, each flag and barrier is taken out of the clocks: there is a finding, or the program is
// right without it.
void leave_out(unsigned cores) {
    std::uint64_t right = 0, events = 0, found = 0;
    for (std::uint64_t seed = 1; seed <= programs(); ++seed) {
        const Program program = Maker(seed, cores).make();
        if (!check(program, cores).findings.empty()) continue;
        ++right;
        std::array<std::uint64_t, 2> counts{};
        for (std::size_t i = 0; i < program.items.size(); ++i) {
            const Item& item = program.items[i];
            if (!may_be_left_out(item)) continue;
            ++events;
            const Checked checked = check(program, cores, counts[item.core]++ * cores + item.core);
            const Chip chip(program, i);
            std::mt19937_64 random(seed);
            const bool differs = some_order_differs(chip, random);
            ASSERT_TRUE(!differs || !checked.findings.empty()) << "seed " << seed << " without " << i << "\n"
                                                               << text_of(program);
            for (const Finding& finding : checked.findings)
                ASSERT_TRUE(may_turn(program, chip, checked, finding)) << "seed " << seed << " without " << i << "\n"
                                                                       << text_of(program);
            found += checked.findings.empty() ? 0 : 1;
        }
    }
    EXPECT_GT(found, 0U);
    std::printf("%llu right programs, %llu flags and barriers: %llu found, %llu redundant\n",
                static_cast<unsigned long long>(right), static_cast<unsigned long long>(events),
                static_cast<unsigned long long>(found), static_cast<unsigned long long>(events - found));
}

TEST(Oracle, FlagsLeftOutInACore) { leave_out(1); }
TEST(Oracle, FlagsLeftOutBetweenCores) { leave_out(2); }
TEST(Oracle, PipesOfACore) { compare(1); }
TEST(Oracle, TwoCoresAndGlobalMemory) { compare(2); }

}  // namespace
}  // namespace canopy::check
