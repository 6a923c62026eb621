// SPDX-License-Identifier: Apache-2.0
// `canopy dump`: shows dump files, and writes what they hold as files for numpy.
#pragma once

#include <iosfwd>
#include <string>
#include <vector>

namespace canopy_tool {

struct DumpOptions {
    std::vector<std::string> files;
    std::string npy;   // folder for .npy files
    std::string type;  // of elements whose type the file does not say
    bool json = false;
};

// The exit status: 1 if a file could not be shown or written, 2 for a wrong type.
int show_dumps(const DumpOptions& options, std::ostream& out, std::ostream& problems);

}  // namespace canopy_tool
