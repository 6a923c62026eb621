// SPDX-License-Identifier: Apache-2.0
// Launch functions: host code compiled without the kernels starts one with ACLRT_LAUNCH_KERNEL(kernel)(blocks, stream,
// ...). For each kernel a header aclrtlaunch_<kernel>.h declares the function, and the host text of the source defines
// it.
#pragma once

#include <string>
#include <vector>

#include "source/declarations.h"
#include "source/lex.h"

namespace canopy_cc {

struct LaunchFunction {
    std::string kernel;
    std::vector<std::string> types;  // of its parameters; a pointer is "void*" or "const void*"
    std::vector<std::string> names;  // of its parameters
    std::vector<bool> indirect;      // parameters that are pointers to pointers
    std::vector<bool> structures;    // parameters that are structures by value; launch functions take their address
};

// One for each kernel that C code could name: not a template, not in a namespace.
std::vector<LaunchFunction> find_launch_functions(const Tokens& tokens, const Declarations& declarations);

// The definitions, to append to the host text.
std::string launch_definitions(const std::vector<LaunchFunction>& functions);

// Writes the headers that have changed into a folder. Returns an empty string, or what went wrong.
std::string write_launch_headers(const std::vector<LaunchFunction>& functions, const std::string& folder);

}  // namespace canopy_cc
