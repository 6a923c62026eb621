// SPDX-License-Identifier: Apache-2.0
#include "device/engine/stream/kept_runnables.h"

#include <algorithm>
#include <utility>

#include "device/engine/stream/runnable.h"
#include "device/execution/tuning.h"

namespace canopy {
namespace {

// What it adds to the time: nothing if it is too short to share. The cap makes unknown times count as long and keeps
// sums from overflowing.
Nanoseconds weight_of(Nanoseconds expected) noexcept {
    const Nanoseconds time = std::min(expected, second);
    return time < tuning::time_worth_sharing ? 0 : time;
}

}  // namespace

void KeptRunnables::add(Runnable& runnable) noexcept {
    runnable.kept.next = first_;
    first_ = &runnable;
    count_.store(count_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
    time_.store(time_.load(std::memory_order_relaxed) + runnable.kept.weight, std::memory_order_relaxed);
}

void KeptRunnables::push(Runnable& runnable, Nanoseconds expected, const void* group) noexcept {
    SpinGuard guard(lock_);
    runnable.kept.weight = weight_of(expected);
    runnable.kept.group = group;
    add(runnable);
}

void KeptRunnables::push_all(Runnable* taken) noexcept {
    SpinGuard guard(lock_);
    while (taken) add(*std::exchange(taken, taken->kept.next));
}

void KeptRunnables::forget(const Runnable& runnable) noexcept {
    count_.store(count_.load(std::memory_order_relaxed) - 1, std::memory_order_relaxed);
    time_.store(time_.load(std::memory_order_relaxed) - runnable.kept.weight, std::memory_order_relaxed);
}

Runnable* KeptRunnables::take(const void* group) noexcept {
    if (empty()) return nullptr;
    SpinGuard guard(lock_);
    for (Runnable** link = &first_; *link; link = &(*link)->kept.next) {
        Runnable* runnable = *link;
        if (group && runnable->kept.group != group) continue;
        *link = runnable->kept.next;
        forget(*runnable);
        return runnable;
    }
    return nullptr;
}

Runnable* KeptRunnables::take_half() noexcept {
    SpinGuard guard(lock_);
    std::uint32_t left = 0;
    for (const Runnable* runnable = first_; runnable; runnable = runnable->kept.next)
        left += runnable->kept.weight != 0 ? 1 : 0;
    Runnable* taken = nullptr;
    std::uint32_t wanted = (left + 1) / 2;
    for (Runnable** link = &first_; *link && wanted != 0;) {
        Runnable* runnable = *link;
        // The most recent ones stay: the thread runs those next.
        if (runnable->kept.weight == 0 || left-- > wanted) {
            link = &runnable->kept.next;
            continue;
        }
        --wanted;
        *link = runnable->kept.next;
        forget(*runnable);
        runnable->kept.next = taken;
        taken = runnable;
    }
    return taken;
}

Runnable* KeptRunnables::take_all() noexcept {
    SpinGuard guard(lock_);
    count_.store(0, std::memory_order_relaxed);
    time_.store(0, std::memory_order_relaxed);
    return std::exchange(first_, nullptr);
}

}  // namespace canopy
