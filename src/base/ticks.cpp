// SPDX-License-Identifier: Apache-2.0
#include "base/ticks.h"

#if defined(__x86_64__)
#include <cpuid.h>
#endif

#include <atomic>

#include "foundation/mutex.h"

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

// Both clocks at one moment: the tightest of several tries, since the thread may be preempted between two readings.
Moment read_both() noexcept {
    Moment best{};
    Ticks narrowest = ~Ticks{0};
    for (int i = 0; i < 16; ++i) {
        const Ticks before = ticks();
        const Nanoseconds time = now();
        const Ticks width = ticks() - before;
        if (width >= narrowest) continue;
        narrowest = width;
        best = {before + width / 2, time};
    }
    return best;
}

}  // namespace

const bool ticks_count_cycles = counter_is_even();

namespace {

const Moment beginning = read_both();
// Reading both clocks is off by some 20 ns; over this period the rate is accurate to a few parts per million.
constexpr Nanoseconds rate_settles_after = 10 * millisecond;

Mutex rate_mutex;
std::atomic<double> settled_rate{0};  // nanoseconds per tick; set once, under the mutex, so that times keep their order

// Shortly after process start the caller waits until the rate is known.
double rate() noexcept {
    if (const double known = settled_rate.load(std::memory_order_relaxed); known != 0) return known;
    MutexLock guard(rate_mutex);
    if (const double known = settled_rate.load(std::memory_order_relaxed); known != 0) return known;
    Moment present = read_both();
    while (present.time - beginning.time < rate_settles_after) {
        const Nanoseconds left = rate_settles_after - (present.time - beginning.time);
        const timespec pause{0, static_cast<long>(left)};
        nanosleep(&pause, nullptr);
        present = read_both();
    }
    const double found =
        static_cast<double>(present.time - beginning.time) / static_cast<double>(present.stamp - beginning.stamp);
    settled_rate.store(found, std::memory_order_relaxed);
    return found;
}

}  // namespace

Nanoseconds time_of(Ticks stamp) noexcept {
    if (!ticks_count_cycles) return static_cast<Nanoseconds>(stamp);
    const auto since = static_cast<double>(static_cast<std::int64_t>(stamp - beginning.stamp));
    return beginning.time + static_cast<Nanoseconds>(since * rate());
}

}  // namespace canopy
