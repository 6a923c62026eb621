// SPDX-License-Identifier: Apache-2.0
// The commands of a shell script or a makefile, as words.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "cmake_file.h"

namespace canopy_tool {

struct ShellCommand {
    std::vector<Word> words;  // without quotes; variables are not expanded
    bool runs = true;         // false for a line of a makefile that is not part of a recipe
    std::string condition;    // the `if` or `case` around it
};

enum class ScriptKind { shell, makefile };

// Comments and here-documents are skipped; commands inside $(...) and backquotes are separate commands.
std::vector<ShellCommand> read_shell(std::string_view text, ScriptKind kind);

// Index of the word that names the program: after assignments and words like `if` and `sudo`. The number of words if
// there is none.
std::size_t program_index(const ShellCommand& command);

}  // namespace canopy_tool
