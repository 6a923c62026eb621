// SPDX-License-Identifier: Apache-2.0
// Compiles one source with kernels to an object or an image: preprocess, rewrite, compile, pack, embed.
#pragma once

#include <string>

#include "base/timing.h"
#include "options/options.h"
#include "options/tree.h"

namespace canopy_cc {

// Writes the object or, when the options ask for one, the image. Errors go to standard error.
int compile_source(const Options& options, const Tree& tree, const std::string& source, const std::string& output,
                   Timing& timing);

// Writes the checking code made from the text that --checking-code= names: a shared object for the last target.
int compile_checking_code(const Options& options, const Tree& tree, Timing& timing);

}  // namespace canopy_cc
