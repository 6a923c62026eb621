// SPDX-License-Identifier: Apache-2.0
// One source on its way through the compiler, and the tools that every step of it runs.
#pragma once

#include <string>
#include <vector>

#include "base/process.h"
#include "base/timing.h"
#include "options/options.h"
#include "options/tree.h"

namespace canopy_cc {

// Files in between lie in `directory`.
struct CompileJob {
    const Options& options;
    const Tree& tree;
    std::string source;
    std::string directory;
    std::string dependency_file;  // empty: none is wanted
    std::string dependency_target;
    std::vector<std::string> shared_variables;  // symbols that the two variants of a device text share
    Timing& timing;
};

// What is compiled. Empty texts are left out; `cube` is there when the device text differs for cube cores.
struct Texts {
    std::string host;
    std::string device;
    std::string cube;
};

// Runs a program of the toolchain; shows it when the user wants to see commands.
int run_tool(const CompileJob& job, const Command& command, std::string& messages,
             const std::string& input = "/dev/null", const std::string& output = "-");

// Links a shared object that exports what the file says.
Command image_link_command(const CompileJob& job, const std::vector<std::string>& objects, const std::string& output,
                           const std::string& exports_file);

}  // namespace canopy_cc
