// SPDX-License-Identifier: Apache-2.0
#include "base/process.h"

#include <unistd.h>

#include <vector>

namespace canopy_cc {

int run_with_files(const Command& command, const std::string& input, const std::string& output, std::string& messages) {
    canopy::ProcessOptions options;
    options.input = input;
    options.output = output;
    // Interrupts, and the runtime, kill the driver's whole process group.
    options.ends_with_caller = false;
    const auto finished = canopy::run_to_end(command, options);
    if (finished.ok()) {
        messages += finished->output;
        return finished->status;
    }
    messages += "canopy-cc: error: " + finished.message() + "\n";
    return 127;
}

void become(const Command& command) {
    std::vector<char*> arguments;
    for (const std::string& part : command) arguments.push_back(const_cast<char*>(part.c_str()));
    arguments.push_back(nullptr);
    execvp(arguments[0], arguments.data());
}

std::string quoted(const Command& command) {
    std::string line;
    for (const std::string& part : command) {
        if (!line.empty()) line += ' ';
        const bool plain = !part.empty() && part.find_first_of(" \t\"'\\$*?;&|<>()") == std::string::npos;
        line += plain ? part : "'" + part + "'";
    }
    return line;
}

}  // namespace canopy_cc
