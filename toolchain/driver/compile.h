// SPDX-License-Identifier: Apache-2.0
// From generated text to one shared object for each target. Targets are compiled side by side.
#pragma once

#include <string>
#include <vector>

#include "options.h"
#include "tree.h"

namespace canopy_cc {

struct CompiledTarget {
    std::string name;
    std::string object;  // bytes of the shared object
};

struct CompileJob {
    const Options& options;
    const Tree& tree;
    std::string directory;  // for files in between
    std::string text;
    std::string exports;
};

// What the compiler says goes to standard error. Returns 0, or the exit status of the first compiler that failed.
int compile_targets(const CompileJob& job, std::vector<CompiledTarget>& compiled);

// Lets the compiler report the errors of the text; writes nothing.
int check_text(const CompileJob& job);

}  // namespace canopy_cc
