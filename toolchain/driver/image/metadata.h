// SPDX-License-Identifier: Apache-2.0
// The JSON file next to a kernel image: how to launch its kernel, and the data needed to fuse it.
#pragma once

#include <string>
#include <vector>

#include "compile/kernel.h"
#include "options/options.h"
#include "source/launch_headers.h"

namespace canopy_cc {

struct MetadataJob {
    const Options& options;
    const std::vector<KernelDescription>& kernels;
    const std::vector<LaunchFunction>& signatures;  // of kernels whose parameters have names
    const std::vector<std::string>& files;          // the user's own sources
    bool has_variables;                             // kernels use device memory that is not an argument
    const std::string& image;                       // its bytes
    const std::string& output;                      // its path
};

// "folder/name.o" -> "folder/name.json"
std::string metadata_path(const std::string& image_path);

// Fills `text`. Returns an empty string, or why no file can be written.
std::string metadata_text(const MetadataJob& job, std::string& text);

}  // namespace canopy_cc
