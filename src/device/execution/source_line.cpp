// SPDX-License-Identifier: Apache-2.0
#include "device/execution/source_line.h"

#include <dlfcn.h>
#include <fmt/core.h>
#include <unwind.h>

#include <fstream>
#include <iterator>
#include <string_view>
#include <vector>

#include "foundation/line_table.h"

namespace canopy {

std::string source_line_in(std::span<const std::byte> object, std::uint64_t address) {
    const auto line = find_line(object, address);
    if (!line) return {};
    return fmt::format("{} {}:{}", line->exact ? "at" : "near", line->file, line->line);
}

namespace {

// Finds the memory file of the image that contains an instruction. False for all other code in the process.
bool find_image(std::uintptr_t instruction, Dl_info& info) {
    return instruction != 0 && dladdr(reinterpret_cast<void*>(instruction), &info) != 0 && info.dli_fname != nullptr &&
           std::string_view(info.dli_fname).substr(0, 6) == "/proc/";
}

_Unwind_Reason_Code look_at_frame(_Unwind_Context* frame, void* found) {
    Dl_info info{};
    const auto call = static_cast<std::uintptr_t>(_Unwind_GetIP(frame)) - 1;
    if (!find_image(call, info)) return _URC_NO_REASON;
    *static_cast<std::uintptr_t*>(found) = call;
    return _URC_END_OF_STACK;
}

}  // namespace

std::string source_line(std::uintptr_t instruction) {
    Dl_info info{};
    if (!find_image(instruction, info)) return {};
    std::ifstream file(info.dli_fname, std::ios::binary);
    const std::vector<char> bytes{std::istreambuf_iterator<char>(file), {}};
    return source_line_in(std::as_bytes(std::span(bytes)),
                          instruction - reinterpret_cast<std::uintptr_t>(info.dli_fbase));
}

std::string calling_source_line() {
    std::uintptr_t call = 0;
    _Unwind_Backtrace(&look_at_frame, &call);
    return source_line(call);
}

}  // namespace canopy
