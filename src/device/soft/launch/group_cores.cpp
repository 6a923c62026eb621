// SPDX-License-Identifier: Apache-2.0
#include "device/soft/launch/group_cores.h"

#include <span>
#include <utility>

namespace canopy {
namespace {

// A core for which there is no memory to note it is freed.
void hand_over(std::unique_ptr<SoftCore>& core, SpareCores& spare) noexcept {
    if (!core) return;
    try {
        spare.push_back(std::move(core));
    } catch (...) {
        core.reset();
    }
}

}  // namespace

bool GroupCores::begin(CoreGroup group, std::uint32_t groups) noexcept {
    size_ = group.size();
    try {
        members_.resize(std::size_t{groups} * size_);
    } catch (...) {
        return false;
    }
    return true;
}

void GroupCores::end(SpareCores& spare) noexcept {
    for (Member& member : members_) hand_over(member.kept, spare);
    members_.clear();
}

bool GroupCores::open(std::uint32_t number, std::unique_ptr<SoftCore>& own,
                      std::unique_ptr<SoftCore>& replaced) noexcept {
    Member& member = members_[number];
    const bool exchanged = member.kept != nullptr;
    if (exchanged) replaced = std::exchange(own, std::move(member.kept));
    member.open = own.get();
    return exchanged;
}

SoftCore* GroupCores::reach(std::uint32_t number, std::unique_ptr<SoftCore>& fresh) noexcept {
    Member& member = members_[number];
    if (!member.open && !member.kept) member.kept = std::move(fresh);
    member.reached = true;
    return member.open ? member.open : member.kept.get();
}

void GroupCores::leave(std::uint32_t number, std::unique_ptr<SoftCore>& own, SpareCores& spare) noexcept {
    Member& left = members_[number];
    const bool keep = left.open && left.reached;
    left.open = nullptr;
    left.ended = true;
    const std::span<Member> group(&members_[first_of(number)], size_);
    bool all = true;
    for (const Member& member : group) all = all && member.ended;
    if (!all) {
        if (keep) left.kept = std::move(own);
        return;
    }
    for (Member& member : group) hand_over(member.kept, spare);
}

}  // namespace canopy
