// SPDX-License-Identifier: Apache-2.0
// Parking: how a thread sleeps until another one has news for it, with a deadline. A waiter remembers the epoch
// before it looks at the condition and sleeps only while the epoch is still that one, so news that comes in between
// is not lost. Any thread.
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
    // The condition turned out to hold: no sleep.
    void cancel() noexcept { waiters_.fetch_sub(1, std::memory_order_relaxed); }
    // Sleeps until a wake after `prepare`, or the deadline. False when the deadline passed.
    bool park(Epoch epoch, Deadline deadline) noexcept;

    // Wakes one or all. Cheap when nobody sleeps. The condition must have been changed before.
    void wake_one() noexcept { wake(1); }
    void wake_all() noexcept { wake(INT32_MAX); }
    [[nodiscard]] bool has_waiters() const noexcept { return waiters_.load(std::memory_order_seq_cst) != 0; }

private:
    void wake(int count) noexcept;
    std::atomic<Epoch> epoch_{0};
    std::atomic<std::uint32_t> waiters_{0};
};

}  // namespace canopy
