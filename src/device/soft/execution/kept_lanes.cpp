// SPDX-License-Identifier: Apache-2.0
#include "device/soft/execution/kept_lanes.h"

#include <algorithm>

#include "device/soft/base/tuning.h"
#include "device/soft/graph/graph.h"

namespace canopy {
namespace {

// What a lane adds to the time: nothing when it is too short for another thread to take. Unknown counts as long, and no
// sum overflows.
Nanoseconds weight(const Lane& lane) noexcept {
    const Nanoseconds time = std::min(lane.expected_time(), second);
    return time < tuning::time_worth_sharing ? 0 : time;
}

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
    std::uint32_t left = 0;
    for (const Lane* lane = first_; lane; lane = lane->kept_next) left += weight(*lane) != 0 ? 1 : 0;
    Lane* taken = nullptr;
    std::uint32_t wanted = (left + 1) / 2;
    for (Lane** link = &first_; *link && wanted != 0;) {
        Lane* lane = *link;
        // The first half of them stays: the thread comes to those next.
        if (weight(*lane) == 0 || left-- > wanted) {
            link = &lane->kept_next;
            continue;
        }
        --wanted;
        *link = lane->kept_next;
        forget(*lane);
        lane->kept_next = taken;
        taken = lane;
    }
    return taken;
}

Lane* KeptLanes::take_all() noexcept {
    SpinGuard guard(lock_);
    count_.store(0, std::memory_order_relaxed);
    time_.store(0, std::memory_order_relaxed);
    return std::exchange(first_, nullptr);
}

}  // namespace canopy
