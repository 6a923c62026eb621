// SPDX-License-Identifier: Apache-2.0
// How everything here is measured. A contender runs rounds of many operations and returns the time of one operation.
// The contenders of a row take turns, so that a disturbance of the machine affects all of them. The table shows the
// median of the rounds.
#pragma once

#include <x86intrin.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace bench {

struct Summary {
    double p50 = 0;
    double p99 = 0;
    double lowest = 0;
    double highest = 0;
    std::size_t samples = 0;
};

Summary summarise(std::vector<double> values);

// Nanoseconds of the monotonic clock.
std::uint64_t now();

struct Contender {
    std::string name;
    // Runs one round, with `warm_up` operations before the clock starts, and returns the measurement.
    std::function<double()> round;
    std::vector<double> samples = {};
    [[nodiscard]] Summary summary() const { return summarise(samples); }
};

// Runs one unrecorded round of each contender, then `rounds` of each in turn.
void take_turns(std::vector<Contender>& contenders, int rounds);

// Runs `operation(warm_up)` untimed, then `operation(count)` timed; returns nanoseconds per operation.
template <class Operation>
double time_each(std::size_t warm_up, std::size_t count, Operation&& operation) {
    if (warm_up) operation(warm_up);
    const std::uint64_t begin = now();
    operation(count);
    return static_cast<double>(now() - begin) / static_cast<double>(count);
}

// Converts the time stamp counter that kernels read to nanoseconds of the monotonic clock.
class StampClock {
public:
    StampClock();
    [[nodiscard]] double nanoseconds(std::uint64_t ticks) const { return static_cast<double>(ticks) * period_; }
    [[nodiscard]] std::uint64_t ticks(double nanoseconds) const {
        return static_cast<std::uint64_t>(nanoseconds / period_);
    }
    [[nodiscard]] static std::uint64_t read() { return __rdtsc(); }

private:
    double period_;
};

// One-way transfer times of a cache line between two processors: two threads pass a word back and forth.
std::vector<double> cache_line_hops(int rounds);

}  // namespace bench
