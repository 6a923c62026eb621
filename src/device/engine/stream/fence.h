// SPDX-License-Identifier: Apache-2.0
// EngineFence: the counter behind events and notifies, and the queues that wait for it. A wait that is not satisfied
// adds its queue to the fence's list; the signal that satisfies it makes the queue ready again. Any thread.
//
// The word that holds the list is also its lock: a bit of it is set while a thread changes the list. A signal changes
// the value and then looks at that word; a waiter takes the lock and then looks at the value. One of the two sees the
// other, so a signal without waiters needs no lock.
#pragma once

#include <atomic>
#include <cstdint>

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
    [[nodiscard]] Nanoseconds signalled_at() const noexcept override;
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

    // ---- for profiles
    // Its number, given when it is first asked for.
    [[nodiscard]] std::uint32_t number() noexcept;
    // The task whose signal came last while somebody recorded; 0: none, or the host.
    [[nodiscard]] std::uint64_t released_by() const noexcept { return released_by_.load(std::memory_order_relaxed); }
    void set_released_by(std::uint64_t link) noexcept { released_by_.store(link, std::memory_order_relaxed); }

private:
    static bool satisfies(std::uint64_t value, const WaitWork& wait) noexcept;
    bool take(const WaitWork& wait) noexcept;
    void release_waiters() noexcept;
    // Locks the list and returns its first waiter.
    FenceWaiter* lock() noexcept;
    void unlock(FenceWaiter* first) noexcept;

    std::atomic<std::uint64_t> value_{0};
    std::atomic<Ticks> stamp_{0};            // of the last signal
    std::atomic<std::uint64_t> stamped_{0};  // the value which that signal made
    std::atomic<std::uint64_t> released_by_{0};
    std::atomic<std::uint32_t> number_{0};
    std::atomic<std::uintptr_t> waiters_{0};  // the first waiter; with the lowest bit while the list is locked
};
static_assert(sizeof(EngineFence) == 64);

}  // namespace canopy
