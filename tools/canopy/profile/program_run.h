// SPDX-License-Identifier: Apache-2.0
// Runs a program in the foreground, as a shell would, and waits for it.
#pragma once

#include <sys/types.h>

#include <string>
#include <utility>
#include <vector>

#include "foundation/problem.h"

namespace canopy_tool {

struct ProgramEnd {
    pid_t process = 0;
    int status = 0;  // what a shell would return: the exit status, or 128 and the signal
    int signal = 0;  // that ended it, 0 if none
};

// Finds a name without a slash in PATH. Sets these variables in its environment. Signals that ask this process to end
// go to the program instead; those of the terminal (Ctrl-C) reach it anyway. `cannot_start` receives 126 or 127, as a
// shell would return, if it does not start.
canopy::Expected<ProgramEnd> run_program(const std::vector<std::string>& command,
                                         const std::vector<std::pair<std::string, std::string>>& variables,
                                         int& cannot_start);

}  // namespace canopy_tool
