// SPDX-License-Identifier: Apache-2.0
// The folder of results that the field's tools make and look into: PROF_{number}_{time}_{process}{letters}/ with host/,
// device_{id}/ and, in mindstudio_profiler_output/, the trace and the tables. Beside them lie the page and the profile
// itself. Only its owner may read it.
//
// Threads: any.
#pragma once

#include <string>
#include <string_view>

#include "foundation/problem.h"
#include "profile/profile_file.h"

namespace canopy::profile {

inline constexpr std::string_view profile_in_folder = "profile.canopyprof";
inline constexpr std::string_view page_in_folder = "timeline.html";
inline constexpr std::string_view output_in_folder = "mindstudio_profiler_output";

// Makes the folder in `parent`, which must be there, and returns its path. If something of it cannot be written, the
// problem says what, and the folder holds the rest.
Expected<std::string> write_result_folder(ProfileFile& file, const std::string& parent);

// Writes the trace and the tables into mindstudio_profiler_output/ of such a folder, beside those that are there.
Problem write_output(ProfileFile& file, const std::string& folder);

// "20251118213000": a time of the local clock, as names of files have it.
std::string time_in_name(std::int64_t unix_nanoseconds, bool milliseconds);

}  // namespace canopy::profile
