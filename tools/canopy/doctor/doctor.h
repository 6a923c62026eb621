// SPDX-License-Identifier: Apache-2.0
// `canopy doctor`: says before a build what of a program does not work on Canopy.
#pragma once

#include <iosfwd>
#include <string>
#include <vector>

namespace canopy_tool {

struct DoctorOptions {
    std::vector<std::string> paths;
    std::string tree;  // empty: the one this executable is part of
    bool json = false;
    bool quiet = false;  // errors only
};

// Returns the exit status of the command: 0 when nothing was found that stops the program, 1 when something was, 2 when
// a path or the tree cannot be read.
int run_doctor(const DoctorOptions& options, std::ostream& out, std::ostream& errors);

}  // namespace canopy_tool
