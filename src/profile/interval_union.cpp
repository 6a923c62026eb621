// SPDX-License-Identifier: Apache-2.0
#include "profile/interval_union.h"

#include <algorithm>

namespace canopy::profile {

void IntervalUnion::join(std::uint64_t gap) {
    std::size_t kept = 0;
    for (const Interval& one : intervals_) {
        if (kept > 0 && (one.begin <= intervals_[kept - 1].end || one.begin - intervals_[kept - 1].end <= gap))
            intervals_[kept - 1].end = std::max(intervals_[kept - 1].end, one.end);
        else
            intervals_[kept++] = one;
    }
    intervals_.resize(kept);
}

void IntervalUnion::merge() {
    std::sort(intervals_.begin(), intervals_.end(),
              [](const Interval& a, const Interval& b) { return a.begin < b.begin; });
    join(0);
    for (std::uint64_t gap = 1; intervals_.size() > most_intervals; gap *= 2) join(gap);
}

void IntervalUnion::settle() {
    merge();
    std::uint64_t before = 0;
    for (Interval& one : intervals_) {
        one.before = before;
        before += one.end - one.begin;
    }
}

std::uint64_t IntervalUnion::total() const noexcept {
    return intervals_.empty() ? 0 : intervals_.back().before + intervals_.back().end - intervals_.back().begin;
}

std::uint64_t IntervalUnion::covered_until(std::uint64_t time) const noexcept {
    auto after = std::upper_bound(intervals_.begin(), intervals_.end(), time,
                                  [](std::uint64_t at, const Interval& one) { return at < one.begin; });
    if (after == intervals_.begin()) return 0;
    --after;
    return after->before + std::min(time, after->end) - after->begin;
}

std::uint64_t IntervalUnion::covered(std::uint64_t begin, std::uint64_t end) const noexcept {
    return begin < end ? covered_until(end) - covered_until(begin) : 0;
}

}  // namespace canopy::profile
