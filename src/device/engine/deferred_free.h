// SPDX-License-Identifier: Apache-2.0
// DeferredFree: device memory that was freed while running work could still use it. It is freed once all
// work that could run at that time has finished. There are two generations: when the work the older one waits for has
// finished, it is freed and the younger one takes its place, so memory is released even on a device that is never idle.
// Any thread.
#pragma once

#include <atomic>
#include <cstddef>
#include <unordered_set>
#include <vector>

#include "base/result.h"
#include "device/engine/stream/scheduler.h"
#include "foundation/mutex.h"

namespace canopy {

class DeferredFree {
public:
    DeferredFree(Driver& driver, Scheduler& scheduler) : driver_(driver), scheduler_(scheduler) {}

    // Fails with 107000 if the address is already in here: a double free.
    Status add(DeviceAddress address);
    // Frees the memory that no work can use any longer.
    void release_passed() noexcept;
    [[nodiscard]] bool empty() const noexcept { return count_.load(std::memory_order_relaxed) == 0; }

private:
    void free_all(std::vector<DeviceAddress>& addresses) noexcept CANOPY_REQUIRES(mutex_);

    Driver& driver_;
    Scheduler& scheduler_;
    Mutex mutex_;  // held while the driver takes memory back
    std::unordered_set<DeviceAddress> known_ CANOPY_GUARDED_BY(mutex_);
    std::vector<DeviceAddress> young_ CANOPY_GUARDED_BY(mutex_);
    std::vector<DeviceAddress> old_ CANOPY_GUARDED_BY(mutex_);
    Scheduler::Backlog old_work_ CANOPY_GUARDED_BY(mutex_);  // that the older generation waits for
    std::atomic<std::size_t> count_{0};
};

}  // namespace canopy
