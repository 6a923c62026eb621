// SPDX-License-Identifier: Apache-2.0
#include "base/parking.h"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>

namespace canopy {

bool ParkingLot::park(Epoch epoch, Deadline deadline) noexcept {
    bool in_time = true;
    while (epoch_.load(std::memory_order_seq_cst) == epoch) {
        timespec until{};
        if (!deadline.is_never()) {
            until.tv_sec = deadline.at / second;
            until.tv_nsec = deadline.at % second;
        }
        // FUTEX_WAIT_BITSET takes an absolute time on the monotonic clock.
        const long result = syscall(SYS_futex, &epoch_, FUTEX_WAIT_BITSET_PRIVATE, epoch,
                                    deadline.is_never() ? nullptr : &until, nullptr, FUTEX_BITSET_MATCH_ANY);
        if (result != 0 && errno == ETIMEDOUT) {
            in_time = epoch_.load(std::memory_order_seq_cst) != epoch;
            break;
        }
    }
    waiters_.fetch_sub(1, std::memory_order_relaxed);
    return in_time;
}

void ParkingLot::wake(int count) noexcept {
    if (!has_waiters()) return;
    epoch_.fetch_add(1, std::memory_order_seq_cst);
    syscall(SYS_futex, &epoch_, FUTEX_WAKE_PRIVATE, count, nullptr, nullptr, 0);
}

}  // namespace canopy
