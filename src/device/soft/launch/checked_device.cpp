// SPDX-License-Identifier: Apache-2.0
#include "device/soft/launch/checked_device.h"

#include <cstring>
#include <iterator>
#include <utility>

namespace canopy {

namespace {

// Larger allocations, whose pages would all be taken, count as written.
constexpr std::uint64_t most_filled = std::uint64_t{64} << 20;

}  // namespace

void CheckedDevice::allocated(std::uint64_t address, std::uint64_t size) {
    if (launch_checker.options().classes.init && size <= most_filled) {
        std::memset(reinterpret_cast<void*>(address), check::fresh_byte, size);
        written_.allocated(address, size);
    }
    MutexLock lock(mutex_);
    // What was freed there is forgotten.
    auto next = known_.lower_bound(address);
    if (next != known_.begin()) {
        const auto before = std::prev(next);
        if (before->first + before->second.size > address) known_.erase(before);
    }
    while (next != known_.end() && next->first < address + size) next = known_.erase(next);
    known_[address] = {size, ++last_serial_, false, {}};
}

void CheckedDevice::freed(std::uint64_t address) {
    std::string origin = launch_checker.origin(index, address);
    MutexLock lock(mutex_);
    const auto found = known_.find(address);
    if (found == known_.end()) return;
    written_.freed(address, found->second.size);
    found->second.freed = true;
    if (!origin.empty()) found->second.origin = std::move(origin);
}

std::optional<check::AllocationFacts> CheckedDevice::allocation(std::uint64_t address) const {
    if (!heap_.contains(reinterpret_cast<const void*>(address))) return elsewhere(address);
    check::AllocationFacts facts;
    {
        MutexLock lock(mutex_);
        auto found = known_.upper_bound(address);
        if (found == known_.begin()) return std::nullopt;
        --found;
        const Known& known = found->second;
        if (address - found->first >= known.size) return std::nullopt;
        facts = {found->first, known.size, known.serial, known.freed, known.origin};
    }
    if (!facts.origin.empty() || facts.freed) return facts;
    facts.origin = launch_checker.origin(index, facts.address);
    MutexLock lock(mutex_);
    const auto found = known_.find(facts.address);
    if (found != known_.end() && found->second.serial == facts.serial) found->second.origin = facts.origin;
    return facts;
}

check::AllocationFacts CheckedDevice::elsewhere(std::uint64_t address) const {
    if (const auto mapped = virtual_memory_.find(DeviceAddress(address)))
        return {mapped->range.base.value(), mapped->range.size, 0, false, {}};
    if (const auto imported = imports_.find(DeviceAddress(address)))
        return {imported->base.value(), imported->size, 0, false, {}};
    const auto begin = reinterpret_cast<std::uint64_t>(heap_.range().base);
    const std::uint64_t end = begin + heap_.range().size;
    if (address < begin) return {0, begin, 0, false, {}};
    return {end, UINT64_MAX - end, 0, false, {}};
}

}  // namespace canopy
