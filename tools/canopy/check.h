// SPDX-License-Identifier: Apache-2.0
// `canopy check`.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace canopy_tool {

constexpr int check_not_started = 125;

struct CheckedProgram {
    std::vector<std::string> command;
    std::string classes;                                       // empty: all
    std::vector<std::pair<std::string, std::string>> options;  // as check::option_names has them
};
// The exit status of the program, or the one for errors if that is 0; check_not_started if it was not started because
// of the options, 126 or 127 if it could not be started, 1 if it returned 0 and a file could not be written.
int check_program(const CheckedProgram& program);

}  // namespace canopy_tool
