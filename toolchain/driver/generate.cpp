// SPDX-License-Identifier: Apache-2.0
#include "generate.h"

#include <fmt/core.h>

namespace canopy_cc {
namespace {

std::string line_directive(unsigned line, const std::string& file) {
    std::string name;
    for (const char letter : file) {
        if (letter == '"' || letter == '\\') name += '\\';
        name += letter;
    }
    return fmt::format("#line {} \"{}\"\n", line, name);
}

std::string entry_function(const KernelDescription& kernel) {
    return line_directive(kernel.line, kernel.source) +
           fmt::format("static_assert(canopy::kernel::Entry<&{0}>::size == {1}, \"argument block of {0}\");\n",
                       kernel.qualified_name, kernel.arguments_size) +
           line_directive(kernel.line, kernel.source) +
           fmt::format(
               "extern \"C\" __attribute__((nodebug, visibility(\"protected\"))) void {0}(const void* block) "
               "{{ canopy::kernel::Entry<&{1}>::run(block); }}\n",
               kernel.entry, kernel.qualified_name);
}

// A thrown exception has nowhere to go on a device: inside an image, throwing is a trap.
constexpr const char* image_text = R"(
#line 1 "<canopy-cc>"
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Weverything"
#include <canopy_kernel/entry.h>
#include <canopy_kernel/target.h>
extern "C" __attribute__((visibility("protected"))) const CanopyServices* canopy_image_services = nullptr;
extern "C" [[noreturn]] __attribute__((nodebug, used)) void canopy_throw(void*, void*, void (*)(void*)) __asm__("__cxa_throw");
extern "C" [[noreturn]] void canopy_throw(void*, void*, void (*)(void*)) { canopy::kernel::trap(); }
)";

}  // namespace

std::string generate_text(const std::string& source_name, const std::string& source_text,
                          const std::vector<KernelDescription>& kernels) {
    constexpr std::string_view byte_order_mark = "\xEF\xBB\xBF";
    const bool marked = source_text.compare(0, byte_order_mark.size(), byte_order_mark) == 0;
    std::string text = line_directive(1, source_name);
    text.append(source_text, marked ? byte_order_mark.size() : 0);
    text += '\n';
    text += image_text;
    for (const KernelDescription& kernel : kernels) text += entry_function(kernel);
    text += "#pragma clang diagnostic pop\n";
    return text;
}

std::string generate_exports(const Source& source) {
    std::string script = "{\n  global:\n    canopy_image_services;\n";
    for (const KernelDescription& kernel : source.kernels)
        script += fmt::format("    {};\n    {};\n", kernel.entry, kernel.symbol);
    for (const std::string& variable : source.variables) script += fmt::format("    {};\n", variable);
    return script + "  local: *;\n};\n";
}

}  // namespace canopy_cc
