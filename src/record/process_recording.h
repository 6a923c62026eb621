// SPDX-License-Identifier: Apache-2.0
// The recording of a whole process, from the first use of the library to the end of the process (CANOPY_PROFILE), and
// its black box (CANOPY_BLACKBOX). Any thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "foundation/problem.h"

namespace canopy::record {

// "calls,tasks": what to record. Empty if a word is unknown.
std::optional<std::uint32_t> wanted_of(std::string_view list) noexcept;
std::string wanted_text(std::uint32_t wanted);

// Begins it; %p in the path is the number of the process. If another process writes that file, as the parent of this
// one does that has the same environment, the file is PATH.PROCESS. `quiet`: say nothing on standard error if something
// is wrong at the end.
Problem record_process(const std::string& path, std::uint32_t wanted, bool quiet);

// Keeps the rings of the process in a file from now on, which survives the process unless that ends cleanly
// (black_box.h). `alone`: records are also written while nobody listens.
Problem keep_black_box(bool alone);

}  // namespace canopy::record
