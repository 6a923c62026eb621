// SPDX-License-Identifier: Apache-2.0
#include "compile.h"

#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <string_view>
#include <thread>

#include "records.h"
#include "sanitizer.h"

namespace canopy_cc {
namespace {

constexpr int broken = 3;

bool begins(std::string_view text, std::string_view start) { return text.substr(0, start.size()) == start; }

bool any_begins(const std::vector<std::string>& flags, std::string_view start) {
    return std::any_of(flags.begin(), flags.end(), [&](const std::string& flag) { return begins(flag, start); });
}

void add(Command& command, std::initializer_list<const char*> flags) {
    command.insert(command.end(), flags.begin(), flags.end());
}

void add(Command& command, const std::vector<std::string>& flags) {
    command.insert(command.end(), flags.begin(), flags.end());
}

int show_and_run(const CompileJob& job, const Command& command, const std::string& input, const std::string& output,
                 std::string& messages) {
    if (job.options.verbose) fmt::print(stderr, "{}\n", quoted(command));
    return run_with_files(command, input, output, messages);
}

// Flags that decide what the text means, for the preprocessor and for every pass.
std::vector<std::string> language_flags(const CompileJob& job) {
    std::vector<std::string> flags;
    if (!any_begins(job.options.compiler_flags, "-std=")) flags.push_back("-std=gnu++17");
    if (!any_begins(job.options.compiler_flags, "-O")) flags.push_back("-O2");
    if (isatty(STDERR_FILENO) != 0) flags.push_back("-fcolor-diagnostics");
    flags.push_back("-fdeclspec");  // the kernel language has objects whose members are computed
    // Said about macros of other people, once they are expanded.
    add(flags,
        {"-Wno-parentheses-equality", "-Wno-unused-value", "-Wno-dangling-else", "-Wno-unused-command-line-argument"});
    add(flags, job.options.compiler_flags);
    return flags;
}

Command compiler(const CompileJob& job) {
    Command command = {job.tree.compiler, "-x", "c++-cpp-output", "-", "-c"};
    add(command, language_flags(job));
    return command;
}

Command host_command(const CompileJob& job) {
    Command command = compiler(job);
    if (!any_begins(job.options.compiler_flags, "-fPI") && !any_begins(job.options.compiler_flags, "-fpi"))
        command.push_back("-fPIC");
    add(command, job.options.host_flags);
    add(command, {"-w", "-o"});
    command.push_back(job.directory + "/host.o");
    return command;
}

Command device_command(const CompileJob& job, const std::string& target, bool quiet) {
    Command command = compiler(job);
    // The same numbers on every target: no fused multiply-add the source does not ask for. Large frames touch every
    // page on the way, so a stack that runs over meets its guard; a loop without end stays one.
    add(command, {"-fPIC", "-ffp-contract=off", "-fvisibility=protected", "-ffunction-sections", "-fdata-sections",
                  "-fstack-clash-protection", "-fno-finite-loops", "-Wno-pass-failed"});
    command.push_back("-march=" + target);
    if (job.options.sanitized) command.push_back("-fno-sanitize=function");
    if (job.options.sanitizer) add(command, sanitizer_flags());
    // Failures tell the line of a kernel that was compiled with any debug information.
    if (job.options.sanitizer && !any_begins(job.options.compiler_flags, "-g")) command.push_back("-gline-tables-only");
    if (quiet) command.push_back("-w");
    command.push_back("-o");
    command.push_back(job.directory + "/" + target + ".o");
    return command;
}

Command image_link_command(const CompileJob& job, const std::string& target) {
    const std::string base = job.directory + "/" + target;
    // A symbol of the image means the image's own, whatever else the process holds.
    Command command = {job.tree.compiler, "-shared",
                       "-fPIC",           base + ".o",
                       "-Wl,-Bsymbolic",  "-Wl,--gc-sections",
                       "-Wl,--as-needed", "-Wl,--version-script=" + job.directory + "/exports"};
    // A sanitizer's own functions come from the process that loads the image.
    if (!job.options.sanitized) command.push_back("-Wl,-z,defs");
    for (const std::string& flag : job.options.compiler_flags)
        if (begins(flag, "--gcc-toolchain") || begins(flag, "--sysroot")) command.push_back(flag);
    command.push_back("-o");
    command.push_back(base + ".so");
    return command;
}

// A pass and what it said.
struct Pass {
    int status = 0;
    std::string messages;
};

// Compiles the device text for one target and links it. The object stays in memory between the steps.
Pass device_pass(const CompileJob& job, const std::string& target, bool first, Compiled& compiled,
                 std::string& object) {
    Pass pass;
    const std::string base = job.directory + "/" + target;
    pass.status =
        show_and_run(job, device_command(job, target, !first), job.directory + "/device.ii", "", pass.messages);
    if (pass.status != 0) return pass;
    std::string compiled_object;
    if (!read_file(base + ".o", compiled_object)) return {broken, pass.messages};
    if (first) {
        const std::string problem = read_records(compiled_object, compiled.kernels);
        if (!problem.empty()) return {broken, fmt::format("canopy-cc: error: {}\n", problem)};
        compiled.names = pointed_symbols(compiled_object, "canopy_names");
    }
    // Host code in the same source has constructors too; a sanitizer needs its own.
    if (!job.options.sanitized) {
        drop_constructors(compiled_object);
        if (!write_file(base + ".o", compiled_object)) return {broken, pass.messages};
    }
    std::string linker;
    pass.status = show_and_run(job, image_link_command(job, target), "/dev/null", "", linker);
    pass.messages += linker;
    if (pass.status == 0 && !read_file(base + ".so", object)) pass.status = broken;
    return pass;
}

// What the loader looks for; everything no kernel reaches is dropped, host code in the same source above all.
constexpr const char* exports = "{\n  global:\n    canopy_image_services;\n  local: *;\n};\n";

// Without the headers of the system, but with those of the kernel language: an update of the tree compiles anew.
void keep_own_dependencies(const CompileJob& job) {
    std::string text, kept;
    if (!read_file(job.dependency_file, text)) return;
    for (std::size_t at = 0; at < text.size();) {
        const std::size_t end = std::min(text.find('\n', at), text.size() - 1) + 1;
        const std::string line = text.substr(at, end - at);
        const std::size_t name = line.find_first_not_of(' ');
        if (name == 0 || !begins(line.substr(std::min(name, line.size())), "/usr/")) kept += line;
        at = end;
    }
    if (kept.size() >= 3 && kept.substr(kept.size() - 3) == " \\\n") kept.replace(kept.size() - 3, 3, "\n");
    write_file(job.dependency_file, kept);
}

// Flags that clang does not know are the caller's mistake, not the source's.
int explain(int status, std::string& messages) {
    const std::string_view mark = "unknown argument: '";
    const std::size_t at = messages.find(mark);
    if (status == 0 || at == std::string::npos) return status;
    const std::size_t begin = at + mark.size();
    const std::string name = messages.substr(begin, messages.find('\'', begin) - begin);
    messages = fmt::format("canopy-cc: error: unknown option '{}' (canopy-cc --help lists the options)\n", name);
    return 2;
}

}  // namespace

int preprocess(const CompileJob& job, std::string& text, std::string& messages) {
    Command command = {job.tree.compiler, "-E", "-x", "c++"};
    add(command, language_flags(job));
    command.push_back(fmt::format("-D__NPU_ARCH__={}", job.options.architecture));
    add(command, {"-D__CANOPY__=1", "-D__CANOPY_CC__=1", "-D__BISHENG_CCEC__=1", "-include", "canopy_kernel/host.h",
                  "-include", "canopy_kernel/dimensions.h", "-include", "canopy_kernel/qualifiers.h"});
    for (const std::string& directory : {job.tree.kernel_headers, job.tree.headers}) {
        command.push_back("-isystem");
        command.push_back(directory);
    }
    if (job.options.sanitizer) command.push_back("-DCANOPY_CHECKED=1");
    if (!job.dependency_file.empty()) {
        command.push_back("-MD");
        if (job.options.phony_dependencies) command.push_back("-MP");
        add(command, {"-MF", job.dependency_file.c_str(), "-MT", job.dependency_target.c_str()});
    }
    command.push_back(job.source);
    const std::string file = job.directory + "/source.ii";
    int status = show_and_run(job, command, "/dev/null", file, messages);
    status = explain(status, messages);
    if (status == 0 && !read_file(file, text)) return broken;
    if (status == 0 && !job.dependency_file.empty() && !job.options.system_dependencies) keep_own_dependencies(job);
    return status;
}

Compiled compile_texts(const CompileJob& job, const std::string& host, const std::string& device) {
    Compiled compiled;
    if (!write_file(job.directory + "/host.ii", host) || !write_file(job.directory + "/device.ii", device) ||
        !write_file(job.directory + "/exports", exports)) {
        compiled.status = broken;
        compiled.messages = fmt::format("canopy-cc: error: cannot write into {}\n", job.directory);
        return compiled;
    }
    const std::size_t target_count = device.empty() ? 0 : job.options.targets.size();
    std::vector<Pass> passes(target_count + 1);
    compiled.targets.resize(target_count);
    std::vector<std::thread> threads;
    for (std::size_t index = 0; index < target_count; ++index)
        threads.emplace_back([&, index] {
            const std::string& target = job.options.targets[index];
            compiled.targets[index].name = target;
            passes[index] = device_pass(job, target, index == 0, compiled, compiled.targets[index].object);
        });
    Pass& host_pass = passes.back();
    if (!host.empty()) {
        Command command = host_command(job);
        // Without device code the host pass is the one that warns.
        if (device.empty()) command.erase(std::find(command.begin(), command.end(), "-w"));
        host_pass.status = show_and_run(job, command, job.directory + "/host.ii", "", host_pass.messages);
    }
    for (std::thread& thread : threads) thread.join();
    // One error is reported once: the passes after the first repeat what it said.
    for (std::size_t index = 0; index < passes.size() && compiled.status == 0; ++index) {
        if (index == 0 || passes[index].status != 0) compiled.messages += passes[index].messages;
        compiled.status = explain(passes[index].status, compiled.messages);
    }
    if (compiled.status == 0 && !host.empty() && !read_file(job.directory + "/host.o", compiled.host_object))
        compiled.status = broken;
    return compiled;
}

int join_objects(const CompileJob& job, const std::string& host_object, const std::string& image_object,
                 const std::string& output) {
    const std::string image_file = job.directory + "/image.o", host_file = job.directory + "/host.o";
    if (!write_file(image_file, image_object) || !write_file(host_file, host_object)) return broken;
    Command command = {job.tree.compiler, "-r", "-nostdlib", host_file, image_file, "-o", output};
    std::string messages;
    const int status = show_and_run(job, command, "/dev/null", "", messages);
    if (status != 0) fmt::print(stderr, "{}", messages);
    return status;
}

}  // namespace canopy_cc
