// SPDX-License-Identifier: Apache-2.0
// Findings: what a summary says about where time went, in sentences with figures.
//
// Threads: values.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "profile/block_balance.h"
#include "profile/figures.h"

namespace canopy::profile {

// At most `most_findings`, most at stake first. `balance` is by the number of a kernel's name, its times in ticks of
// `nanoseconds_per_tick`.
std::vector<Finding> findings_of(const Summary& summary,
                                 const std::unordered_map<std::uint32_t, KernelBalance>& balance,
                                 double nanoseconds_per_tick);

// "1.25 ms".
std::string time_text(double nanoseconds);
// "3.4 MB" of 10^6 bytes.
std::string bytes_text(double bytes);

}  // namespace canopy::profile
