// SPDX-License-Identifier: Apache-2.0
// What a user asks of a check besides its classes: the options of `canopy check`, which CANOPY_CHECK_OPTIONS holds in
// the same form.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "check/launch_check.h"
#include "foundation/problem.h"

namespace canopy::check {

struct ReportOptions {
    std::string json, sarif, write_suppressions;  // files, with absolute paths; empty: none
    std::string trace;                            // likewise
    std::vector<std::string> suppress;            // files, likewise
    int exit_code = 66;                           // of a process with errors that would return 0; 0: not changed
    bool strict = false;                          // warnings are errors
    bool notes = false;                           // prints notes, too
    bool stop = false;                            // fails the task with the first error
    bool twin_names = false;                      // prints the names that the CPU twin has for findings
    std::vector<std::string> kernels;             // patterns; empty: all
    std::vector<std::string> ignored;             // patterns of files
    std::optional<std::uint32_t> block;           // the only one that is checked
    std::optional<std::uint64_t> first;           // launches of each kernel that are checked
};

struct Options {
    CheckOptions check;
    ReportOptions report;
};

struct OptionName {
    std::string_view name;     // "--json"
    std::string_view value;    // what follows it, like "FILE"; empty: nothing
    std::string_view meaning;  // a line of the help
};
std::span<const OptionName> option_names() noexcept;

// `value` is empty for an option without one.
Problem set_option(Options& options, std::string_view name, std::string_view value);

// Reads "--strict --json 'my file.jsonl'", with quotes and backslashes as in a shell. Each part that cannot be used is
// left out, and named in `problems`. `classes` stays as it is, but for those that are options.
void read_options(std::string_view text, Options& options, std::vector<std::string>& problems);
// A word in the form that read_options takes.
std::string quoted(std::string_view word);

}  // namespace canopy::check
