// SPDX-License-Identifier: Apache-2.0
// Runs other programs and reads and writes files for them.
#pragma once

#include <string>

#include "foundation/files.h"
#include "foundation/subprocess.h"

namespace canopy_cc {

using Command = canopy::CommandLine;
using canopy::read_file;
using canopy::write_file;

// Runs a program until it exits: standard input comes from a file, standard output goes to one ("-": the caller's), and
// standard error goes to `messages`. May be called from several threads at once.
int run_with_files(const Command& command, const std::string& input, const std::string& output, std::string& messages);
// Replaces this process with the program (exec); returns only if that fails.
void become(const Command& command);

// The command quoted for a shell.
std::string quoted(const Command& command);

}  // namespace canopy_cc
