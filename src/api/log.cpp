// SPDX-License-Identifier: Apache-2.0
// Lines that programs add to the process log, callbacks that get its lines, and the lines about calls that failed.
#include <fmt/core.h>

#include <cstdarg>
#include <cstdio>
#include <string>

#include "acl/acl_rt.h"
#include "api/api.h"
#include "base/acl_log.h"
#include "base/alog_pub.h"
#include "core/process/process_log.h"
#include "toolchain/dlog_pub.h"

using namespace canopy;

namespace {

constexpr std::size_t longest_line = 1024;

const char* file_name(const char* path) {
    const std::string_view text = path;
    const std::size_t slash = text.rfind('/');
    return slash == std::string_view::npos ? path : path + slash + 1;
}

bool is_level(std::int32_t level) { return level >= DLOG_DEBUG && level <= DLOG_ERROR; }

// True if a line would be written. Numbers that are no module have no lines.
bool is_enabled(std::uint32_t module, std::int32_t level) {
    return is_level(level) && is_log_module(module) && log_enabled(module, static_cast<LogLevel>(level));
}

bool write_formatted(std::uint32_t module, LogType type, std::int32_t level, const char* format, va_list arguments) {
    if (format == nullptr || !is_level(level) || !is_log_module(module)) return false;
    if (type == LogType::debug && !log_enabled(module, static_cast<LogLevel>(level))) return true;
    char text[longest_line];
    if (std::vsnprintf(text, sizeof(text), format, arguments) < 0) return false;
    return write_program_log(module, type, static_cast<LogLevel>(level), text);
}

// Codes of calls that a program repeats until they succeed, or that harm nothing.
bool is_expected(int code) {
    switch (code) {
        case code::queue_empty:
        case code::queue_full:
        case code::wait_timeout:
        case code::report_timeout:
        case code::end_of_sequence:
        case code::stream_sync_timeout:
        case code::event_sync_timeout:
        case code::repeat_initialise:
            return true;
        default:
            return false;
    }
}

}  // namespace

namespace canopy {

[[gnu::cold]] void log_failed_call(const char* function, int code) noexcept {
    const LogLevel level = is_expected(code) ? LogLevel::debug : LogLevel::error;
    if (!log_enabled(LogModule::ascendcl, level)) return;
    const NewestError newest = newest_error();
    if (newest.code == code)
        log_line(LogModule::ascendcl, level, function, "{}: {} (code {})", newest.id, newest_error_text(), code);
    else
        log_line(LogModule::ascendcl, level, function, "failed (code {})", code);
}

}  // namespace canopy

extern "C" {

void aclAppLog(aclLogLevel logLevel, const char* func, const char* file, uint32_t line, const char* format, ...) {
    if (format == nullptr || !is_level(logLevel)) return;
    const auto level = static_cast<LogLevel>(logLevel);
    if (!log_enabled(LogModule::app, level)) return;
    char text[longest_line];
    va_list arguments;
    va_start(arguments, format);
    const int length = std::vsnprintf(text, sizeof(text), format, arguments);
    va_end(arguments);
    if (length < 0) return;
    try {
        const std::string place = fmt::format("{}:{}", file ? file_name(file) : "?", line);
        write_log(LogModule::app, level, place, text, fmt::format("{}: ", func ? func : "?"));
    } catch (...) {  // out of memory: the line is lost
    }
}

void acllogVaList(int32_t moduleId, int32_t level, const char* format, va_list list) {
    write_formatted(static_cast<std::uint32_t>(moduleId), LogType::debug, level, format, list);
}

void acllogRecord(int32_t moduleId, int32_t level, const char* format, ...) {
    va_list arguments;
    va_start(arguments, format);
    acllogVaList(moduleId, level, format, arguments);
    va_end(arguments);
}

int32_t acllogCheckDebugLevel(int32_t moduleId, int32_t logLevel) {
    return is_enabled(static_cast<std::uint32_t>(moduleId), logLevel) ? 1 : 0;
}

int32_t acllogRegisterCallback(acllogRecordCallback callbackFunc, void* userData, uint32_t outputLogType,
                               acllogCallbackHandle* callbackHandle) {
    if (callbackFunc == nullptr || callbackHandle == nullptr || outputLogType > OUTPUT_TYPE_BOTH) return -1;
    const std::uint32_t number =
        add_log_callback(callbackFunc, userData, outputLogType != OUTPUT_TYPE_RUN, outputLogType != OUTPUT_TYPE_DEBUG);
    if (number == 0) return -1;
    *callbackHandle = reinterpret_cast<void*>(std::uintptr_t{number});
    return 0;
}

int32_t acllogUnregisterCallback(acllogCallbackHandle callback) {
    const auto number = reinterpret_cast<std::uintptr_t>(callback);
    return number <= UINT32_MAX && remove_log_callback(static_cast<std::uint32_t>(number)) ? 0 : -1;
}

int32_t AlogRecord(uint32_t moduleId, uint32_t logType, int32_t level, const char* format, ...) {
    if (logType > DLOG_TYPE_RUN) return -1;
    va_list arguments;
    va_start(arguments, format);
    const bool known = write_formatted(moduleId, static_cast<LogType>(logType), level, format, arguments);
    va_end(arguments);
    return known ? 0 : -1;
}

int32_t AlogCheckDebugLevel(uint32_t moduleId, int32_t level) { return is_enabled(moduleId, level) ? 1 : 0; }

void DlogVaList(int32_t moduleId, int32_t level, const char* format, va_list list) {
    acllogVaList(moduleId, level, format, list);
}

void DlogRecord(int32_t moduleId, int32_t level, const char* format, ...) {
    va_list arguments;
    va_start(arguments, format);
    acllogVaList(moduleId, level, format, arguments);
    va_end(arguments);
}

void DlogFlush() {}

int32_t CheckLogLevel(int32_t moduleId, int32_t logLevel) { return acllogCheckDebugLevel(moduleId, logLevel); }

}  // extern "C"
