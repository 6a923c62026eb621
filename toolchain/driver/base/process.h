// SPDX-License-Identifier: Apache-2.0
// The programs that canopy-cc runs, and the files it reads and writes for them.
#pragma once

#include <string>

#include "foundation/files.h"
#include "foundation/subprocess.h"

namespace canopy_cc {

using Command = canopy::CommandLine;
using canopy::read_file;
using canopy::write_file;

// Runs a program to its end: standard input from a file, standard output into one ("-": the caller's), and what it
// writes to standard error into `messages`. May be called from several threads at once.
int run_with_files(const Command& command, const std::string& input, const std::string& output, std::string& messages);
// Becomes the program; returns only when that fails.
void become(const Command& command);

// As one types it into a shell.
std::string quoted(const Command& command);

}  // namespace canopy_cc
