// SPDX-License-Identifier: Apache-2.0
#include "device/engine/stream/fence.h"

#include <utility>

#include "device/engine/stream/runnable.h"

namespace canopy {

bool EngineFence::satisfies(std::uint64_t value, const WaitWork& wait) noexcept {
    switch (wait.mode) {
        case WaitMode::at_least:
            return value >= wait.value;
        case WaitMode::equal:
            return value == wait.value;
        case WaitMode::less:
            return value < wait.value;
        case WaitMode::greater:
            return value > wait.value;
        case WaitMode::mask:
            return (value & wait.value) == wait.value;
    }
    return true;
}

// True if the condition holds; clears the value if the wait asks for it. A signal that comes meanwhile is not lost: the
// value is looked at again.
bool EngineFence::take(const WaitWork& wait) noexcept {
    std::uint64_t value = value_.load(std::memory_order_seq_cst);
    do {
        if (!satisfies(value, wait)) return false;
    } while (wait.clear && !value_.compare_exchange_weak(value, 0, std::memory_order_seq_cst));
    return true;
}

void EngineFence::update(SignalMode mode, std::uint64_t operand) noexcept {
    stamp_.store(ticks(), std::memory_order_release);
    std::uint64_t old = value_.load(std::memory_order_relaxed);
    while (!value_.compare_exchange_weak(old, signalled(mode, old, operand), std::memory_order_seq_cst)) {
    }
}

void EngineFence::signal(SignalMode mode, std::uint64_t operand) noexcept {
    update(mode, operand);
    if (first_.load(std::memory_order_seq_cst)) release_waiters();
}

void EngineFence::release_waiters() noexcept {
    FenceWaiter* released = nullptr;
    FenceWaiter** released_end = &released;
    {
        SpinGuard guard(lock_);
        FenceWaiter* kept = nullptr;
        FenceWaiter** kept_end = &kept;
        for (FenceWaiter* waiter = first_.load(std::memory_order_relaxed); waiter;) {
            FenceWaiter* const next = std::exchange(waiter->next, nullptr);
            FenceWaiter**& end = take(waiter->wait) ? released_end : kept_end;
            *end = waiter;
            end = &waiter->next;
            waiter = next;
        }
        first_.store(kept, std::memory_order_relaxed);
    }
    // A released queue may reuse its waiter at once, so `next` is read first.
    while (released) {
        FenceWaiter* waiter = released;
        released = waiter->next;
        waiter->next = nullptr;
        waiter->runnable->continue_after_wait(WaitResult::satisfied);
    }
}

bool EngineFence::wait(FenceWaiter& waiter) noexcept {
    SpinGuard guard(lock_);
    FenceWaiter* last = first_.load(std::memory_order_relaxed);
    while (last && last->next) last = last->next;
    waiter.next = nullptr;
    if (last)
        last->next = &waiter;
    else
        first_.store(&waiter, std::memory_order_seq_cst);
    std::atomic_thread_fence(std::memory_order_seq_cst);
    if (!take(waiter.wait)) {
        waiter.runnable->begin_wait();
        return false;
    }
    if (last)
        last->next = nullptr;
    else
        first_.store(nullptr, std::memory_order_relaxed);
    return true;
}

bool EngineFence::withdraw(FenceWaiter& waiter) noexcept {
    SpinGuard guard(lock_);
    // Only the list can tell: by now the waiter may be in the list of another fence, guarded by that fence's lock.
    FenceWaiter* before = nullptr;
    for (FenceWaiter* each = first_.load(std::memory_order_relaxed); each; before = each, each = each->next) {
        if (each != &waiter) continue;
        if (before)
            before->next = waiter.next;
        else
            first_.store(waiter.next, std::memory_order_relaxed);
        waiter.next = nullptr;
        return true;
    }
    return false;
}

}  // namespace canopy
