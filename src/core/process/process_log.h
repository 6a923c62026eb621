// SPDX-License-Identifier: Apache-2.0
// The process's log for its user, as the environment wants it (log_settings.h): lines of the runtime and of the
// program, in files, on the standard output, and for callbacks. Each line is written at once, so that none is lost when
// the process ends. Any thread.
//
//   log_line(LogModule::runtime, LogLevel::information, "stream", "stream {} is created", id);
//
// A line that is not wanted costs one load.
#pragma once

#include <fmt/core.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <string_view>

#include "core/process/log_settings.h"

namespace canopy {

// The least level that is written, by module; the last entry is for modules of programs. 0 until it is known.
extern std::array<std::atomic<std::uint8_t>, log_modules + 1> log_thresholds;
[[nodiscard]] bool log_enabled_now(std::uint32_t module, LogLevel level) noexcept;

// True if lines of that module and level are written. `module` must be one.
[[nodiscard]] inline bool log_enabled(std::uint32_t module, LogLevel level) noexcept {
    const std::uint32_t entry = module < log_modules ? module : log_modules;
    if (static_cast<std::uint8_t>(level) < log_thresholds[entry].load(std::memory_order_relaxed)) [[likely]]
        return false;
    return log_enabled_now(module, level);
}
[[nodiscard]] inline bool log_enabled(LogModule module, LogLevel level) noexcept {
    return log_enabled(static_cast<std::uint32_t>(module), level);
}

// Writes a line of the type `debug`: level, module, process, time, [place], thread, `before` and text. A text of more
// than 1,024 bytes is cut.
void write_log(LogModule module, LogLevel level, std::string_view place, std::string_view text,
               std::string_view before = {}) noexcept;
void vlog_line(LogModule module, LogLevel level, std::string_view place, fmt::string_view format,
               fmt::format_args arguments) noexcept;
template <class... Arguments>
void log_line(LogModule module, LogLevel level, std::string_view place, fmt::format_string<Arguments...> format,
              Arguments&&... arguments) noexcept {
    if (!log_enabled(module, level)) [[likely]]
        return;
    vlog_line(module, level, place, format, fmt::make_format_args(arguments...));
}

// Writes a line of a program, which says its place itself. False: there is no such module.
bool write_program_log(std::uint32_t module, LogType type, LogLevel level, std::string_view text) noexcept;

// Called with each line that is written; it must not write lines itself, which are dropped.
using LogCallback = void (*)(std::int32_t module, std::int32_t level, const char* text, std::uint32_t size, void* user);
inline constexpr std::size_t most_log_callbacks = 16;
// A number for `remove`; 0 if there are too many.
std::uint32_t add_log_callback(LogCallback function, void* user, bool debug_lines, bool run_lines) noexcept;
// When it returns, the function is not running in other threads. False: there is no such number.
bool remove_log_callback(std::uint32_t number) noexcept;

}  // namespace canopy
