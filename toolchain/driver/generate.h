// SPDX-License-Identifier: Apache-2.0
// The text the compiler gets: the user's source under its own name and line numbers, then the image's service table
// and one entry function for each kernel.
#pragma once

#include <string>
#include <vector>

#include "parse.h"

namespace canopy_cc {

std::string generate_text(const std::string& source_name, const std::string& source_text,
                          const std::vector<KernelDescription>& kernels);

// A linker script that shows the loader what it looks for and lets the linker drop everything no kernel reaches, host
// code in the same source above all.
std::string generate_exports(const Source& source);

}  // namespace canopy_cc
