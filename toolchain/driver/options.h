// SPDX-License-Identifier: Apache-2.0
// The command line of canopy-cc: what it says about the image, and what is handed on to the compiler. Flags the driver
// does not know go to the compiler as they are.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace canopy_cc {

enum class Action { compile, show_help, show_version };

struct Options {
    Action action = Action::compile;
    bool image = false;
    bool verbose = false;
    std::string source;
    std::string output;
    std::uint32_t architecture = 2201;
    std::vector<std::string> targets;         // as named in the image: "x86-64-v3"
    std::vector<std::string> compiler_flags;  // for parsing and compiling
    bool sanitized = false;
    bool write_dependencies = false;
    bool system_dependencies = true;
    std::string dependency_file;
    std::string dependency_target;
};

// Fills `options`; returns an empty text, or what is wrong with the command line.
std::string parse_options(const std::vector<std::string>& arguments, Options& options);

const char* help_text();

}  // namespace canopy_cc
