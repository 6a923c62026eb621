// SPDX-License-Identifier: Apache-2.0
#include "core/queue/shared/shared_lock.h"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <climits>

namespace canopy {
namespace {

constexpr int lock_spins = 64;
// How long a thread sleeps before it asks whether the owner is alive: answers come within 10 ms of a death.
constexpr Nanoseconds first_slice = millisecond, later_slice = 4 * millisecond;

}  // namespace

void wait_on_word(std::atomic<std::uint32_t>& word, std::uint32_t value, Deadline deadline) noexcept {
    timespec until{};
    if (!deadline.is_never()) {
        until.tv_sec = deadline.at / second;
        until.tv_nsec = deadline.at % second;
    }
    ::syscall(SYS_futex, &word, FUTEX_WAIT_BITSET, value, deadline.is_never() ? nullptr : &until, nullptr,
              FUTEX_BITSET_MATCH_ANY);
}

void wake_word(std::atomic<std::uint32_t>& word, int threads) noexcept {
    ::syscall(SYS_futex, &word, FUTEX_WAKE, threads, nullptr, nullptr, 0);
}

void WaitWord::wake_sleepers() noexcept {
    std::uint32_t seen = word_.load(std::memory_order_relaxed);
    while ((seen & 1) != 0)
        if (word_.compare_exchange_weak(seen, seen + 1)) return wake_word(word_, INT_MAX);
}

Locked SharedLock::lock_slowly(const SharedMemoryFile& file, ProcessNumber self, Deadline deadline) noexcept {
    for (int spin = 0; spin < lock_spins; ++spin) {
        std::uint32_t none = 0;
        if (word_.load(std::memory_order_relaxed) == 0 &&
            word_.compare_exchange_strong(none, self, std::memory_order_acquire))
            return Locked::yes;
        spin_pause();
    }
    Nanoseconds slice = first_slice;
    for (;;) {
        std::uint32_t seen = word_.load(std::memory_order_relaxed);
        if (seen == 0) {
            // Others may still sleep.
            if (word_.compare_exchange_strong(seen, self | sleepers, std::memory_order_acquire)) return Locked::yes;
            continue;
        }
        if ((seen & sleepers) == 0 && !word_.compare_exchange_strong(seen, seen | sleepers)) continue;
        const std::uint32_t slept_on = seen | sleepers;
        const Deadline look{std::min(deadline.at, Deadline::after(slice).at)};
        wait_on_word(word_, slept_on, look);
        slice = later_slice;
        if (word_.load(std::memory_order_relaxed) != slept_on) continue;
        if (const ProcessNumber owner = slept_on & ~sleepers; owner != self && !file.alive(owner)) {
            std::uint32_t left = slept_on;
            if (word_.compare_exchange_strong(left, self | sleepers, std::memory_order_acquire))
                return Locked::from_dead;
        }
        if (deadline.passed()) return Locked::no;
    }
}

}  // namespace canopy
