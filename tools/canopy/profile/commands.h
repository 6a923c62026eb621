// SPDX-License-Identifier: Apache-2.0
// `canopy profile`, `canopy stats` and `canopy export`.
#pragma once

#include <string>
#include <vector>

namespace canopy_tool {

struct ProfileOptions {
    std::vector<std::string> command;
    std::string output;   // a folder, or a file whose ending says its format; empty: a new folder here
    std::string formats;  // empty: html,json.gz,prof
    std::string want;     // for CANOPY_PROFILE_WANT; empty: everything
    bool quiet = false;
};
// The exit status of the program; 125 if it was not started because of the options or the output, 126 or 127 if it
// could not be started, 1 if it returned 0 and a file could not be written.
int profile_program(const ProfileOptions& options);

struct StatsOptions {
    std::vector<std::string> paths;
    bool json = false;
    bool all_rows = false;
    bool last = false;  // the newest black box
};
int print_stats(const StatsOptions& options);

struct ExportOptions {
    std::vector<std::string> paths;  // one
    std::string output;              // as above; empty: beside the profile
    std::string formats;             // empty: html,json.gz,csv
    bool last = false;               // the newest black box
};
int export_profile(const ExportOptions& options);

}  // namespace canopy_tool
