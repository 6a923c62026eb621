// SPDX-License-Identifier: Apache-2.0
// DurationSums: count, sum, extremes, variance and median of durations in ticks, in a fixed amount of memory.
//
// Threads: one at a time.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <vector>

#include "profile/figures.h"

namespace canopy::profile {

class DurationSums {
public:
    // Whether it is the longest so far.
    bool add(std::uint64_t ticks) {
        ++count_;
        total_ += ticks;
        least_ = std::min(least_, ticks);
        const auto value = static_cast<double>(ticks);
        const double from_mean = value - mean_;
        mean_ += from_mean / static_cast<double>(count_);
        squares_ += from_mean * (value - mean_);
        const std::size_t bin = bin_of(ticks);
        if (bin >= bins_.size()) bins_.resize(bin + 1);
        ++bins_[bin];
        if (count_ > 1 && ticks <= most_) return false;
        most_ = ticks;
        return true;
    }
    [[nodiscard]] std::uint64_t count() const noexcept { return count_; }
    [[nodiscard]] std::uint64_t total() const noexcept { return total_; }
    [[nodiscard]] Durations durations(const ProfileFile& file) const {
        if (count_ == 0) return {};
        const double rate = file.duration(1);
        return {.count = count_,
                .total = file.duration(total_),
                .least = file.duration(least_),
                .most = file.duration(most_),
                .median = median() * rate,
                .variance = squares_ / static_cast<double>(count_) * rate * rate};
    }

private:
    // Sixteen bins for each power of two; below 32 one for each number.
    static std::size_t bin_of(std::uint64_t ticks) noexcept {
        if (ticks < 32) return ticks;
        const unsigned shift = static_cast<unsigned>(std::bit_width(ticks)) - 5;
        return std::size_t{16} * shift + (ticks >> shift);
    }
    static double middle_of(std::size_t bin) noexcept {
        if (bin < 32) return static_cast<double>(bin);
        const std::size_t shift = bin / 16 - 1;
        const std::uint64_t first = static_cast<std::uint64_t>(bin % 16 + 16) << shift;
        return static_cast<double>(first) + static_cast<double>((std::uint64_t{1} << shift) - 1) / 2;
    }
    [[nodiscard]] double median() const noexcept {
        std::uint64_t seen = 0;
        for (std::size_t bin = 0; bin < bins_.size(); ++bin) {
            seen += bins_[bin];
            if (2 * seen >= count_)
                return std::clamp(middle_of(bin), static_cast<double>(least_), static_cast<double>(most_));
        }
        return 0;
    }

    std::uint64_t count_ = 0, total_ = 0, least_ = UINT64_MAX, most_ = 0;
    double mean_ = 0, squares_ = 0;
    std::vector<std::uint32_t> bins_;
};

}  // namespace canopy::profile
