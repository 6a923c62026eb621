// SPDX-License-Identifier: Apache-2.0
// From one source with kernels to an object or an image: preprocess, rewrite, compile, pack, embed.
#pragma once

#include <string>

#include "options.h"
#include "timing.h"
#include "tree.h"

namespace canopy_cc {

enum ExitStatus { success = 0, bad_source = 1, bad_command_line = 2, broken_toolchain = 3 };

// Says "canopy-cc: error: TEXT" and returns the status.
int complain(int status, const std::string& text);

// Writes the object or, when the options ask for one, the image. What is wrong goes to standard error.
int compile_source(const Options& options, const Tree& tree, const std::string& source, const std::string& output,
                   Timing& timing);

}  // namespace canopy_cc
