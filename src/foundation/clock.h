// SPDX-License-Identifier: Apache-2.0
// Time throughout Canopy: nanoseconds on the monotonic clock. A deadline is a point on it.
#pragma once

#include <time.h>

#include <cstdint>

namespace canopy {

using Nanoseconds = std::int64_t;

inline constexpr Nanoseconds microsecond = 1'000;
inline constexpr Nanoseconds millisecond = 1'000'000;
inline constexpr Nanoseconds second = 1'000'000'000;

inline Nanoseconds now() noexcept {
    timespec time{};
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec * second + time.tv_nsec;
}

// The time at which a waiter gives up; never by default.
struct Deadline {
    static constexpr Nanoseconds never_at = INT64_MAX;
    Nanoseconds at = never_at;

    static Deadline never() noexcept { return {}; }
    static Deadline after(Nanoseconds duration) noexcept {
        const Nanoseconds start = now();
        return {duration > never_at - start ? never_at : start + duration};
    }
    [[nodiscard]] bool is_never() const noexcept { return at == never_at; }
    [[nodiscard]] bool passed() const noexcept { return at != never_at && now() >= at; }
};

}  // namespace canopy
