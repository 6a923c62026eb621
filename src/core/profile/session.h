// SPDX-License-Identifier: Apache-2.0
// A profiling session: aclprofInit to aclprofFinalize, and the one that aclInit's file switches on. Each run, from
// aclprofStart to aclprofStop, is recorded into a file in the session's folder; the end of the session makes a result
// folder of each. A process that ends in the middle of a session ends the session first; one that is killed leaves the
// file, which `canopy export` reads.
//
// Any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"
#include "core/process/profiler_section.h"

namespace canopy {

// 100003 if the folder cannot be made.
Status init_profiling(const std::string& folder);
Status set_profiling(int type, std::string_view value);
// Whether a run can begin; begins nothing.
Status warm_up_profiling(const void* config);
// null: the usual data of all devices. Without init_profiling, the folder is ACL_PROF_PATH or the current one.
Status start_profiling(const void* config);
// null: whatever runs. Nothing to stop is no failure.
Status stop_profiling(const void* config);
// Stops what runs and writes the results. 500005 if they are incomplete.
Status finalise_profiling();

// The session of aclInit's file. A folder that cannot be written does not fail; the user is told.
void start_configured_profiling(const ProfilerSection& section);
void end_configured_profiling();

}  // namespace canopy
