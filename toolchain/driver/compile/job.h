// SPDX-License-Identifier: Apache-2.0
// The compilation of one source, and helpers that run the tools of every step.
#pragma once

#include <string>
#include <vector>

#include "base/process.h"
#include "base/timing.h"
#include "options/options.h"
#include "options/tree.h"

namespace canopy_cc {

// Intermediate files are in `directory`.
struct CompileJob {
    const Options& options;
    const Tree& tree;
    std::string source;
    std::string directory;
    std::string dependency_file;  // empty: none requested
    std::string dependency_target;
    std::vector<std::string> shared_variables;  // symbols that the two variants of a device text share
    Timing& timing;
};

// The texts to compile. Empty ones are skipped; `cube` is set when the device text differs for cube cores.
struct Texts {
    std::string host;
    std::string device;
    std::string cube;
};

// Runs a program of the toolchain; prints the command if the user asked for that.
int run_tool(const CompileJob& job, const Command& command, std::string& messages,
             const std::string& input = "/dev/null", const std::string& output = "-");

// The command that links a shared object with the exports listed in the file.
Command image_link_command(const CompileJob& job, const std::vector<std::string>& objects, const std::string& output,
                           const std::string& exports_file);

}  // namespace canopy_cc
