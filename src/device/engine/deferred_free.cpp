// SPDX-License-Identifier: Apache-2.0
#include "device/engine/deferred_free.h"

#include "base/error_text.h"

namespace canopy {
namespace {

// Checking every stream costs more than freeing, so it is done once per this many frees.
constexpr std::size_t check_interval = 16;

}  // namespace

Status DeferredFree::add(DeviceAddress address) {
    bool check = false;
    {
        MutexLock guard(mutex_);
        young_.reserve(young_.size() + 1);
        if (!known_.insert(address).second) return fail(107000, "address {} was already freed", address);
        young_.push_back(address);
        check = (count_.fetch_add(1, std::memory_order_relaxed) + 1) % check_interval == 0;
    }
    if (check) release_passed();
    return {};
}

void DeferredFree::free_all(std::vector<DeviceAddress>& addresses) noexcept {
    for (DeviceAddress address : addresses) {
        known_.erase(address);
        driver_.release(address).ignore();
    }
    count_.fetch_sub(addresses.size(), std::memory_order_relaxed);
    addresses.clear();
}

void DeferredFree::release_passed() noexcept {
    MutexLock guard(mutex_);
    if (scheduler_.unfinished(old_work_) != 0) return;
    free_all(old_);
    old_work_.entries.clear();
    if (young_.empty()) return;
    try {
        old_work_ = scheduler_.backlog();
    } catch (...) {
        return;  // they stay young until there is memory to record the work they wait for
    }
    old_.swap(young_);
    if (scheduler_.unfinished(old_work_) == 0) free_all(old_);
}

}  // namespace canopy
