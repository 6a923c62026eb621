// SPDX-License-Identifier: Apache-2.0
// IntervalUnion: the times at which at least one of many things was going on. Keeps at most half a million intervals:
// when there are more, the shortest gaps between them are closed, so a result is exact unless there were more gaps than
// that.
//
// Threads: one at a time.
#pragma once

#include <cstdint>
#include <vector>

namespace canopy::profile {

class IntervalUnion {
public:
    void add(std::uint64_t begin, std::uint64_t end) {
        if (begin >= end) return;
        intervals_.push_back({begin, end, 0});
        if (intervals_.size() >= 2 * most_intervals) merge();
    }
    // After the last `add`.
    void settle();
    [[nodiscard]] std::uint64_t total() const noexcept;
    // How much of this interval is covered.
    [[nodiscard]] std::uint64_t covered(std::uint64_t begin, std::uint64_t end) const noexcept;

private:
    static constexpr std::size_t most_intervals = std::size_t{1} << 19;
    struct Interval {
        std::uint64_t begin, end;
        std::uint64_t before;  // covered before it begins
    };
    void merge();
    void join(std::uint64_t gap);
    [[nodiscard]] std::uint64_t covered_until(std::uint64_t time) const noexcept;

    std::vector<Interval> intervals_;
};

}  // namespace canopy::profile
