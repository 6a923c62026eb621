// SPDX-License-Identifier: Apache-2.0
// EngineFence: the counter behind events and notifies, and the queues that wait for it. A wait that is not satisfied
// adds its queue to the fence's list; the signal that satisfies it makes the queue ready again. Any thread.
//
// A signal takes the lock only if it finds a waiter after it has changed the value, and a waiter looks at the value
// again after it has added itself: one of the two sees the other.
#pragma once

#include <atomic>
#include <cstdint>

#include "base/spin_lock.h"
#include "base/ticks.h"
#include "device/device.h"

namespace canopy {

class Runnable;

// A queue's entry in a fence's list. Embedded in the queue, since a queue waits for one thing at a time.
struct FenceWaiter {
    Runnable* runnable = nullptr;
    WaitWork wait{};
    FenceWaiter* next = nullptr;
};

// One cache line: the submitter counts references in it and the owner of the queue signals it.
class alignas(64) EngineFence final : public Fence {
public:
    EngineFence() noexcept = default;
    [[nodiscard]] std::uint64_t value() const noexcept override { return value_.load(std::memory_order_acquire); }
    [[nodiscard]] Nanoseconds signalled_at() const noexcept override {
        const Ticks stamp = stamp_.load(std::memory_order_acquire);
        return stamp == 0 ? 0 : time_of(stamp);
    }
    void signal(SignalMode mode, std::uint64_t value) noexcept override;

    // True if the condition holds and nothing has to be cleared, so there is no need to wait.
    [[nodiscard]] bool holds(const WaitWork& wait) const noexcept {
        return !wait.clear && satisfies(value_.load(std::memory_order_acquire), wait);
    }
    // True if the condition holds; the fence is then cleared if the wait asks for it. Otherwise `waiter` is in the list
    // and its queue is marked as waiting; the queue may already be running again when this returns.
    bool wait(FenceWaiter& waiter) noexcept;
    // Removes a waiter; false if a signal was faster.
    bool withdraw(FenceWaiter& waiter) noexcept;

private:
    static bool satisfies(std::uint64_t value, const WaitWork& wait) noexcept;
    bool take(const WaitWork& wait) noexcept;
    void update(SignalMode mode, std::uint64_t operand) noexcept;
    void release_waiters() noexcept;

    std::atomic<std::uint64_t> value_{0};
    std::atomic<Ticks> stamp_{0};  // of the last signal
    SpinLock lock_;
    std::atomic<FenceWaiter*> first_{nullptr};  // changed under the lock
};
static_assert(sizeof(EngineFence) == 64);

}  // namespace canopy
