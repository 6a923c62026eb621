// SPDX-License-Identifier: Apache-2.0
#include "base/timing.h"

#include <fmt/core.h>
#include <sys/resource.h>

namespace canopy_cc {
namespace {

double milliseconds(Timing::Clock::duration duration) {
    return std::chrono::duration<double, std::milli>(duration).count();
}

// Processor time of this process and of the compilers it ran.
double processor_milliseconds() {
    double sum = 0;
    for (const int who : {RUSAGE_SELF, RUSAGE_CHILDREN}) {
        rusage usage{};
        getrusage(who, &usage);
        for (const timeval& time : {usage.ru_utime, usage.ru_stime})
            sum += static_cast<double>(time.tv_sec) * 1e3 + static_cast<double>(time.tv_usec) * 1e-3;
    }
    return sum;
}

}  // namespace

void Timing::add(const std::string& name, Clock::duration duration) {
    const std::lock_guard lock(mutex_);
    rows_.push_back({name, duration});
}

std::string Timing::table() const {
    const std::lock_guard lock(mutex_);
    std::string text = "canopy-cc: stages that run at the same time overlap\n";
    for (const Row& row : rows_) text += fmt::format("  {:<28} {:>8.1f} ms\n", row.name, milliseconds(row.duration));
    text += fmt::format("  {:<28} {:>8.1f} ms, {:.1f} ms of processor time\n", "total",
                        milliseconds(Clock::now() - begin_), processor_milliseconds());
    return text;
}

}  // namespace canopy_cc
