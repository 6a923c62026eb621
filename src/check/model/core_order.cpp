// SPDX-License-Identifier: Apache-2.0
#include "check/model/core_order.h"

#include <algorithm>
#include <utility>

namespace canopy::check {

namespace {

// Of a flag of a receiver. Mode 4 has counters of its own kind.
std::uint64_t counter_key(std::uint32_t core, std::uint32_t mode, std::uint32_t id) {
    return std::uint64_t{core} << 8 | std::uint64_t{mode == 4} << 7 | id;
}

}  // namespace

void CoreOrder::join_to(Sent& sum, const Sent& sent) {
    sum.known = join(sum.known, sent.known);
    sum.phase = std::max(sum.phase, sent.phase);
}

CoreOrder::Sent CoreOrder::sent_by(Core& core, std::uint32_t pipe) { return {core.order.send(pipe), core.phase}; }

void CoreOrder::receive(Core& core, std::uint32_t pipe, const Sent& sent) {
    core.order.receive(pipe, sent.known);
    core.phase = std::max(core.phase, sent.phase) + 1;
    core.phase_begin = core.order.number();
}

std::vector<std::uint32_t> CoreOrder::cores_of(std::uint32_t group, bool cube) const {
    const std::uint32_t first = group * launch_.cores_of_group() + (cube ? 0 : launch_.facts.cube_cores);
    std::vector<std::uint32_t> cores(cube ? launch_.facts.cube_cores : launch_.facts.vector_cores);
    for (std::uint32_t i = 0; i < cores.size(); ++i) cores[i] = first + i;
    return cores;
}

std::vector<std::uint32_t> CoreOrder::all_cores(bool cube) const {
    std::vector<std::uint32_t> all;
    for (std::uint32_t group = 0; group < launch_.facts.blocks; ++group) {
        const std::vector<std::uint32_t> cores = cores_of(group, cube);
        all.insert(all.end(), cores.begin(), cores.end());
    }
    return all;
}

void CoreOrder::gather(Core& core, std::uint64_t key, std::uint32_t senders, Sent sent,
                       const std::vector<std::uint32_t>& receivers, std::uint64_t flag) {
    Gathering& gathering = gatherings_[key];
    std::deque<Sent>& own = gathering.by_sender[core.index];
    if (own.empty()) ++gathering.waiting;
    own.push_back(std::move(sent));
    if (gathering.waiting < senders) return;
    Sent sum;
    for (auto& [sender, queue] : gathering.by_sender) {
        if (queue.empty()) continue;
        join_to(sum, queue.front());
        queue.pop_front();
        if (queue.empty()) --gathering.waiting;
    }
    for (const std::uint32_t receiver : receivers)
        counters_[counter_key(receiver, 0, static_cast<std::uint32_t>(flag))].push_back(sum);
}

void CoreOrder::set_flag(Core& core, std::uint32_t mode, std::uint32_t pipe, std::uint32_t id) {
    const Sent sent = sent_by(core, pipe);
    const std::uint32_t group = core.facts.block;
    const MutexLock lock(mutex_);
    const std::uint64_t key = std::uint64_t{group} << 16 | std::uint64_t{mode} << 8 | std::uint64_t{id} << 1;
    switch (mode) {
        case 0: {
            const std::vector<std::uint32_t> cores = all_cores(core.facts.cube);
            const std::uint64_t everywhere = std::uint64_t{id} << 1 | std::uint64_t{core.facts.cube};
            gather(core, everywhere, static_cast<std::uint32_t>(cores.size()), sent, cores, id);
            return;
        }
        case 1:
        case 2: {
            if (mode == 2 && core.facts.cube) {
                for (const std::uint32_t receiver : cores_of(group, false))
                    counters_[counter_key(receiver, mode, id)].push_back(sent);
                return;
            }
            gather(core, key, launch_.facts.vector_cores, sent, cores_of(group, mode == 2), id);
            return;
        }
        default: {
            std::uint32_t receiver = 0, flag = id;
            if (core.facts.cube) {
                receiver = group * launch_.cores_of_group() + launch_.facts.cube_cores + id / 16;
                flag = id % 16;
            } else {
                receiver = group * launch_.cores_of_group();
                flag = id + 16 * core.facts.sub_index;
            }
            counters_[counter_key(receiver, mode, flag)].push_back(sent);
        }
    }
}

void CoreOrder::wait_flag(Core& core, std::uint32_t mode, std::uint32_t pipe, std::uint32_t id) {
    Sent taken;
    {
        const MutexLock lock(mutex_);
        std::deque<Sent>& counter = counters_[counter_key(core.index, mode, id)];
        if (!counter.empty()) {
            taken = std::move(counter.front());
            counter.pop_front();
        }
    }
    // Chips before 3510 stop the scalar unit, whatever the pipe.
    receive(core, launch_.facts.architecture == 3510 ? pipe : std::uint32_t{CANOPY_CHECK_S}, taken);
}

std::uint64_t CoreOrder::meeting_key(const Core& core, std::uint32_t kind, std::uint32_t scope) const {
    const std::uint32_t group = scope == CANOPY_SYNC_PAIR ? core.facts.block + 1 : 0;
    return std::uint64_t{group} << 8 | std::uint64_t{kind} << 4 | scope;
}

std::uint32_t CoreOrder::members(std::uint32_t scope) const {
    const LaunchFacts& facts = launch_.facts;
    switch (scope) {
        case CANOPY_SYNC_VECTOR:
            return facts.blocks * facts.vector_cores;
        case CANOPY_SYNC_CUBE:
            return facts.blocks * facts.cube_cores;
        case CANOPY_SYNC_PAIR:
            return facts.vector_cores;
        default:
            return launch_.core_count();
    }
}

void CoreOrder::arrive(Core& core, std::uint32_t kind, std::uint32_t scope, std::uint32_t trigger) {
    const Sent sent = sent_by(core, trigger);
    const std::uint64_t key = meeting_key(core, kind, scope);
    const MutexLock lock(mutex_);
    const std::uint64_t turn = arrivals_[key << 24 | core.index]++;
    Meetings& meetings = meetings_[key];
    if (turn < meetings.first) return;
    if (meetings.open.size() <= turn - meetings.first) meetings.open.resize(turn - meetings.first + 1);
    join_to(meetings.open[turn - meetings.first].sum, sent);
}

void CoreOrder::leave(Core& core, std::uint32_t kind, std::uint32_t scope, std::uint32_t wait) {
    const std::uint64_t key = meeting_key(core, kind, scope);
    Sent sum;
    {
        const MutexLock lock(mutex_);
        const std::uint64_t turn = leavings_[key << 24 | core.index]++;
        Meetings& meetings = meetings_[key];
        if (turn >= meetings.first && turn - meetings.first < meetings.open.size()) {
            Meeting& meeting = meetings.open[turn - meetings.first];
            sum = meeting.sum;
            ++meeting.left;
        }
        while (!meetings.open.empty() && meetings.open.front().left >= members(scope)) {
            meetings.open.pop_front();
            ++meetings.first;
        }
    }
    receive(core, wait, sum);
}

void CoreOrder::publish(Core& core, std::uint64_t address) {
    const Sent sent = sent_by(core, CANOPY_CHECK_S);
    const MutexLock lock(mutex_);
    join_to(words_[address / signal_word_bytes], sent);
}

void CoreOrder::take(Core& core, std::uint64_t address) {
    Sent taken;
    {
        const MutexLock lock(mutex_);
        const auto found = words_.find(address / signal_word_bytes);
        if (found == words_.end()) return;
        taken = found->second;
    }
    receive(core, CANOPY_CHECK_S, taken);
}

bool CoreOrder::is_word(std::uint64_t address) {
    const MutexLock lock(mutex_);
    return words_.contains(address / signal_word_bytes);
}

}  // namespace canopy::check
