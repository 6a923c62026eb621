// SPDX-License-Identifier: Apache-2.0
// The output of `canopy doctor`.
#pragma once

#include <iosfwd>
#include <vector>

#include "finding.h"
#include "sources.h"

namespace canopy_tool {

struct Report {
    std::size_t files = 0;  // number of files read
    std::vector<SkippedFile> skipped;
    std::vector<Finding> findings;

    [[nodiscard]] std::size_t count(Level level) const;
};

void print_report(std::ostream& out, const Report& report, Level least);
void print_report_json(std::ostream& out, const Report& report, Level least);

}  // namespace canopy_tool
