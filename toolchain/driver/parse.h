// SPDX-License-Identifier: Apache-2.0
// Reads a kernel source with libclang and lists what an image needs to know: its kernels with their parameters, the
// variables that outlive a launch, the files it was made from.
#pragma once

#include <string>
#include <vector>

#include "kernel.h"
#include "options.h"
#include "tree.h"

namespace canopy_cc {

struct Source {
    std::vector<KernelDescription> kernels;
    std::vector<std::string> variables;  // symbols of the source's own global variables
    std::vector<std::string> files;      // everything that was read, the source first
    bool has_errors = false;             // the compiler will say which
    std::string diagnostics;             // the same errors, as libclang words them
    std::vector<std::string> problems;   // what makes a kernel unusable, each with its place
    std::vector<std::string> templates;  // kernels that are templates and so have no entry
};

// Flags that make libclang and the compiler see the same program.
std::vector<std::string> language_flags(const Options& options, const Tree& tree);

// Returns an empty text, or why libclang could not read the source at all.
std::string parse_source(const Options& options, const Tree& tree, Source& source);

}  // namespace canopy_cc
