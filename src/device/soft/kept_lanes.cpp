// SPDX-License-Identifier: Apache-2.0
#include "device/soft/kept_lanes.h"

#include <algorithm>

#include "device/soft/graph.h"

namespace canopy {
namespace {

// Unknown counts as worth sharing, and no sum overflows.
Nanoseconds weight(const Lane& lane) noexcept { return std::min(lane.expected_time(), second); }

}  // namespace

void KeptLanes::push(Lane& lane) noexcept {
    SpinGuard guard(lock_);
    lane.kept_next = first_;
    first_ = &lane;
    count_.store(count_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
    time_.store(time_.load(std::memory_order_relaxed) + weight(lane), std::memory_order_relaxed);
}

void KeptLanes::forget(const Lane& lane) noexcept {
    const std::uint32_t left = count_.load(std::memory_order_relaxed) - 1;
    count_.store(left, std::memory_order_relaxed);
    // What a lane is expected to take may have changed meanwhile: an empty list weighs nothing.
    const Nanoseconds time = time_.load(std::memory_order_relaxed) - weight(lane);
    time_.store(left == 0 ? 0 : std::max<Nanoseconds>(time, 0), std::memory_order_relaxed);
}

Lane* KeptLanes::take(const SoftGraph* graph) noexcept {
    if (empty()) return nullptr;
    SpinGuard guard(lock_);
    for (Lane** link = &first_; *link; link = &(*link)->kept_next) {
        Lane* lane = *link;
        if (graph && &lane->graph() != graph) continue;
        *link = lane->kept_next;
        forget(*lane);
        return lane;
    }
    return nullptr;
}

Lane* KeptLanes::take_half() noexcept {
    SpinGuard guard(lock_);
    const std::uint32_t count = count_.load(std::memory_order_relaxed);
    Lane** link = &first_;
    for (std::uint32_t i = 0; i < count / 2; ++i) link = &(*link)->kept_next;
    Lane* taken = std::exchange(*link, nullptr);
    for (const Lane* lane = taken; lane; lane = lane->kept_next) forget(*lane);
    return taken;
}

Lane* KeptLanes::take_all() noexcept {
    SpinGuard guard(lock_);
    count_.store(0, std::memory_order_relaxed);
    time_.store(0, std::memory_order_relaxed);
    return std::exchange(first_, nullptr);
}

}  // namespace canopy
