// SPDX-License-Identifier: Apache-2.0
// SpinLock: for sections of a few dozen instructions with little contention. Locking is one atomic exchange, unlocking
// a plain store. A waiter spins briefly and then yields its processor, so a preempted holder is not starved. Any
// thread; not recursive; never held across a call that can block.
#pragma once

#include <sched.h>

#include <atomic>
#include <cstdint>

#include "foundation/annotations.h"

namespace canopy {

inline void cpu_relax() noexcept {
#if defined(__x86_64__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    asm volatile("yield");
#endif
}

class CANOPY_CAPABILITY("mutex") SpinLock {
public:
    void lock() noexcept CANOPY_ACQUIRE() {
        if (!taken_.exchange(true, std::memory_order_acquire)) return;
        lock_contended();
    }
    bool try_lock() noexcept CANOPY_TRY_ACQUIRE(true) {
        return !taken_.load(std::memory_order_relaxed) && !taken_.exchange(true, std::memory_order_acquire);
    }
    void unlock() noexcept CANOPY_RELEASE() { taken_.store(false, std::memory_order_release); }

private:
    void lock_contended() noexcept {
        for (;;) {
            for (int spin = 0; spin < 64; ++spin) {
                if (!taken_.load(std::memory_order_relaxed) && !taken_.exchange(true, std::memory_order_acquire))
                    return;
                cpu_relax();
            }
            sched_yield();
        }
    }
    std::atomic<bool> taken_{false};
};

class CANOPY_SCOPED_CAPABILITY SpinGuard {
public:
    explicit SpinGuard(SpinLock& lock) noexcept CANOPY_ACQUIRE(lock) : lock_(lock) { lock_.lock(); }
    ~SpinGuard() CANOPY_RELEASE() { lock_.unlock(); }
    SpinGuard(const SpinGuard&) = delete;
    SpinGuard& operator=(const SpinGuard&) = delete;

private:
    SpinLock& lock_;
};

}  // namespace canopy
