// SPDX-License-Identifier: Apache-2.0
#include "base/ticks.h"

#if defined(__x86_64__)
#include <cpuid.h>
#endif

#include <mutex>

namespace canopy {
namespace {

bool counter_is_even() noexcept {
#if defined(__x86_64__)
    unsigned a = 0, b = 0, c = 0, d = 0;
    constexpr unsigned power_management = 0x80000007, invariant_counter = 1u << 8;
    return __get_cpuid(power_management, &a, &b, &c, &d) && (d & invariant_counter) != 0;
#else
    return false;
#endif
}

struct Moment {
    Ticks stamp;
    Nanoseconds time;
};

Moment read_both() noexcept { return {ticks(), now()}; }

}  // namespace

const bool ticks_count_cycles = counter_is_even();

namespace {

const Moment beginning = read_both();
// Reading both clocks is off by some 50 ns; over this long the rate is right to a few millionths.
constexpr Nanoseconds rate_settles_after = 20 * millisecond;

std::mutex rate_mutex;
double settled_rate = 0;  // nanoseconds a tick; guarded by rate_mutex, fixed once known so that times keep their order

double rate() noexcept {
    std::lock_guard guard(rate_mutex);
    if (settled_rate != 0) return settled_rate;
    const Moment present = read_both();
    if (present.stamp == beginning.stamp) return 1;
    const double found =
        static_cast<double>(present.time - beginning.time) / static_cast<double>(present.stamp - beginning.stamp);
    if (present.time - beginning.time > rate_settles_after) settled_rate = found;
    return found;
}

}  // namespace

Nanoseconds time_of(Ticks stamp) noexcept {
    if (!ticks_count_cycles) return static_cast<Nanoseconds>(stamp);
    const auto since = static_cast<double>(static_cast<std::int64_t>(stamp - beginning.stamp));
    return beginning.time + static_cast<Nanoseconds>(since * rate());
}

}  // namespace canopy
