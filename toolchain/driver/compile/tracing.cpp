// SPDX-License-Identifier: Apache-2.0
#include "compile/tracing.h"

#include <canopy/kernel_image.h>
#include <fmt/core.h>

#include <algorithm>
#include <string_view>

#include "compile/device_ir.h"
#include "compile/records.h"

namespace canopy_cc {
namespace {

// As written in canopy_kernel/target/trace.h.
constexpr std::string_view constant = "is_tracing_variant = false;";
constexpr std::string_view turned = "is_tracing_variant = true;";

constexpr const char* definition =
    "\n# 1 \"<canopy-cc>\" 3\n"
    "extern \"C\" __attribute__((visibility(\"protected\"), used, retain)) const CanopyTracer* canopy_image_tracer = "
    "nullptr;\n";

constexpr const char* exports = "{\n  global:\n    canopy_image_services;\n    canopy_image_tracer;\n  local: *;\n};\n";

// If results depend on optimisation, a second version of the code would not give the same bits.
bool keeps_numbers(const Options& options) {
    for (const std::string& flag : options.compiler_flags)
        for (const std::string_view name : {"-Ofast", "-ffast-math", "-funsafe-math", "-fassociative-math", "-ffp-",
                                            "-freciprocal-math", "-ffinite-math-only", "-fno-signed-zeros"})
            if (flag.compare(0, name.size(), name) == 0) return false;
    return true;
}

// Functions for single elements are extracted from the bitcode one by one. The llvm.used lists would pull in all the
// kernels.
std::string without_used(const std::string& text) {
    std::string kept;
    kept.reserve(text.size());
    for (std::size_t at = 0; at < text.size();) {
        const std::size_t end = std::min(text.find('\n', at), text.size() - 1) + 1;
        const std::string_view line = std::string_view(text).substr(at, end - at);
        if (line.rfind("@llvm.used", 0) != 0 && line.rfind("@llvm.compiler.used", 0) != 0) kept += line;
        at = end;
    }
    return kept;
}

// True if the user asked for line information.
bool has_lines(const std::vector<std::string>& flags) {
    bool wanted = false;
    for (const std::string& flag : flags)
        if (flag.rfind("-g", 0) == 0) wanted = flag != "-g0";
    return wanted;
}

}  // namespace

std::string tracing_text(const Options& options, const Texts& texts) {
    if (!options.tracing || options.sanitizer || options.sanitized || !keeps_numbers(options)) return {};
    if (texts.device.empty() || !texts.cube.empty()) return {};
    const std::size_t at = texts.device.find(constant);
    if (at == std::string::npos) return {};
    std::string text = texts.device;
    text.replace(at, constant.size(), turned);
    return text + definition;
}

TracingPass compile_tracing(const CompileJob& job, const std::vector<std::string>& flags) {
    const std::string base = job.directory + "/trace", text = base + ".ll", object = base + ".o";
    const std::string level = fmt::format("-march=x86-64-v{}", CANOPY_BASELINE_LEVEL);
    // The tracing code needs no vectorisation; the loops generated from its functions are vectorised later.
    std::vector<std::string> common = flags;
    common.insert(common.end(),
                  {"-O1", "-w", "-fPIC", "-ffp-contract=off", "-fvisibility=protected", "-ffunction-sections",
                   "-fdata-sections", "-fno-finite-loops", level, "-S", "-emit-llvm"});
    std::string messages, code;
    const auto compile = [&](const char* lines, const std::string& output) {
        const std::string all = base + ".all.ll", reached = base + ".reached.ll";
        Command to_ir = {job.tree.compiler, "-x", "c++-cpp-output", "-"},
                optimise = {job.tree.compiler, "-x", "ir", "-"};
        to_ir.insert(to_ir.end(), common.begin(), common.end());
        to_ir.insert(to_ir.end(), {lines, "-Xclang", "-disable-llvm-passes", "-o", all});
        optimise.insert(optimise.end(), common.begin(), common.end());
        optimise.insert(optimise.end(), {"-o", output});
        std::string ir;
        return run_tool(job, to_ir, messages, base + ".ii") == 0 && read_file(all, ir) &&
               write_file(reached, without_host_code(ir)) && run_tool(job, optimise, messages, reached) == 0;
    };
    if (!compile("-g0", text) || !read_file(text, code)) return {1, {}, {}};
    // Kernels without a copy or an element operation have nothing to trace.
    if (code.find("load ptr, ptr @canopy_image_tracer") == std::string::npos) return {1, {}, {}};
    // The runtime reports the line where a trace stops; loops are generated from functions without line information.
    std::string with_lines = text;
    if (has_lines(flags)) {
        with_lines = base + ".lines.ll";
        if (!compile("-gline-tables-only", with_lines)) return {1, {}, {}};
    }
    const std::string kept = base + ".kept.ll", bitcode = base + ".bc";
    if (!write_file(kept, without_used(code))) return {1, {}, {}};
    const Command from_text = {job.tree.compiler, "-w", "-fPIC", level, "-x", "ir"};
    Command to_object = from_text, to_bitcode = from_text;
    // The IR is already optimised.
    to_object.insert(to_object.end(), {with_lines, "-c", "-O1", "-Xclang", "-disable-llvm-passes",
                                       "-ffunction-sections", "-fdata-sections", "-o", object});
    to_bitcode.insert(to_bitcode.end(), {kept, "-c", "-emit-llvm", "-O0", "-o", bitcode});
    TracingPass pass;
    std::string bytes;
    if (run_tool(job, to_object, messages) != 0 || !read_file(object, bytes)) return {1, {}, {}};
    if (run_tool(job, to_bitcode, messages) != 0 || !read_file(bitcode, pass.bitcode)) return {1, {}, {}};
    drop_constructors(bytes);
    if (!write_file(object, bytes) || !write_file(base + ".exports", exports)) return {1, {}, {}};
    pass.status = run_tool(job, image_link_command(job, {object}, base + ".so", base + ".exports"), messages);
    if (pass.status == 0 && !read_file(base + ".so", pass.object)) pass.status = 1;
    return pass;
}

}  // namespace canopy_cc
