// SPDX-License-Identifier: Apache-2.0
// KeptRunnables: lanes of graphs that a thread has made ready and will run itself when it comes to them, because
// handing them to another thread would cost more than they do. Others may take them: a worker without work takes half,
// the monitor takes all when the thread is stuck in a kernel. Any thread.
#pragma once

#include <atomic>
#include <cstdint>

#include "base/clock.h"
#include "base/spin_lock.h"

namespace canopy {

class Runnable;

class KeptRunnables {
public:
    [[nodiscard]] bool empty() const noexcept { return count_.load(std::memory_order_relaxed) == 0; }
    // The time expected for those that are worth sharing.
    [[nodiscard]] Nanoseconds time() const noexcept { return time_.load(std::memory_order_relaxed); }
    // expected: the time it will take, as far as known. group: what `take` may ask for.
    void push(Runnable& runnable, Nanoseconds expected, const void* group) noexcept;
    // The one kept last, of that group unless it is null; nullptr: there is none.
    Runnable* take(const void* group) noexcept;
    // Half of those worth sharing, rounded up, the ones kept first; all of them. A list by `Runnable::kept.next`.
    Runnable* take_half() noexcept;
    Runnable* take_all() noexcept;
    // Moves a list that another thread's `take_half` returned into this one.
    void push_all(Runnable* taken) noexcept;

private:
    void add(Runnable& runnable) noexcept CANOPY_REQUIRES(lock_);
    void forget(const Runnable& runnable) noexcept CANOPY_REQUIRES(lock_);

    SpinLock lock_;
    Runnable* first_ CANOPY_GUARDED_BY(lock_) = nullptr;  // the one kept last
    std::atomic<std::uint32_t> count_{0};
    std::atomic<Nanoseconds> time_{0};
};

}  // namespace canopy
