// SPDX-License-Identifier: Apache-2.0
#include "compile/job.h"

#include <fmt/core.h>

#include <cstdio>

#include "base/text.h"

namespace canopy_cc {

int run_tool(const CompileJob& job, const Command& command, std::string& messages, const std::string& input,
             const std::string& output) {
    if (job.options.verbose) fmt::print(stderr, "{}\n", quoted(command));
    return run_with_files(command, input, output, messages);
}

Command image_link_command(const CompileJob& job, const std::vector<std::string>& objects, const std::string& output,
                           const std::string& exports_file) {
    // -Bsymbolic: symbols of the image resolve to its own definitions, whatever else the process has loaded.
    Command command = {job.tree.compiler, "-shared", "-fPIC"};
    command.insert(command.end(), objects.begin(), objects.end());
    command.insert(command.end(),
                   {"-Wl,-Bsymbolic", "-Wl,--gc-sections", "-Wl,--as-needed", "-Wl,--version-script=" + exports_file});
    // The sanitizer runtime comes from the process that loads the image.
    if (!job.options.sanitized) command.push_back("-Wl,-z,defs");
    for (const std::string& flag : job.options.compiler_flags)
        if (begins(flag, "--gcc-toolchain") || begins(flag, "--sysroot")) command.push_back(flag);
    command.insert(command.end(), {"-o", output});
    return command;
}

}  // namespace canopy_cc
