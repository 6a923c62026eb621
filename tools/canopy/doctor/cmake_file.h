// SPDX-License-Identifier: Apache-2.0
// The commands of a CMake file, with their arguments as written.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace canopy_tool {

struct Word {
    std::string text;
    unsigned line = 0;
};

struct CMakeCommand {
    std::string name;  // in lower case
    unsigned line = 0;
    std::vector<Word> arguments;
};

// Comments are skipped. A file that is not CMake yields arbitrary commands or none.
std::vector<CMakeCommand> read_cmake(std::string_view text);

}  // namespace canopy_tool
