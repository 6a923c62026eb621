// SPDX-License-Identifier: Apache-2.0
// KeptLanes: lanes of graphs that a thread has made ready and will run itself when it comes to it, because telling
// another thread would cost more than they do. Others may take them: a worker without work takes half, the monitor
// takes all when the thread is stuck in a kernel. Any thread.
#pragma once

#include <atomic>
#include <cstdint>

#include "base/clock.h"
#include "base/spin_lock.h"

namespace canopy {

class Lane;
class SoftGraph;

class KeptLanes {
public:
    [[nodiscard]] bool empty() const noexcept { return count_.load(std::memory_order_relaxed) == 0; }
    // What those of the kept lanes are expected to take that are worth another thread's while.
    [[nodiscard]] Nanoseconds time() const noexcept { return time_.load(std::memory_order_relaxed); }
    void push(Lane& lane) noexcept;
    // The lane kept last, of that graph if one is given; nullptr: there is none.
    Lane* take(const SoftGraph* graph) noexcept;
    // Half of those worth another thread's while, rounded up, the ones kept first; all of them. A list by
    // `Lane::kept_next`.
    Lane* take_half() noexcept;
    Lane* take_all() noexcept;

private:
    void forget(const Lane& lane) noexcept CANOPY_REQUIRES(lock_);

    SpinLock lock_;
    Lane* first_ CANOPY_GUARDED_BY(lock_) = nullptr;  // the one kept last
    std::atomic<std::uint32_t> count_{0};
    std::atomic<Nanoseconds> time_{0};
};

}  // namespace canopy
