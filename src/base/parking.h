// SPDX-License-Identifier: Apache-2.0
// Parking: a thread sleeps until another one wakes it, or until a deadline. A waiter reads the epoch before it checks
// the condition and sleeps only while the epoch is unchanged, so no wake in between is lost. Any thread.
#pragma once

#include <atomic>
#include <cstdint>

#include "base/clock.h"

namespace canopy {

class ParkingLot {
public:
    using Epoch = std::uint32_t;

    // Taken before the condition is checked.
    [[nodiscard]] Epoch prepare() noexcept {
        waiters_.fetch_add(1, std::memory_order_seq_cst);  // pairs with the load in wake
        return epoch_.load(std::memory_order_seq_cst);
    }
    // The condition holds already: do not sleep.
    void cancel() noexcept { waiters_.fetch_sub(1, std::memory_order_relaxed); }
    // Sleeps until a wake after `prepare`, or the deadline. False when the deadline passed.
    bool park(Epoch epoch, Deadline deadline) noexcept;

    // Wakes one or all. Cheap if no thread sleeps. The condition must have been changed before.
    void wake_one() noexcept { wake(1); }
    void wake_all() noexcept { wake(INT32_MAX); }
    [[nodiscard]] bool has_waiters() const noexcept { return waiters_.load(std::memory_order_seq_cst) != 0; }

private:
    void wake(int count) noexcept;
    std::atomic<Epoch> epoch_{0};
    std::atomic<std::uint32_t> waiters_{0};
};

}  // namespace canopy
