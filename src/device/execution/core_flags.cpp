// SPDX-License-Identifier: Apache-2.0
#include "device/execution/core_flags.h"

#include <cstring>
#include <utility>

namespace canopy {

void ParkedCores::push(ParkedCore* core) noexcept {
    core->next = nullptr;
    (last_ ? last_->next : first_) = core;
    last_ = core;
    ++count_;
}

ParkedCore* ParkedCores::pop() noexcept {
    ParkedCore* core = first_;
    if (!core) return nullptr;
    first_ = core->next;
    if (!first_) last_ = nullptr;
    --count_;
    return core;
}

void ParkedCores::append(ParkedCores& other) noexcept {
    if (other.empty()) return;
    (last_ ? last_->next : first_) = other.first_;
    last_ = other.last_;
    count_ += other.count_;
    other = {};
}

bool flag_exists(bool cube, std::uint32_t mode, std::uint32_t id) noexcept {
    if (mode > 2 && mode != 4) return false;
    return id < 16 || (mode == 4 && cube && id < 32);
}

bool CoreFlags::begin(CoreGroup group, std::uint32_t groups) noexcept {
    group_ = group;
    groups_ = groups;
    std::memset(ready_, 0, sizeof ready_);
    try {
        cores_.assign(std::size_t{groups} * group.size(), Core{});
    } catch (...) {
        return false;
    }
    return true;
}

// Counts one for the target: releases its core if that waits for this counter, else increments the counter.
bool CoreFlags::count(Core& target, std::uint32_t counter, ParkedCores& released) noexcept {
    if (target.waiting) {
        const CoreWait& wait = target.waiting->wait;
        if (wait.kind == WaitKind::flag && counter_of(wait.mode, wait.id) == counter) {
            released.push(std::exchange(target.waiting, nullptr));
            return true;
        }
    }
    if (target.counter[counter] == CANOPY_FLAG_LIMIT) return false;
    ++target.counter[counter];
    return true;
}

bool CoreFlags::set(std::uint32_t core, std::uint32_t mode, std::uint32_t id, ParkedCores& released) noexcept {
    const bool cube = is_cube(core);
    switch (mode) {
        case 0:
            return set_for_all(core, id, released);
        case 1:
            return set_in_group(core, 1, id, cube ? cubes() : vectors(), cube ? cubes() : vectors(), released);
        case 2:
            return cube ? set_in_group(core, 2, id, {core % group_.size(), 1}, vectors(), released)
                        : set_in_group(core, 2, id, vectors(), cubes(), released);
        default:
            return set_direct(core, id, released);
    }
}

bool CoreFlags::set_for_all(std::uint32_t core, std::uint32_t id, ParkedCores& released) noexcept {
    const bool cube = is_cube(core);
    const Kind kind = cube ? cubes() : vectors();
    std::uint32_t& ready = ready_[cube ? 0 : 1][id];
    std::uint8_t& own = cores_[core].pending[0][id];
    if (own == CANOPY_FLAG_LIMIT) return false;
    if (own++ == 0) ++ready;
    if (ready < groups_ * kind.count) return true;
    bool room = true;
    for (std::uint32_t group = 0; group < groups_; ++group) {
        for (std::uint32_t position = kind.first; position < kind.first + kind.count; ++position) {
            Core& member = cores_[group * group_.size() + position];
            if (--member.pending[0][id] == 0) --ready;
            room = count(member, id, released) && room;
        }
    }
    return room;
}

bool CoreFlags::set_in_group(std::uint32_t core, std::uint32_t mode, std::uint32_t id, Kind setters, Kind targets,
                             ParkedCores& released) noexcept {
    Core* group = &cores_[core / group_.size() * group_.size()];
    std::uint8_t& own = cores_[core].pending[mode][id];
    if (own == CANOPY_FLAG_LIMIT) return false;
    ++own;
    for (std::uint32_t position = setters.first; position < setters.first + setters.count; ++position)
        if (group[position].pending[mode][id] == 0) return true;
    for (std::uint32_t position = setters.first; position < setters.first + setters.count; ++position)
        --group[position].pending[mode][id];
    bool room = true;
    for (std::uint32_t position = targets.first; position < targets.first + targets.count; ++position)
        room = count(group[position], id, released) && room;
    return room;
}

// Between the cube core of a group and one of its vector cores.
bool CoreFlags::set_direct(std::uint32_t core, std::uint32_t id, ParkedCores& released) noexcept {
    Core* group = &cores_[core / group_.size() * group_.size()];
    if (is_cube(core)) {
        const std::uint32_t which = id / 16;
        return which >= group_.vector || count(group[group_.cube + which], direct + id % 16, released);
    }
    const std::uint32_t which = core % group_.size() - group_.cube;
    return group_.cube == 0 || which > 1 || count(group[0], direct + which * 16 + id, released);
}

bool CoreFlags::take(std::uint32_t core, std::uint32_t mode, std::uint32_t id) noexcept {
    std::uint8_t& counter = cores_[core].counter[counter_of(mode, id)];
    if (counter == 0) return false;
    --counter;
    return true;
}

void CoreFlags::wait(std::uint32_t core, ParkedCore* parked, ParkedCores& released) noexcept {
    if (parked->wait.kind == WaitKind::flag) {
        if (take(core, parked->wait.mode, parked->wait.id))
            released.push(parked);
        else
            cores_[core].waiting = parked;
        return;
    }
    // The barrier of a group's vector cores.
    cores_[core].waiting = parked;
    Core* group = &cores_[core / group_.size() * group_.size()];
    for (std::uint32_t position = group_.cube; position < group_.size(); ++position) {
        const ParkedCore* other = group[position].waiting;
        if (!other || other->wait.kind != WaitKind::meeting) return;
    }
    for (std::uint32_t position = group_.cube; position < group_.size(); ++position)
        released.push(std::exchange(group[position].waiting, nullptr));
}

ParkedCore* CoreFlags::first_waiting() const noexcept {
    for (const Core& core : cores_)
        if (core.waiting) return core.waiting;
    return nullptr;
}

std::uint32_t CoreFlags::waiting() const noexcept {
    std::uint32_t count = 0;
    for (const Core& core : cores_) count += core.waiting != nullptr ? 1 : 0;
    return count;
}

ParkedCores CoreFlags::take_waiting() noexcept {
    ParkedCores waiting;
    for (Core& core : cores_)
        if (core.waiting) waiting.push(std::exchange(core.waiting, nullptr));
    return waiting;
}

}  // namespace canopy
