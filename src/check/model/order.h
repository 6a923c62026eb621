// SPDX-License-Identifier: Apache-2.0
// The order of one core: for each of its pipes, which instructions are complete before the pipe starts its next one.
// Keeps clocks and tokens; which flags belong together, and which misuse they are, is for others to say. Used by one
// thread at a time.
#pragma once

#include <canopy/kernel_check.h>

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

namespace canopy::check {

using Number = std::uint64_t;  // of an instruction in its core: 1, 2, ... in the order of the program

// A clock has an entry for each pipe, and one more for accesses of the scalar unit to global memory, since a barrier of
// the language waits for these alone.
constexpr unsigned scalar_on_global = CANOPY_CHECK_PIPES;
constexpr unsigned entry_count = CANOPY_CHECK_PIPES + 1;
using Numbers = std::array<Number, entry_count>;

// What is known of instructions of several cores, sorted by core. Never changed once made; null: nothing.
struct KnownCore {
    std::uint32_t core = 0;
    Numbers numbers{};
};
using KnownCores = std::shared_ptr<const std::vector<KnownCore>>;

KnownCores join(const KnownCores& a, const KnownCores& b);
// The last instruction of a core and entry that is known to be complete.
Number find(const KnownCores& known, std::uint32_t core, unsigned entry);
// Whether anything was heard of a core.
bool has_heard_of(const KnownCores& known, std::uint32_t core);

struct Clock {
    Numbers own{};      // of the core itself
    KnownCores others;  // of other cores, and of this one as others heard of it
};

class Order {
public:
    // `core` counts the cores of the launch, `cores` says how many there are. `without`: see CheckOptions.
    Order(std::uint32_t core, std::uint32_t cores, std::optional<std::uint64_t> without = std::nullopt)
        : core_(core), cores_(cores), without_(without) {}

    // The next instruction, for that pipe.
    Number hand_out(unsigned pipe) {
        catch_up(pipe);
        last_[pipe] = ++number_;
        return number_;
    }

    // Flags and the like. `key` is the caller's. A token replaces an older one of its key.
    void put(std::uint64_t key, unsigned from, const CanopyCheckSite& site);
    // The token is gone afterwards. False: there was none.
    bool take(std::uint64_t key, unsigned to, const CanopyCheckSite& site);
    void drop(std::uint64_t key);

    // Hardware keeps what the pipe gets next behind what it has.
    void stay_in_order(unsigned pipe) { known_[pipe].own[pipe] = last_[pipe]; }
    void barrier(unsigned pipe, const CanopyCheckSite& site);  // or CANOPY_CHECK_ALL
    // `kind` as the language numbers it: 0 all, 1 global memory, 2 UB.
    void data_barrier(unsigned kind, const CanopyCheckSite& site);
    // What was given to `from` is complete before `to` starts what comes next; either may be CANOPY_CHECK_ALL.
    void order(unsigned from, unsigned to, const CanopyCheckSite& site);
    void lock(unsigned pipe, std::uint32_t id, const CanopyCheckSite& site);
    void unlock(unsigned pipe, std::uint32_t id, const CanopyCheckSite& site);

    // What a pipe, or all of them, sends to other cores; and what it receives.
    [[nodiscard]] KnownCores send(unsigned pipe);
    void receive(unsigned pipe, const KnownCores& known);
    // An order that a compiler adds: instruction `number` of `from` is complete before `to` goes on.
    void add_edge(unsigned from, Number number, unsigned to);
    // What may be taken out of the clocks is counted; true for the one that is.
    bool left_out() {
        const std::uint64_t event = events_++ * cores_ + core_;
        return without_ && *without_ == event;
    }

    // `entry` and `pipe` of this core: is that instruction complete before the pipe starts its next one?
    [[nodiscard]] bool complete(unsigned entry, Number number, unsigned pipe) const {
        return number <= known_[pipe].own[entry];
    }
    [[nodiscard]] const Clock& known(unsigned pipe) const { return known_[pipe]; }
    // The same, for a pipe that has not been given its next instruction yet.
    [[nodiscard]] const Clock& next(unsigned pipe) {
        catch_up(pipe);
        return known_[pipe];
    }
    // How often the core has sent to others or received from them.
    [[nodiscard]] std::uint64_t exchanges() const { return exchanges_; }
    [[nodiscard]] Number last(unsigned pipe) const { return last_[pipe]; }
    [[nodiscard]] Number number() const { return number_; }
    // Where `pipe` last waited for `from`; null: it has not.
    [[nodiscard]] const CanopyCheckSite* waited(unsigned pipe, unsigned from) const {
        return waited_[pipe][from].line == 0 && waited_[pipe][from].file == nullptr ? nullptr : &waited_[pipe][from];
    }
    // How many events may be left out, as `without` counts them.
    [[nodiscard]] std::uint64_t events() const { return events_ == 0 ? 0 : (events_ - 1) * cores_ + core_ + 1; }

private:
    struct Token {
        std::uint64_t key = 0;  // one more than the caller's; 0: the place is free
        Clock clock;
        unsigned from = 0;
        bool present = false;
    };

    Clock done(unsigned pipe);
    Clock all_done();
    void join_to(unsigned pipe, const Clock& clock);
    // What a pipe is given comes behind what the scalar unit has waited for.
    void catch_up(unsigned pipe) {
        if (pipe == CANOPY_CHECK_S || seen_[pipe] == scalar_version_) return;
        join_to(pipe, known_[CANOPY_CHECK_S]);
        seen_[pipe] = scalar_version_;
    }
    Token* find_token(std::uint64_t key);
    Token& token(std::uint64_t key);

    std::uint32_t core_, cores_;
    std::optional<std::uint64_t> without_;
    std::uint64_t events_ = 0;
    std::uint64_t exchanges_ = 0;
    Number number_ = 0;
    std::array<Number, CANOPY_CHECK_PIPES> last_{};
    std::array<Clock, CANOPY_CHECK_PIPES> known_;
    // known_[CANOPY_CHECK_S] as the other pipes have seen it.
    std::uint64_t scalar_version_ = 0;
    std::array<std::uint64_t, CANOPY_CHECK_PIPES> seen_{};
    std::vector<Token> tokens_;  // a hash table; keys stay
    std::size_t token_count_ = 0;
    // By mutex, and by the pipe that gave it back.
    std::vector<std::array<Clock, CANOPY_CHECK_PIPES>> mutexes_;
    std::array<std::array<CanopyCheckSite, CANOPY_CHECK_PIPES>, CANOPY_CHECK_PIPES> waited_{};
};

}  // namespace canopy::check
