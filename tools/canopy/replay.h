// SPDX-License-Identifier: Apache-2.0
// `canopy replay`: runs a block of a failed launch again, alone or under gdb.
#pragma once

#include <iosfwd>
#include <string>
#include <vector>

namespace canopy_tool {

struct ReplayOptions {
    std::string folder;
    std::string block;  // a number, "all", or empty: the one that failed
    bool gdb = false;
    std::vector<std::string> gdb_arguments;
    std::string attempt;  // how often the process has been started anew already
};

// The exit status: 0 if the block failed as it did before, or did not fail; 1 if it could not run, 3 if it failed in
// another way. With gdb, gdb's.
int replay(const ReplayOptions& options, std::ostream& out, std::ostream& problems);

}  // namespace canopy_tool
