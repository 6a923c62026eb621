// SPDX-License-Identifier: Apache-2.0
#include "device/engine/stream/fence.h"

#include "device/engine/stream/runnable.h"

namespace canopy {

bool EngineFence::satisfied(const WaitWork& wait) const noexcept {
    const std::uint64_t value = value_.load(std::memory_order_acquire);
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

void EngineFence::signal(SignalMode mode, std::uint64_t operand) noexcept {
    FenceWaiter* released = nullptr;
    FenceWaiter** released_end = &released;
    {
        SpinGuard guard(lock_);
        const std::uint64_t value = signalled(mode, value_.load(std::memory_order_relaxed), operand);
        stamp_.store(ticks(), std::memory_order_release);
        value_.store(value, std::memory_order_release);
        for (FenceWaiter** link = &first_; *link;) {
            FenceWaiter* waiter = *link;
            if (!satisfied(waiter->wait)) {
                link = &waiter->next;
                continue;
            }
            if (waiter->wait.clear) value_.store(0, std::memory_order_release);
            *link = waiter->next;
            waiter->next = nullptr;
            *released_end = waiter;
            released_end = &waiter->next;
        }
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
    if (satisfied(waiter.wait)) {
        if (waiter.wait.clear) value_.store(0, std::memory_order_release);
        return true;
    }
    waiter.runnable->begin_wait();
    FenceWaiter** link = &first_;
    while (*link) link = &(*link)->next;
    waiter.next = nullptr;
    *link = &waiter;
    return false;
}

bool EngineFence::withdraw(FenceWaiter& waiter) noexcept {
    SpinGuard guard(lock_);
    // Only the list can tell: by now the waiter may be in the list of another fence, guarded by that fence's lock.
    for (FenceWaiter** link = &first_; *link; link = &(*link)->next) {
        if (*link != &waiter) continue;
        *link = waiter.next;
        waiter.next = nullptr;
        return true;
    }
    return false;
}

}  // namespace canopy
