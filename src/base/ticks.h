// SPDX-License-Identifier: Apache-2.0
// Ticks: a clock that takes a few nanoseconds to read, for timestamps that are rarely looked at. Uses the processor's
// time-stamp counter if that is invariant, the monotonic clock otherwise. Timestamps are converted to nanoseconds on
// demand. Any thread.
#pragma once

#include <cstdint>

#include "foundation/clock.h"

namespace canopy {

using Ticks = std::uint64_t;

extern const bool ticks_count_cycles;

inline Ticks ticks() noexcept {
#if defined(__x86_64__)
    if (ticks_count_cycles) [[likely]]
        return __builtin_ia32_rdtsc();
#endif
    return static_cast<Ticks>(now());
}

// Converts a timestamp to the monotonic clock. Later timestamps never give earlier times.
Nanoseconds time_of(Ticks stamp) noexcept;

}  // namespace canopy
