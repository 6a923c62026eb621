// SPDX-License-Identifier: Apache-2.0
#include "tracing.h"

#include <canopy/kernel_image.h>
#include <fmt/core.h>

#include <algorithm>
#include <string_view>

#include "records.h"

namespace canopy_cc {
namespace {

// As canopy_kernel/trace.h writes it.
constexpr std::string_view constant = "is_tracing_variant = false;";
constexpr std::string_view turned = "is_tracing_variant = true;";

constexpr const char* definition =
    "\n# 1 \"<canopy-cc>\" 3\n"
    "extern \"C\" __attribute__((visibility(\"protected\"), used, retain)) const CanopyTracer* canopy_image_tracer = "
    "nullptr;\n";

constexpr const char* exports = "{\n  global:\n    canopy_image_services;\n    canopy_image_tracer;\n  local: *;\n};\n";

// Numbers that depend on how code is optimised have no second form with the same bits.
bool keeps_numbers(const Options& options) {
    for (const std::string& flag : options.compiler_flags)
        for (const std::string_view name : {"-Ofast", "-ffast-math", "-funsafe-math", "-fassociative-math", "-ffp-",
                                            "-freciprocal-math", "-ffinite-math-only", "-fno-signed-zeros"})
            if (flag.compare(0, name.size(), name) == 0) return false;
    return true;
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
    TracingPass pass;
    const std::string base = job.directory + "/trace", bitcode = base + ".bc", object = base + ".o";
    const std::string level = fmt::format("-march=x86-64-v{}", CANOPY_BASELINE_LEVEL);
    Command command = {job.tree.compiler, "-x", "c++-cpp-output", "-", "-c", "-emit-llvm"};
    command.insert(command.end(), flags.begin(), flags.end());
    // No loop of the tracing code is worth a vector; the loops made from its functions become vector code themselves.
    command.insert(command.end(),
                   {"-O1", "-g0", "-w", "-fPIC", "-ffp-contract=off", "-fvisibility=protected", "-ffunction-sections",
                    "-fdata-sections", "-fno-finite-loops", level, "-o", bitcode});
    std::string messages;
    pass.status = run_tool(job, command, messages, base + ".ii");
    if (pass.status == 0)
        pass.status = run_tool(job,
                               {job.tree.compiler, "-x", "ir", bitcode, "-c", "-O1", "-w", "-fPIC", level,
                                "-ffunction-sections", "-fdata-sections", "-o", object},
                               messages);
    std::string bytes;
    if (pass.status != 0 || !read_file(object, bytes) || !read_file(bitcode, pass.bitcode)) return {1, {}, {}};
    drop_constructors(bytes);
    if (!write_file(object, bytes) || !write_file(base + ".exports", exports)) return {1, {}, {}};
    pass.status = run_tool(job, image_link_command(job, {object}, base + ".so", base + ".exports"), messages);
    if (pass.status == 0 && !read_file(base + ".so", pass.object)) pass.status = 1;
    return pass;
}

}  // namespace canopy_cc
