// SPDX-License-Identifier: Apache-2.0
// ParkingLot: a thread sleeps until another thread wakes it or a deadline passes. A waiter reads the epoch before it
// checks the condition and sleeps only while the epoch is unchanged, so a wake in between is not lost. Any thread.
#pragma once

#include <atomic>
#include <cstdint>

#include "foundation/clock.h"

namespace canopy {

class ParkingLot {
public:
    using Epoch = std::uint32_t;

    // Call before checking the condition.
    [[nodiscard]] Epoch prepare() noexcept {
        waiters_.fetch_add(1, std::memory_order_seq_cst);  // pairs with the load in wake
        return epoch_.load(std::memory_order_seq_cst);
    }
    // The condition already holds: do not sleep.
    void cancel() noexcept { waiters_.fetch_sub(1, std::memory_order_relaxed); }
    // Sleeps until a wake after `prepare`, or until the deadline. False if the deadline passed.
    bool park(Epoch epoch, Deadline deadline) noexcept;

    // Wakes one thread or all. Cheap if no thread sleeps. Change the condition before calling.
    void wake_one() noexcept { wake(1); }
    void wake_all() noexcept { wake(INT32_MAX); }
    [[nodiscard]] bool has_waiters() const noexcept { return waiters_.load(std::memory_order_seq_cst) != 0; }

private:
    void wake(int count) noexcept;
    std::atomic<Epoch> epoch_{0};
    std::atomic<std::uint32_t> waiters_{0};
};

}  // namespace canopy
