// SPDX-License-Identifier: Apache-2.0
#include "core/queue/shared/shared_lock.h"

#include <linux/futex.h>
#include <linux/membarrier.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>

namespace canopy {
namespace {

constexpr int lock_spins = 64;
// How long a thread sleeps before it asks whether the owner is alive: answers come within 10 ms of a death.
constexpr Nanoseconds first_slice = millisecond, later_slice = 4 * millisecond;
constexpr Nanoseconds patience = 100 * millisecond;
// No processor holds a store back for so long.
constexpr Nanoseconds slow_processor = 20 * millisecond;

}  // namespace

void wait_on_word(const void* word, std::uint32_t value, Deadline deadline) noexcept {
    timespec until{};
    if (!deadline.is_never()) {
        until.tv_sec = deadline.at / second;
        until.tv_nsec = deadline.at % second;
    }
    ::syscall(SYS_futex, word, FUTEX_WAIT_BITSET, value, deadline.is_never() ? nullptr : &until, nullptr,
              FUTEX_BITSET_MATCH_ANY);
}

void wake_word(const void* word, int threads) noexcept {
    ::syscall(SYS_futex, word, FUTEX_WAKE, threads, nullptr, nullptr, 0);
}

void WaitWord::wake_sleepers() noexcept {
    std::uint32_t seen = word_.load(std::memory_order_relaxed);
    while ((seen & 1) != 0)
        if (word_.compare_exchange_weak(seen, seen + 1)) return wake_word(&word_, INT_MAX);
}

bool order_keepers() noexcept { return ::syscall(SYS_membarrier, MEMBARRIER_CMD_GLOBAL_EXPEDITED, 0, 0) == 0; }

void order_keepers_surely() noexcept {
    if (order_keepers()) return;
    const Nanoseconds until = Deadline::after(slow_processor).at;
    const timespec end{until / second, until % second};
    while (::clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &end, nullptr) == EINTR) continue;
}

bool may_keep_locks() noexcept {
    static const bool possible =
        ::syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_GLOBAL_EXPEDITED, 0, 0) == 0 && order_keepers();
    return possible;
}

std::uint64_t SharedLock::keep(const SharedMemoryFile& file, Keepers& places, ProcessNumber self) noexcept {
    for (std::uint64_t number = 0; number < keepers; ++number) {
        Keeper& place = places.all[number];
        const ProcessNumber owner = place.process.load(std::memory_order_acquire);
        if (owner != 0 && file.alive(owner)) continue;
        place.process.store(self, std::memory_order_relaxed);
        place.inside.store(0, std::memory_order_relaxed);
        const std::uint64_t use = uses_.load(std::memory_order_relaxed) + 1;
        uses_.store(use, std::memory_order_relaxed);
        const std::uint64_t kept = use << use_shift | number << place_shift | kept_bit | self;
        std::uint64_t taken = self;
        if (word_.compare_exchange_strong(taken, kept)) {
            std::atomic_thread_fence(std::memory_order_seq_cst);  // pairs with WaitWord::prepare
            return kept;
        }
        place.process.store(0, std::memory_order_release);
        return 0;
    }
    return 0;
}

void SharedLock::give_up(Keepers& places, std::uint64_t kept) noexcept {
    Keeper& place = place_of(places, kept);
    place.inside.store(0, std::memory_order_release);
    std::uint64_t seen = kept;
    if (!word_.compare_exchange_strong(seen, 0) && seen == (kept | sleepers) && word_.compare_exchange_strong(seen, 0))
        wake_word(&word_, 1);
    place.process.store(0, std::memory_order_release);
}

Locked SharedLock::lock_slowly(const SharedMemoryFile& file, Keepers& places, ProcessNumber self) noexcept {
    for (int spin = 0; spin < lock_spins; ++spin) {
        std::uint64_t seen = word_.load(std::memory_order_relaxed);
        if ((seen & kept_bit) != 0) break;
        if (seen == 0 && word_.compare_exchange_strong(seen, self, std::memory_order_acquire)) return Locked::yes;
        spin_pause();
    }
    const Deadline deadline = Deadline::after(patience);
    Nanoseconds slice = first_slice;
    std::uint64_t shown = 0;  // a kept word whose keeper knows that somebody waits
    for (;;) {
        std::uint64_t seen = word_.load(std::memory_order_relaxed);
        if (seen == 0) {
            // Others may still sleep.
            if (word_.compare_exchange_strong(seen, self | sleepers, std::memory_order_acquire)) return Locked::yes;
            continue;
        }
        if ((seen & sleepers) == 0 && !word_.compare_exchange_strong(seen, seen | sleepers)) continue;
        std::uint64_t slept_on = seen | sleepers;
        if ((slept_on & kept_bit) != 0) {
            if (shown != slept_on) {
                order_keepers_surely();
                shown = slept_on;
            }
            if (place_of(places, slept_on).inside.load(std::memory_order_acquire) != (slept_on & ~sleepers)) {
                if (word_.compare_exchange_strong(slept_on, self | sleepers, std::memory_order_acquire))
                    return Locked::yes;
                continue;
            }
        }
        const Deadline look{std::min(deadline.at, Deadline::after(slice).at)};
        wait_on_word(&word_, static_cast<std::uint32_t>(slept_on), look);
        slice = later_slice;
        if (word_.load(std::memory_order_relaxed) != slept_on) continue;
        const auto owner = static_cast<ProcessNumber>(slept_on & process_bits);
        if (owner != self && !file.alive(owner)) {
            std::uint64_t left = slept_on;
            if (word_.compare_exchange_strong(left, self | sleepers, std::memory_order_acquire))
                return Locked::from_dead;
        }
        if (deadline.passed()) return Locked::no;
    }
}

}  // namespace canopy
