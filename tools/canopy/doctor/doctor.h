// SPDX-License-Identifier: Apache-2.0
// `canopy doctor`: reports before a build which parts of a program do not work on Canopy.
#pragma once

#include <iosfwd>
#include <string>
#include <vector>

namespace canopy_tool {

struct DoctorOptions {
    std::vector<std::string> paths;
    std::string tree;  // empty: the tree of this executable
    bool json = false;
    bool quiet = false;  // errors only
};

// Returns the exit status of the command: 0 if nothing stops the program, 1 if something does, 2 if a path or the tree
// cannot be read.
int run_doctor(const DoctorOptions& options, std::ostream& out, std::ostream& errors);

}  // namespace canopy_tool
