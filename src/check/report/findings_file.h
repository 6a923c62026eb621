// SPDX-License-Identifier: Apache-2.0
// A file of lines that several processes add to, each under a lock, so that what was found is there however a process
// ends.
#pragma once

#include <string>
#include <string_view>

#include "foundation/problem.h"

namespace canopy::check {

// Creates the file if there is none. The text ends with the end of a line.
Problem append_lines(const std::string& path, std::string_view text);
// Adds the lines that the file does not have yet.
Problem append_missing_lines(const std::string& path, std::string_view text);
// Puts the text in the place of all lines that begin like that. What is no file, like a terminal, gets `otherwise`.
Problem replace_lines(const std::string& path, std::string_view start, std::string_view text,
                      std::string_view otherwise);

}  // namespace canopy::check
