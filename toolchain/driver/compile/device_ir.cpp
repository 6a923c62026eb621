// SPDX-License-Identifier: Apache-2.0
#include "compile/device_ir.h"

#include <fmt/core.h>

#include <algorithm>
#include <string_view>
#include <unordered_set>

#include "base/text.h"

namespace canopy_cc {
namespace {

// The name after the '@' at `at`: `main` in `@main(`, `"a b"` in `@"a b"(`.
std::string_view global_name(std::string_view line, std::size_t at) {
    const std::size_t begin = at + 1;
    if (begin < line.size() && line[begin] == '"') return line.substr(begin, line.find('"', begin + 1) + 1 - begin);
    return line.substr(begin, line.find_first_of(" ,(])\n", begin) - begin);
}

// Removes one attribute such as `"name"="value"` from a line.
void remove_attribute(std::string& line, std::string_view name) {
    const std::size_t at = line.find(fmt::format("\"{}\"=\"", name));
    if (at == std::string::npos) return;
    const std::size_t end = line.find('"', at + name.size() + 4);
    line.erase(at, end + 2 - at);
}

}  // namespace

bool shares_device_ir(const Options& options) {
    if (options.targets.size() < 2 || options.sanitizer || options.sanitized) return false;
    return std::none_of(options.compiler_flags.begin(), options.compiler_flags.end(),
                        [](const std::string& flag) { return begins(flag, "-m") && !begins(flag, "-mllvm"); });
}

std::string ir_target(const Options& options) {
    return *std::max_element(options.targets.begin(), options.targets.end());
}

std::string without_host_code(const std::string& ir) {
    std::unordered_set<std::string_view> kept;
    for_each_line(ir, [&](std::string_view line) {
        if (!begins(line, "@llvm.used") && !begins(line, "@llvm.compiler.used")) return;
        for (std::size_t at = line.find('@', 1); at != std::string_view::npos; at = line.find('@', at + 1))
            kept.insert(global_name(line, at));
    });
    constexpr std::string_view external = "define protected ";
    std::string result;
    result.reserve(ir.size());
    for_each_line(ir, [&](std::string_view line) {
        if (begins(line, "@llvm.global_ctors") || begins(line, "@llvm.global_dtors")) return;
        if (begins(line, external) && kept.count(global_name(line, line.find('@'))) == 0) {
            result += "define internal ";
            line.remove_prefix(external.size());
        }
        result += line;
    });
    return result;
}

std::string retargeted(const std::string& ir, const std::string& from, const std::string& to) {
    if (from == to) return ir;
    const std::string old_processor = fmt::format("\"target-cpu\"=\"{}\"", from);
    std::string result;
    result.reserve(ir.size());
    for_each_line(ir, [&](std::string_view line) {
        const std::size_t at = begins(line, "attributes #") ? line.find(old_processor) : std::string_view::npos;
        if (at == std::string_view::npos) {
            result += line;
            return;
        }
        // Without a feature list the processor gets the features of its level.
        std::string changed(line);
        changed.replace(at, old_processor.size(), fmt::format("\"target-cpu\"=\"{}\"", to));
        remove_attribute(changed, "target-features");
        remove_attribute(changed, "prefer-vector-width");
        result += changed;
    });
    return result;
}

}  // namespace canopy_cc
