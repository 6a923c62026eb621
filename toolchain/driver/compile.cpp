// SPDX-License-Identifier: Apache-2.0
#include "compile.h"

#include <fmt/core.h>
#include <sys/types.h>

#include <cstdio>
#include <string_view>

#include "parse.h"
#include "process.h"

namespace canopy_cc {
namespace {

constexpr int broken = 3;

std::string directory_of(const std::string& path) {
    const std::size_t slash = path.find_last_of('/');
    if (slash == std::string::npos) return ".";
    return slash == 0 ? "/" : path.substr(0, slash);
}

bool has_optimisation(const std::vector<std::string>& flags) {
    for (const std::string& flag : flags)
        if (flag.rfind("-O", 0) == 0) return true;
    return false;
}

void add(Command& command, std::initializer_list<const char*> flags) {
    command.insert(command.end(), flags.begin(), flags.end());
}

// The compiler reads the text from its standard input, so no name of a temporary file gets into an image.
Command compiler(const CompileJob& job) {
    Command command = {job.tree.compiler, "-x", "c++", "-", "-iquote", directory_of(job.options.source)};
    if (!has_optimisation(job.options.compiler_flags)) command.push_back("-O2");
    // The same numbers on every target: no fused multiply-add the source does not ask for. Large frames touch every
    // page on the way, so a stack that runs over meets its guard; a loop without end stays one.
    add(command, {"-fPIC", "-ffp-contract=off", "-fvisibility=protected", "-ffunction-sections", "-fdata-sections",
                  "-fstack-clash-protection", "-fno-finite-loops"});
    const auto language = language_flags(job.options, job.tree);
    command.insert(command.end(), language.begin(), language.end());
    return command;
}

Command target_command(const CompileJob& job, const std::string& target, bool quiet) {
    Command command = compiler(job);
    command.push_back("-march=" + target);
    // A symbol of the image means the image's own, whatever else the process holds.
    add(command, {"-shared", "-Wl,-Bsymbolic", "-Wl,--gc-sections", "-Wl,--as-needed"});
    // A sanitizer's own functions come from the process that loads the image; gcc's lack those of one check.
    if (job.options.sanitized)
        add(command, {"-fno-sanitize-link-runtime", "-fno-sanitize=function"});
    else
        command.push_back("-Wl,-z,defs");
    command.push_back("-Wl,--version-script=" + job.directory + "/exports");
    if (quiet) command.push_back("-w");
    add(command, {"-o"});
    command.push_back(job.directory + "/" + target + ".so");
    return command;
}

bool write_inputs(const CompileJob& job) {
    return write_file(job.directory + "/text", job.text) && write_file(job.directory + "/exports", job.exports);
}

pid_t launch(const CompileJob& job, const Command& command) {
    if (job.options.verbose) fmt::print(stderr, "{}\n", quoted(command));
    const pid_t process = start(command, job.directory + "/text");
    if (process < 0) fmt::print(stderr, "canopy-cc: error: cannot start {}\n", command[0]);
    return process;
}

}  // namespace

int compile_targets(const CompileJob& job, std::vector<CompiledTarget>& compiled) {
    if (!write_inputs(job)) {
        fmt::print(stderr, "canopy-cc: error: cannot write into {}\n", job.directory);
        return broken;
    }
    std::vector<pid_t> processes;
    for (const std::string& target : job.options.targets)
        processes.push_back(launch(job, target_command(job, target, !processes.empty())));
    int result = 0;
    for (const pid_t process : processes) {
        const int status = process < 0 ? broken : wait_for(process);
        if (result == 0) result = status;
    }
    if (result != 0) return result;
    for (const std::string& target : job.options.targets) {
        CompiledTarget& made = compiled.emplace_back();
        made.name = target;
        if (!read_file(job.directory + "/" + target + ".so", made.object)) return broken;
    }
    return 0;
}

int check_text(const CompileJob& job) {
    if (!write_inputs(job)) return broken;
    Command command = compiler(job);
    command.push_back("-march=" + job.options.targets.front());
    command.push_back("-fsyntax-only");
    const pid_t process = launch(job, command);
    return process < 0 ? broken : wait_for(process);
}

}  // namespace canopy_cc
