// SPDX-License-Identifier: Apache-2.0
// BusyTimes: how long the threads of a device have been inside tasks, by what the tasks use. The monitor looks at each
// thread once a beat and counts the time since the last beat for those it finds busy.
//
// Used by the monitor's thread only.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

#include "foundation/clock.h"
#include "watch/figures.h"

namespace canopy {

class BusyTimes {
public:
    void begin_beat(Nanoseconds time) noexcept {
        // Nothing is known of a longer time; the thread was late, or asleep.
        beat_ = last_ == 0 ? 0 : std::min(time - last_, longest_beat);
        last_ = time;
        if (time - kept_[newest_].time >= step) keep(time);
    }
    void add(watch::Unit unit) noexcept { total_[static_cast<std::size_t>(unit)] += static_cast<std::uint64_t>(beat_); }
    // Nothing was busy since the last beat.
    void sleep() noexcept { last_ = 0; }

    using Times = std::array<std::uint64_t, watch::units>;
    [[nodiscard]] const Times& total() const noexcept { return total_; }

    // The times about a second ago, to compare with.
    struct Kept {
        Nanoseconds time = 0;
        Times total{};
    };
    [[nodiscard]] const Kept& earlier(Nanoseconds time) const noexcept {
        const Kept* best = &kept_[newest_];
        for (const Kept& kept : kept_)
            if (kept.time != 0 && time - kept.time <= window && kept.time < best->time) best = &kept;
        return *best;
    }

private:
    static constexpr Nanoseconds longest_beat = 20 * millisecond;
    static constexpr Nanoseconds step = 100 * millisecond;
    static constexpr Nanoseconds window = second;

    void keep(Nanoseconds time) noexcept {
        newest_ = (newest_ + 1) % kept_.size();
        kept_[newest_] = {time, total_};
    }

    Nanoseconds last_ = 0, beat_ = 0;
    Times total_{};
    std::array<Kept, 12> kept_{};
    std::size_t newest_ = 0;
};

}  // namespace canopy
