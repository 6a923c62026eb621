// SPDX-License-Identifier: Apache-2.0
// The paths the driver needs: the headers next to its executable (<root>/bin/canopy-cc), and a compiler.
#pragma once

#include <string>
#include <vector>

namespace canopy_cc {

struct Tree {
    std::string kernel_headers;  // <root>/toolchain/include
    std::string headers;         // <root>/include
    std::string libraries;       // <root>/lib64
    std::string unsupported;     // <root>/share/canopy/unsupported.tsv
    std::string families;        // <root>/share/canopy/families.txt
    std::string compiler;        // clang++, full path
    std::string c_compiler;      // clang next to it
};

// Fills `tree`. Returns an empty string, or what is missing.
std::string find_tree(Tree& tree);

}  // namespace canopy_cc
