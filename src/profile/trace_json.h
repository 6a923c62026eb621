// SPDX-License-Identifier: Apache-2.0
// Writes a profile as trace events in JSON, which Perfetto and chrome://tracing open: one array, no wrapper, with the
// processes, rows and names of the field's tools, and processes "Workers" and "Copies" beside them. Streams the
// records; memory does not grow with them.
//
// Threads: one at a time.
#pragma once

#include <cstdint>
#include <string>

#include "foundation/problem.h"
#include "profile/profile_file.h"

namespace canopy::profile {

// How many events of each kind a trace has.
struct TraceCounts {
    std::uint64_t calls = 0, tasks = 0, nodes = 0, blocks = 0, steps = 0, pieces = 0, marks = 0, memory = 0;
    std::uint64_t launch_arrows = 0, wait_arrows = 0, mark_arrows = 0;
    std::uint64_t bytes = 0;  // of text
};

// Compressed if the name ends in .gz.
Problem write_trace_json(ProfileFile& file, const std::string& path, TraceCounts* counts = nullptr);

}  // namespace canopy::profile
