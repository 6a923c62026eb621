// SPDX-License-Identifier: Apache-2.0
// What the environment says about the process's log. A wrong value means the default. Any thread.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace canopy {

// The part of the platform that a line is from; programs use the same numbers.
enum class LogModule : std::uint16_t { runtime = 7, profiling = 31, app = 33, ascendcl = 48 };
inline constexpr std::uint32_t log_modules = 76;
// Numbers that programs may choose.
inline constexpr std::uint32_t first_user_module = 0xff00, last_user_module = 0xffff;

enum class LogLevel : std::uint8_t { debug = 0, information = 1, warning = 2, error = 3, none = 4 };
// The folder a line belongs to. Lines of the type `run` tell what happened, whatever the levels are.
enum class LogType : std::uint8_t { debug, run, security };

struct LogSettings {
    LogLevel level = LogLevel::error;                         // of modules without a level
    std::array<std::optional<LogLevel>, log_modules> levels;  // ASCEND_MODULE_LOG_LEVEL
    bool events = true;                                       // ASCEND_GLOBAL_EVENT_ENABLE
    bool to_standard_output = false;
    std::string folder;        // above debug, run and security; empty: nowhere to write
    std::uint32_t files = 10;  // of a type, that a process keeps

    // The least level that is written.
    [[nodiscard]] LogLevel level_of(std::uint32_t module) const noexcept {
        return module < log_modules && levels[module] ? *levels[module] : level;
    }
};

// `variable` gives the value of a variable, if it is set and not empty.
using Variables = std::function<std::optional<std::string_view>(const char* name)>;
LogSettings read_log_settings(const Variables& variable);

// "RUNTIME"; the number of a user's module; empty for other numbers.
std::string log_module_name(std::uint32_t module);
// False: there is no such module.
[[nodiscard]] bool is_log_module(std::uint32_t module) noexcept;

}  // namespace canopy
