// SPDX-License-Identifier: Apache-2.0
// Lines that programs add to the process log.
#include <fmt/core.h>

#include <cstdarg>
#include <cstdio>
#include <string>

#include "acl/acl_rt.h"
#include "api/api.h"
#include "core/process/process_log.h"

using namespace canopy;

namespace {

constexpr std::size_t longest_line = 1024;

const char* file_name(const char* path) {
    const std::string_view text = path;
    const std::size_t slash = text.rfind('/');
    return slash == std::string_view::npos ? path : path + slash + 1;
}

}  // namespace

extern "C" void aclAppLog(aclLogLevel logLevel, const char* func, const char* file, uint32_t line, const char* format,
                          ...) {
    if (format == nullptr || logLevel < ACL_DEBUG || logLevel > ACL_ERROR) return;
    const auto level = static_cast<LogLevel>(logLevel);
    if (!log_enabled(level)) return;
    char text[longest_line];
    va_list arguments;
    va_start(arguments, format);
    const int length = std::vsnprintf(text, sizeof(text), format, arguments);
    va_end(arguments);
    if (length < 0) return;
    try {
        const std::string place = fmt::format("{}:{}", file ? file_name(file) : "?", line);
        write_log(level, place, fmt::format("{}: {}", func ? func : "?", text));
    } catch (...) {  // out of memory: the line is lost
    }
}
