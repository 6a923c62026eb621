// SPDX-License-Identifier: Apache-2.0
// Writes the tables of a profile: files with the names, columns and order of the field's tools. Cells for which there
// is no figure are N/A. Tasks are sorted by their begin, so memory grows with them: 56 bytes each.
//
// Threads: one at a time.
#pragma once

#include <string>
#include <vector>

#include "foundation/problem.h"
#include "profile/profile_file.h"
#include "profile/summary.h"

namespace canopy::profile {

struct WrittenTables {
    std::vector<std::string> files;  // paths
    Problem problem;                 // the first file that could not be written; the others are tried
};

// Writes {folder}/op_summary_{suffix}.csv and the others, those that have rows.
WrittenTables write_tables(ProfileFile& file, const Summary& summary, const std::string& folder,
                           const std::string& suffix);

}  // namespace canopy::profile
