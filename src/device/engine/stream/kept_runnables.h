// SPDX-License-Identifier: Apache-2.0
// KeptRunnables: lanes of graphs that a thread has made ready and keeps to run itself, because handing them to another
// thread would cost more than running them. Other threads may still take them: an idle worker takes half, and the
// monitor takes all when the thread is stuck in a kernel. Any thread.
#pragma once

#include <atomic>
#include <cstdint>

#include "base/spin_lock.h"
#include "foundation/clock.h"

namespace canopy {

class Runnable;

class KeptRunnables {
public:
    [[nodiscard]] bool empty() const noexcept { return count_.load(std::memory_order_relaxed) == 0; }
    // The expected time of those worth sharing.
    [[nodiscard]] Nanoseconds time() const noexcept { return time_.load(std::memory_order_relaxed); }
    // expected: how long it will take, as far as known. group: the key for `take`.
    void push(Runnable& runnable, Nanoseconds expected, const void* group) noexcept;
    // Takes the most recent one, of that group unless `group` is null; nullptr if there is none.
    Runnable* take(const void* group) noexcept;
    // take_half: the oldest half of those worth sharing, rounded up. take_all: all of them. Both return a list linked
    // by `Runnable::kept.next`.
    Runnable* take_half() noexcept;
    Runnable* take_all() noexcept;
    // Adds the list that another thread's `take_half` returned.
    void push_all(Runnable* taken) noexcept;

private:
    void add(Runnable& runnable) noexcept CANOPY_REQUIRES(lock_);
    void forget(const Runnable& runnable) noexcept CANOPY_REQUIRES(lock_);

    SpinLock lock_;
    Runnable* first_ CANOPY_GUARDED_BY(lock_) = nullptr;  // the most recent one
    std::atomic<std::uint32_t> count_{0};
    std::atomic<Nanoseconds> time_{0};
};

}  // namespace canopy
