// SPDX-License-Identifier: Apache-2.0
// The records of a profile as tables of the structures that programs get (canopy/profile.h). Threads: values.
#pragma once

#include <string>
#include <vector>

#include "canopy/profile.h"
#include "profile/profile_file.h"

namespace canopy {

struct ProfileTables {
    std::vector<canopyProfileCall> calls;
    std::vector<canopyProfileTask> tasks;
    std::vector<canopyProfileCopy> copies;
    std::vector<canopyProfileBlock> blocks;
    std::vector<canopyProfileMark> marks;
    std::vector<canopyProfileMemory> memory;
    std::vector<canopyProfileStep> steps;
    std::vector<canopyProfileThread> threads;
    std::vector<std::string> texts;
    std::int64_t began = 0;  // unix time of 0, in nanoseconds
};

// Reads all records, twice.
ProfileTables read_tables(profile::ProfileFile& file);

}  // namespace canopy
