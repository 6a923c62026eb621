// SPDX-License-Identifier: Apache-2.0
#include "device/engine/stream/fence.h"

#include <sched.h>

#include <utility>

#include "base/spin_lock.h"
#include "device/engine/stream/runnable.h"

namespace canopy {

std::uint32_t EngineFence::number() noexcept {
    static std::atomic<std::uint32_t> last{0};
    std::uint32_t known = number_.load(std::memory_order_relaxed);
    if (known != 0) return known;
    const std::uint32_t fresh = last.fetch_add(1, std::memory_order_relaxed) + 1;
    return number_.compare_exchange_strong(known, fresh, std::memory_order_relaxed) ? fresh : known;
}

namespace {

constexpr std::uintptr_t locked = 1;
constexpr Nanoseconds longest_look = 1'000'000'000;  // a signal whose thread has no processor

}  // namespace

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

// The value first, and in one step: a thread that watches it takes the cache line away with every look. The stamp is
// the time before.
void EngineFence::signal(SignalMode mode, std::uint64_t operand) noexcept {
    const Ticks stamp = ticks();
    std::uint64_t old = value_.load(std::memory_order_relaxed);
    std::uint64_t changed = signalled(mode, old, operand);
    while (!value_.compare_exchange_weak(old, changed, std::memory_order_seq_cst))
        changed = signalled(mode, old, operand);
    const bool waited_for = waiters_.load(std::memory_order_seq_cst) != 0;
    stamp_.store(stamp, std::memory_order_relaxed);
    stamped_.store(changed, std::memory_order_release);
    if (waited_for) release_waiters();
}

// The caller has seen the value that a signal made, but that signal may not have left its stamp yet. Signals of an
// event follow each other; with others, whose time nobody asks for, the stamp may stay behind the value.
Nanoseconds EngineFence::signalled_at() const noexcept {
    for (Nanoseconds begin = 0; stamped_.load(std::memory_order_acquire) < value(); sched_yield()) {
        const Nanoseconds time = now();
        if (begin == 0) begin = time;
        if (time - begin > longest_look) break;
    }
    const Ticks stamp = stamp_.load(std::memory_order_relaxed);
    return stamp == 0 ? 0 : time_of(stamp);
}

FenceWaiter* EngineFence::lock() noexcept {
    for (int spin = 1; (waiters_.fetch_or(locked, std::memory_order_seq_cst) & locked) != 0; ++spin) {
        cpu_relax();
        if (spin % 64 == 0) sched_yield();
    }
    return reinterpret_cast<FenceWaiter*>(waiters_.load(std::memory_order_relaxed) & ~locked);
}

void EngineFence::unlock(FenceWaiter* first) noexcept {
    waiters_.store(reinterpret_cast<std::uintptr_t>(first), std::memory_order_release);
}

void EngineFence::release_waiters() noexcept {
    FenceWaiter* released = nullptr;
    FenceWaiter** released_end = &released;
    FenceWaiter* kept = nullptr;
    FenceWaiter** kept_end = &kept;
    for (FenceWaiter* waiter = lock(); waiter;) {
        FenceWaiter* const next = std::exchange(waiter->next, nullptr);
        FenceWaiter**& end = take(waiter->wait) ? released_end : kept_end;
        *end = waiter;
        end = &waiter->next;
        waiter = next;
    }
    unlock(kept);
    // A released queue may reuse its waiter at once, so `next` is read first.
    while (released) {
        FenceWaiter* waiter = released;
        released = waiter->next;
        waiter->next = nullptr;
        waiter->runnable->continue_after_wait(WaitResult::satisfied);
    }
}

bool EngineFence::wait(FenceWaiter& waiter) noexcept {
    FenceWaiter* first = lock();
    const bool taken = take(waiter.wait);
    if (!taken) {
        waiter.next = nullptr;
        FenceWaiter* last = first;
        while (last && last->next) last = last->next;
        (last ? last->next : first) = &waiter;
        waiter.runnable->begin_wait();
    }
    unlock(first);
    return taken;
}

bool EngineFence::withdraw(FenceWaiter& waiter) noexcept {
    FenceWaiter* first = lock();
    // Only the list can tell: by now the waiter may be in the list of another fence, guarded by that fence's lock.
    FenceWaiter** link = &first;
    while (*link && *link != &waiter) link = &(*link)->next;
    const bool found = *link != nullptr;
    if (found) *link = std::exchange(waiter.next, nullptr);
    unlock(first);
    return found;
}

}  // namespace canopy
