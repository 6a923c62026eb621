// SPDX-License-Identifier: Apache-2.0
#include "compile/compile.h"

#include <canopy/kernel_check.h>
#include <canopy/kernel_image.h>
#include <canopy/kernel_trace.h>
#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <string_view>
#include <thread>

#include "base/text.h"
#include "compile/checking.h"
#include "compile/device_ir.h"
#include "compile/families.h"
#include "compile/missing.h"
#include "compile/records.h"
#include "compile/sanitizer.h"
#include "compile/tracing.h"
#include "compile/variants.h"

namespace canopy_cc {
namespace {

constexpr int broken = 3;

bool any_begins(const std::vector<std::string>& flags, std::string_view start) {
    return std::any_of(flags.begin(), flags.end(), [&](const std::string& flag) { return begins(flag, start); });
}

void add(Command& command, std::initializer_list<const char*> flags) {
    command.insert(command.end(), flags.begin(), flags.end());
}

void add(Command& command, const std::vector<std::string>& flags) {
    command.insert(command.end(), flags.begin(), flags.end());
}

// Language flags for the preprocessor and every pass.
std::vector<std::string> language_flags(const CompileJob& job) {
    std::vector<std::string> flags;
    if (!any_begins(job.options.compiler_flags, "-std=")) flags.push_back("-std=gnu++17");
    if (!any_begins(job.options.compiler_flags, "-O")) flags.push_back("-O2");
    if (isatty(STDERR_FILENO) != 0) flags.push_back("-fcolor-diagnostics");
    // The fast selection of instructions, which serves code without optimisation, takes a bfloat16_t that a function
    // returns for a float and rounds it again: every negative number changes.
    add(flags, {"-mllvm", "-fast-isel=0"});
    flags.push_back("-fdeclspec");  // the kernel language has objects with computed members (properties)
    // Warnings that third-party macros cause once they are expanded.
    add(flags,
        {"-Wno-parentheses-equality", "-Wno-unused-value", "-Wno-dangling-else", "-Wno-unused-command-line-argument"});
    add(flags, job.options.compiler_flags);
    return flags;
}

// Reads C++ (or `language`) from standard input.
Command compiler(const CompileJob& job, const char* language = "c++-cpp-output") {
    Command command = {job.tree.compiler, "-x", language, "-"};
    add(command, language_flags(job));
    return command;
}

Command host_command(const CompileJob& job) {
    Command command = compiler(job);
    command.push_back("-c");
    if (!any_begins(job.options.compiler_flags, "-fPI") && !any_begins(job.options.compiler_flags, "-fpi"))
        command.push_back("-fPIC");
    add(command, job.options.host_flags);
    add(command, {"-w", "-o"});
    command.push_back(job.directory + "/host.o");
    return command;
}

void add_device_flags(const CompileJob& job, const std::string& target, Command& command) {
    // Results must be the same on every target: no fused multiply-add unless the source asks for it. Large frames touch
    // every page, so a stack overflow hits the guard page. Infinite loops are kept.
    add(command, {"-fPIC", "-ffp-contract=off", "-fvisibility=protected", "-ffunction-sections", "-fdata-sections",
                  "-fstack-clash-protection", "-fno-finite-loops", "-Wno-pass-failed", "-femulated-tls"});
    command.push_back("-march=" + target);
    if (target == "x86-64-v4") command.push_back("-mprefer-vector-width=512");
    if (job.options.sanitized) command.push_back("-fno-sanitize=function");
    if (job.options.sanitizer) add(command, sanitizer_flags());
    // Failure messages give source lines for kernels compiled with any debug information.
    if (job.options.sanitizer && !any_begins(job.options.compiler_flags, "-g")) command.push_back("-gline-tables-only");
}

// Compiles an object from a device text or, if the targets share it, from its LLVM IR. `text` names the device text:
// "device" or "cube".
Command device_command(const CompileJob& job, const std::string& target, const std::string& text, bool quiet) {
    const bool shared = goes_through_ir(job.options);
    Command command = shared ? compiler(job, "ir") : compiler(job);
    command.push_back("-c");
    add_device_flags(job, target, command);
    if (quiet || shared) command.push_back("-w");
    command.push_back("-o");
    command.push_back(fmt::format("{}/{}.{}.o", job.directory, target, text));
    return command;
}

// Exit status and messages of a pass.
struct Pass {
    int status = 0;
    std::string messages;
};

// Parses one device text for all targets.
Pass share_device_ir(const CompileJob& job, const std::string& text, bool quiet) {
    const Timing::Stage stage(job.timing, text + ": parse");
    const std::string base = fmt::format("{}/{}", job.directory, text), target = ir_target(job.options);
    Command command = compiler(job);
    add(command, {"-S", "-emit-llvm", "-Xclang", "-disable-llvm-passes"});
    add_device_flags(job, target, command);
    if (quiet) command.push_back("-w");
    command.insert(command.end(), {"-o", base + ".ll"});
    Pass pass;
    pass.status = run_tool(job, command, pass.messages, base + ".ii");
    if (pass.status != 0) return pass;
    std::string ir;
    if (!read_file(base + ".ll", ir)) return {broken, pass.messages};
    ir = with_internal_functions(without_host_code(ir));
    for (const std::string& to : job.options.targets)
        if (!write_file(fmt::format("{}/{}.{}.ll", job.directory, to, text), retargeted(ir, target, to)))
            pass.status = broken;
    return pass;
}

// Compiles one device text for one target and reads the records of its kernels.
Pass compile_device(const CompileJob& job, const std::string& target, const std::string& text, bool quiet,
                    Variant& made, std::vector<std::string>& names) {
    Pass pass;
    const Timing::Stage stage(job.timing, fmt::format("{}: {}", text, target));
    made.path = fmt::format("{}/{}.{}.o", job.directory, target, text);
    const std::string input = goes_through_ir(job.options) ? fmt::format("{}/{}.{}.ll", job.directory, target, text)
                                                           : fmt::format("{}/{}.ii", job.directory, text);
    pass.status = run_tool(job, device_command(job, target, text, quiet), pass.messages, input);
    if (pass.status != 0) return pass;
    std::string object;
    if (!read_file(made.path, object)) return {broken, pass.messages};
    const std::string problem = read_records(object, made.kernels);
    if (!problem.empty()) return {broken, fmt::format("canopy-cc: error: {}\n", problem)};
    names = pointed_symbols(object, "canopy_names");
    // Host code in the same source has constructors too, which are dropped; a sanitizer needs its own.
    if (job.options.sanitized) return pass;
    drop_constructors(object);
    if (!write_file(made.path, object)) pass.status = broken;
    return pass;
}

// Builds the shared object of one target from the device texts. The first target provides the list of kernels.
Pass device_pass(const CompileJob& job, const Texts& texts, std::size_t index, Compiled& compiled) {
    const std::string& target = job.options.targets[index];
    Variant vector, cube;
    std::vector<std::string> names, more_names;
    Pass pass = compile_device(job, target, "device", index != 0, vector, names);
    std::vector<std::string> objects = {vector.path};
    std::vector<KernelDescription> kernels = vector.kernels;
    if (pass.status == 0 && !texts.cube.empty()) {
        // The first variant has already emitted the warnings.
        const Pass second = compile_device(job, target, "cube", true, cube, more_names);
        pass.status = second.status;
        pass.messages += second.messages;
        if (pass.status == 0) pass.status = join_variants(job, target, vector, cube, objects, kernels, pass.messages);
    }
    if (pass.status != 0) return pass;
    const std::string output = fmt::format("{}/{}.so", job.directory, target);
    const Timing::Stage stage(job.timing, "link: " + target);
    pass.status = run_tool(job, image_link_command(job, objects, output, job.directory + "/exports"), pass.messages);
    compiled.targets[index].name = target;
    if (pass.status == 0 && !read_file(output, compiled.targets[index].object)) pass.status = broken;
    if (index == 0) {
        compiled.kernels = std::move(kernels);
        compiled.names = std::move(names);
    }
    return pass;
}

// Compiles all targets in parallel, after the pass they share.
void device_passes(const CompileJob& job, const Texts& texts, std::vector<Pass>& passes, Compiled& compiled) {
    std::string warnings;
    if (goes_through_ir(job.options)) {
        Pass vector, cube;
        std::thread cube_thread;
        if (!texts.cube.empty()) cube_thread = std::thread([&] { cube = share_device_ir(job, "cube", true); });
        vector = share_device_ir(job, "device", false);
        if (cube_thread.joinable()) cube_thread.join();
        passes[0] = vector.status != 0 ? vector : Pass{cube.status, vector.messages + cube.messages};
        if (passes[0].status != 0) return;
        warnings = passes[0].messages;
    }
    std::vector<std::thread> threads;
    for (std::size_t index = 0; index < compiled.targets.size(); ++index)
        threads.emplace_back([&, index] { passes[index] = device_pass(job, texts, index, compiled); });
    for (std::thread& thread : threads) thread.join();
    passes[0].messages.insert(0, warnings);
}

// Exports only the symbols that the loader looks up. Code that no kernel reaches is dropped, mainly host code.
std::string exports_of(std::string_view more) {
    return fmt::format("{{\n  global:\n    canopy_image_services;\n{}  local: *;\n}};\n", more);
}

bool write_texts(const CompileJob& job, const Texts& texts, std::string_view more_exports) {
    const std::string& directory = job.directory;
    return write_file(directory + "/host.ii", texts.host) && write_file(directory + "/device.ii", texts.device) &&
           write_file(directory + "/cube.ii", texts.cube) &&
           write_file(directory + "/exports", exports_of(more_exports));
}

// Drops system headers from the dependencies but keeps those of the kernel language, so an update of the tree causes a
// rebuild.
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

// Adds explanations to clang's errors. Unknown flags are an error of the command line, not of the source.
int explain(int status, const Tree& tree, std::string& messages) {
    if (status == 0) return status;
    const std::string_view mark = "unknown argument: '";
    const std::size_t at = messages.find(mark);
    if (at == std::string::npos) {
        messages = explain_missing_names(messages, tree.unsupported);
        return status;
    }
    const std::size_t begin = at + mark.size();
    const std::string name = messages.substr(begin, messages.find('\'', begin) - begin);
    messages = fmt::format("canopy-cc: error: unknown option '{}' (canopy-cc --help lists the options)\n", name);
    return 2;
}

int run_preprocessor(const CompileJob& job, const std::vector<std::string>& more, std::string& text,
                     std::string& messages) {
    Command command = {job.tree.compiler, "-E", "-x", "c++"};
    // Programs may define the language's qualifiers themselves, as other compilers do.
    command.push_back("-Wno-macro-redefined");
    add(command, language_flags(job));
    add(command, preprocessor_flags(job.options, job.tree));
    add(command, more);
    if (!job.dependency_file.empty()) {
        command.push_back("-MD");
        if (job.options.phony_dependencies) command.push_back("-MP");
        add(command, {"-MF", job.dependency_file.c_str(), "-MT", job.dependency_target.c_str()});
    }
    command.push_back(job.source);
    const std::string file = job.directory + "/source.ii";
    const int status = explain(run_tool(job, command, messages, "/dev/null", file), job.tree, messages);
    if (status == 0 && !read_file(file, text)) return broken;
    return status;
}

}  // namespace

std::vector<std::string> preprocessor_flags(const Options& options, const Tree& tree) {
    std::vector<std::string> flags;
    flags.push_back(fmt::format("-D__NPU_ARCH__={}", options.architecture));
    add(flags,
        {"-D__CANOPY__=1", "-D__CANOPY_CC__=1", "-D__BISHENG_CCEC__=1", "-include", "canopy_kernel/target/host.h",
         "-include", "canopy_kernel/target/dimensions.h", "-include", "canopy_kernel/target/qualifiers.h"});
    for (const std::string& directory : {tree.kernel_headers, tree.headers}) {
        flags.push_back("-isystem");
        flags.push_back(directory);
    }
    if (options.sanitizer) flags.push_back("-DCANOPY_CHECKED=1");
    return flags;
}

int preprocess(const CompileJob& job, const std::vector<std::string>& more, std::string& text, std::string& messages) {
    const Timing::Stage stage(job.timing, "preprocess");
    const Families families(job.tree);
    const std::vector<std::string> without_all = families.without_all();
    std::vector<std::string> flags = more;
    add(flags, without_all);
    int status = run_preprocessor(job, flags, text, messages);
    if (status == 0) {
        const std::vector<std::string> without_unused = families.without_unused(text);
        if (without_unused.size() != without_all.size()) {
            messages.clear();
            flags = more;
            add(flags, without_unused);
            status = run_preprocessor(job, flags, text, messages);
        }
    }
    if (status == 0 && !job.dependency_file.empty() && !job.options.system_dependencies) keep_own_dependencies(job);
    return status;
}

CheckingVariant compile_checking(const CompileJob& job, const Texts& texts, const std::string& target) {
    const Timing::Stage stage(job.timing, "checking");
    const Options options = checking_options(job.options, target);
    const CompileJob own{options, job.tree, job.source,           job.directory + "/check",
                         {},      {},       job.shared_variables, job.timing};
    const Texts checking{"", checking_text(job.options, texts.device), checking_text(job.options, texts.cube)};
    if (checking.device.empty()) return {};
    std::error_code error;
    std::filesystem::create_directory(own.directory, error);
    if (!write_texts(own, checking, "    canopy_image_checker;\n"))
        return {broken, fmt::format("canopy-cc: error: cannot write into {}\n", own.directory), {}};
    std::vector<Pass> passes(1);
    Compiled compiled;
    compiled.targets.resize(1);
    device_passes(own, checking, passes, compiled);
    return {passes[0].status, std::move(passes[0].messages), std::move(compiled.targets[0].object)};
}

Compiled compile_texts(const CompileJob& job, const Texts& texts) {
    Compiled compiled;
    const std::string& directory = job.directory;
    if (!write_texts(job, texts, "")) {
        compiled.status = broken;
        compiled.messages = fmt::format("canopy-cc: error: cannot write into {}\n", directory);
        return compiled;
    }
    const std::size_t target_count = texts.device.empty() ? 0 : job.options.targets.size();
    std::vector<Pass> passes(target_count + 1);
    compiled.targets.resize(target_count);
    std::vector<std::thread> threads;
    if (target_count > 0) threads.emplace_back([&] { device_passes(job, texts, passes, compiled); });
    TracingPass tracing{1, {}, {}};
    const std::string tracing_code = tracing_text(job.options, texts);
    if (!tracing_code.empty() && write_file(directory + "/trace.ii", tracing_code))
        threads.emplace_back([&] {
            const Timing::Stage stage(job.timing, "tracing");
            tracing = compile_tracing(job, language_flags(job));
        });
    CheckingVariant checking;
    if (job.options.checking && target_count > 0)
        threads.emplace_back(
            [&] { checking = compile_checking(job, texts, fmt::format("x86-64-v{}", CANOPY_BASELINE_LEVEL)); });
    Pass& host_pass = passes.back();
    if (!texts.host.empty()) {
        const Timing::Stage stage(job.timing, "host");
        Command command = host_command(job);
        // Without device code the host pass emits the warnings.
        if (texts.device.empty()) command.erase(std::find(command.begin(), command.end(), "-w"));
        host_pass.status = run_tool(job, command, host_pass.messages, job.directory + "/host.ii");
    }
    for (std::thread& thread : threads) thread.join();
    // Every pass repeats the errors of the source; print them once.
    for (std::size_t index = 0; index < passes.size() && compiled.status == 0; ++index) {
        if (index == 0 || passes[index].status != 0) compiled.messages += passes[index].messages;
        compiled.status = explain(passes[index].status, job.tree, compiled.messages);
    }
    if (compiled.status == 0 && checking.status != 0) {
        compiled.status = checking.status;
        compiled.messages += checking.messages;
    }
    if (!checking.object.empty()) compiled.targets.push_back({CANOPY_CHECK_TARGET, std::move(checking.object)});
    if (tracing.status == 0) {
        compiled.targets.push_back({CANOPY_TRACE_TARGET, std::move(tracing.object)});
        compiled.targets.push_back({CANOPY_TRACE_BITCODE_TARGET, std::move(tracing.bitcode)});
    }
    if (compiled.status == 0 && !texts.host.empty() && !read_file(job.directory + "/host.o", compiled.host_object))
        compiled.status = broken;
    return compiled;
}

int join_objects(const CompileJob& job, const std::string& host_object, const std::string& image_object,
                 const std::string& output) {
    const std::string image_file = job.directory + "/image.o", host_file = job.directory + "/host.o";
    if (!write_file(image_file, image_object) || !write_file(host_file, host_object)) return broken;
    Command command = {job.tree.compiler, "-r", "-nostdlib", host_file, image_file, "-o", output};
    std::string messages;
    const int status = run_tool(job, command, messages);
    if (status != 0) fmt::print(stderr, "{}", messages);
    return status;
}

}  // namespace canopy_cc
