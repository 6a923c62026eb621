// SPDX-License-Identifier: Apache-2.0
// Turns one preprocessed source into the two texts that are compiled: host code, where a kernel's body is a stub that
// launches it, and device code, where the kernel is registered in its image. All other code stays on its original line
// and column.
#pragma once

#include <string>
#include <vector>

#include "source/declarations.h"
#include "source/launch_headers.h"
#include "source/launches.h"
#include "source/lex.h"

namespace canopy_cc {

struct RewrittenSource {
    bool has_kernels = false;
    bool has_launches = false;
    bool on_vector = false;  // a kernel runs on vector cores
    bool on_cube = false;
    NamesOfKernels inferred;                    // of kernels whose cores are inferred
    bool has_variables = false;                 // in device memory, other than kernel arguments
    std::vector<std::string> files;             // the user's own
    std::vector<std::string> shared_variables;  // symbols of device variables visible to other files
    std::string host;
    std::string device;
    std::vector<LaunchFunction> launch_functions;
    std::vector<std::string> warnings;
    std::vector<std::string> problems;  // errors with their locations; if any, there is no output
};

struct RewriteJob {
    LanguageChoices language;
    std::string source;        // name of the file, as recorded in the image
    std::string image_symbol;  // of the embedded image's bytes
    bool launch_functions = false;
    std::size_t workspace_from_end = 0;       // position of the workspace parameter: 1 the last one, 0 none
    std::vector<std::string> instantiations;  // expressions that name kernels: "add<float>"
};

RewrittenSource rewrite(const std::string& preprocessed, const RewriteJob& job);

}  // namespace canopy_cc
