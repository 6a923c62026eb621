// SPDX-License-Identifier: Apache-2.0
// Ticks: a clock that costs a few nanoseconds to read, for stamps that are rarely looked at. The processor's time-stamp
// counter where it runs evenly, the monotonic clock elsewhere. Stamps become nanoseconds when somebody asks. Any
// thread.
#pragma once

#include <cstdint>

#include "base/clock.h"

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

// A stamp on the monotonic clock. Later stamps never give earlier times.
Nanoseconds time_of(Ticks stamp) noexcept;

}  // namespace canopy
