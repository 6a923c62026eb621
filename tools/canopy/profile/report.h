// SPDX-License-Identifier: Apache-2.0
// A summary as text for the terminal, and as JSON.
#pragma once

#include <string>

#include "foundation/json.h"
#include "profile/profile_file.h"
#include "profile/summary.h"

namespace canopy_tool {

struct ReportOptions {
    bool colours = false;
    std::size_t rows = 10;  // of each table
    bool brief = false;     // kernels and findings only
};

std::string report_text(const canopy::profile::ProfileFile& file, const canopy::profile::Summary& summary,
                        const ReportOptions& options);
canopy::Json report_json(const canopy::profile::ProfileFile& file, const canopy::profile::Summary& summary);

}  // namespace canopy_tool
