// SPDX-License-Identifier: Apache-2.0
// The forms in which a profile can be written: a page, a trace, tables, the profile itself.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "foundation/problem.h"
#include "profile/profile_file.h"
#include "profile/summary.h"

namespace canopy_tool {

enum class Format { html, json, json_gz, csv, prof };

inline constexpr const char* format_words = "html, json, json.gz, csv, prof";

// "html,csv"; nullopt if a word is none of format_words.
std::optional<std::vector<Format>> formats_of(const std::string& list);
// By the end of a name ("run.json.gz"); nullopt if it is no such file.
std::optional<Format> format_of_file(const std::string& path);

struct Written {
    std::vector<std::string> files;
    std::vector<std::string> problems;
};

// One format into a file.
canopy::Problem write_format(canopy::profile::ProfileFile& file, const canopy::profile::Summary& summary, Format format,
                             const std::string& path);
// All of them into a folder, which must be there: timeline.html, trace.json, trace.json.gz, *.csv, profile.canopyprof.
Written write_formats(canopy::profile::ProfileFile& file, const canopy::profile::Summary& summary,
                      const std::vector<Format>& formats, const std::string& folder);

}  // namespace canopy_tool
