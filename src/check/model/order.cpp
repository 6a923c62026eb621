// SPDX-License-Identifier: Apache-2.0
#include "check/model/order.h"

#include <algorithm>

namespace canopy::check {

namespace {

void raise(Numbers& to, const Numbers& from) {
    for (unsigned i = 0; i < entry_count; ++i) to[i] = std::max(to[i], from[i]);
}

bool covers(const Numbers& a, const Numbers& b) {
    for (unsigned i = 0; i < entry_count; ++i)
        if (a[i] < b[i]) return false;
    return true;
}

bool covers(const std::vector<KnownCore>& a, const std::vector<KnownCore>& b) {
    auto at = a.begin();
    for (const KnownCore& other : b) {
        while (at != a.end() && at->core < other.core) ++at;
        if (at == a.end() || at->core != other.core || !covers(at->numbers, other.numbers)) return false;
    }
    return true;
}

const KnownCore* entry_of(const KnownCores& known, std::uint32_t core) {
    if (known == nullptr) return nullptr;
    const auto at = std::lower_bound(known->begin(), known->end(), core,
                                     [](const KnownCore& entry, std::uint32_t wanted) { return entry.core < wanted; });
    return at == known->end() || at->core != core ? nullptr : &*at;
}

std::uint64_t mix(std::uint64_t key) {
    key *= 0x9E3779B97F4A7C15U;
    return key ^ (key >> 29);
}

}  // namespace

KnownCores join(const KnownCores& a, const KnownCores& b) {
    if (a == b || b == nullptr) return a;
    if (a == nullptr) return b;
    if (covers(*a, *b)) return a;
    if (covers(*b, *a)) return b;
    auto joined = std::make_shared<std::vector<KnownCore>>();
    joined->reserve(a->size() + b->size());
    auto left = a->begin(), right = b->begin();
    while (left != a->end() || right != b->end()) {
        if (right == b->end() || (left != a->end() && left->core < right->core)) {
            joined->push_back(*left++);
        } else if (left == a->end() || right->core < left->core) {
            joined->push_back(*right++);
        } else {
            joined->push_back(*left++);
            raise(joined->back().numbers, right++->numbers);
        }
    }
    return joined;
}

Number find(const KnownCores& known, std::uint32_t core, unsigned entry) {
    const KnownCore* found = entry_of(known, core);
    return found == nullptr ? 0 : found->numbers[entry];
}

bool has_heard_of(const KnownCores& known, std::uint32_t core) { return entry_of(known, core) != nullptr; }

Clock Order::done(unsigned pipe) {
    catch_up(pipe);
    Clock clock = known_[pipe];
    clock.own[pipe] = last_[pipe];
    if (pipe == CANOPY_CHECK_S) clock.own[scalar_on_global] = last_[pipe];
    return clock;
}

Clock Order::all_done() {
    Clock clock = done(0);
    for (unsigned pipe = 1; pipe < CANOPY_CHECK_PIPES; ++pipe) {
        const Clock more = done(pipe);
        raise(clock.own, more.own);
        clock.others = join(clock.others, more.others);
    }
    return clock;
}

void Order::join_to(unsigned pipe, const Clock& clock) {
    raise(known_[pipe].own, clock.own);
    known_[pipe].others = join(known_[pipe].others, clock.others);
    if (pipe == CANOPY_CHECK_S) ++scalar_version_;
}

// Linear probing; keys are never removed, since programs use few.
Order::Token* Order::find_token(std::uint64_t key) {
    if (tokens_.empty()) return nullptr;
    for (std::size_t at = mix(key) & (tokens_.size() - 1);; at = (at + 1) & (tokens_.size() - 1)) {
        if (tokens_[at].key == key + 1) return &tokens_[at];
        if (tokens_[at].key == 0) return nullptr;
    }
}

Order::Token& Order::token(std::uint64_t key) {
    if (Token* found = find_token(key)) return *found;
    if (token_count_ * 2 >= tokens_.size()) {
        std::vector<Token> old(std::max<std::size_t>(64, tokens_.size() * 2));
        old.swap(tokens_);
        token_count_ = 0;
        for (Token& known : old)
            if (known.key != 0 && known.present) token(known.key - 1) = std::move(known);
    }
    std::size_t at = mix(key) & (tokens_.size() - 1);
    while (tokens_[at].key != 0) at = (at + 1) & (tokens_.size() - 1);
    tokens_[at].key = key + 1;
    ++token_count_;
    return tokens_[at];
}

void Order::put(std::uint64_t key, unsigned from, const CanopyCheckSite&) {
    Token& put = token(key);
    put.clock = left_out() ? Clock{} : done(from);
    put.from = from;
    put.present = true;
}

bool Order::take(std::uint64_t key, unsigned to, const CanopyCheckSite& site) {
    Token* taken = find_token(key);
    if (taken == nullptr || !taken->present) return false;
    taken->present = false;
    join_to(to, taken->clock);
    taken->clock.others.reset();
    waited_[to][taken->from] = site;
    return true;
}

void Order::drop(std::uint64_t key) {
    if (Token* dropped = find_token(key)) dropped->present = false;
}

void Order::barrier(unsigned pipe, const CanopyCheckSite& site) {
    if (left_out()) return;
    if (pipe < CANOPY_CHECK_PIPES) {
        known_[pipe].own[pipe] = last_[pipe];
        waited_[pipe][pipe] = site;
        return;
    }
    const Clock all = all_done();
    for (unsigned each = 0; each < CANOPY_CHECK_PIPES; ++each) {
        known_[each] = all;
        waited_[each].fill(site);
    }
    ++scalar_version_;
    seen_.fill(scalar_version_);
}

void Order::data_barrier(unsigned kind, const CanopyCheckSite& site) {
    if (left_out()) return;
    Numbers& own = known_[CANOPY_CHECK_S].own;
    if (kind != 1) own[CANOPY_CHECK_S] = last_[CANOPY_CHECK_S];
    if (kind != 2) own[scalar_on_global] = last_[CANOPY_CHECK_S];
    ++scalar_version_;
    for (auto& waits : waited_) waits[CANOPY_CHECK_S] = site;
}

void Order::order(unsigned from, unsigned to, const CanopyCheckSite& site) {
    if (from >= CANOPY_CHECK_PIPES && to >= CANOPY_CHECK_PIPES) {
        barrier(CANOPY_CHECK_ALL, site);
        return;
    }
    if (left_out()) return;
    const Clock clock = from < CANOPY_CHECK_PIPES ? done(from) : all_done();
    for (unsigned pipe = 0; pipe < CANOPY_CHECK_PIPES; ++pipe) {
        if (to < CANOPY_CHECK_PIPES && to != pipe) continue;
        join_to(pipe, clock);
        for (unsigned sender = 0; sender < CANOPY_CHECK_PIPES; ++sender)
            if (from == sender || from >= CANOPY_CHECK_PIPES) waited_[pipe][sender] = site;
    }
}

// Two locks by one pipe order nothing, so a pipe learns only what others knew when they gave the mutex back.
void Order::lock(unsigned pipe, std::uint32_t id, const CanopyCheckSite& site) {
    if (id >= mutexes_.size()) return;
    for (unsigned from = 0; from < CANOPY_CHECK_PIPES; ++from) {
        if (from == pipe || mutexes_[id][from].own[from] == 0) continue;
        join_to(pipe, mutexes_[id][from]);
        waited_[pipe][from] = site;
    }
}

void Order::unlock(unsigned pipe, std::uint32_t id, const CanopyCheckSite&) {
    if (left_out()) return;
    if (id >= mutexes_.size()) mutexes_.resize(id + 1);
    mutexes_[id][pipe] = done(pipe);
}

KnownCores Order::send(unsigned pipe) {
    ++exchanges_;
    if (left_out()) return nullptr;
    const Clock clock = pipe < CANOPY_CHECK_PIPES ? done(pipe) : all_done();
    auto own = std::make_shared<std::vector<KnownCore>>();
    own->push_back({core_, clock.own});
    return join(clock.others, own);
}

void Order::receive(unsigned pipe, const KnownCores& known) {
    ++exchanges_;
    if (known == nullptr) return;
    Clock clock{{}, known};
    if (const KnownCore* own = entry_of(known, core_)) clock.own = own->numbers;
    for (unsigned each = 0; each < CANOPY_CHECK_PIPES; ++each)
        if (pipe == each || pipe >= CANOPY_CHECK_PIPES) join_to(each, clock);
}

void Order::add_edge(unsigned from, Number number, unsigned to) {
    Clock clock = known_[from];
    clock.own[from] = std::max(clock.own[from], number);
    if (from == CANOPY_CHECK_S) clock.own[scalar_on_global] = std::max(clock.own[scalar_on_global], number);
    join_to(to, clock);
}

}  // namespace canopy::check
