// SPDX-License-Identifier: Apache-2.0
#include "core/process/process_log.h"

#include <errno.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <iterator>
#include <string>
#include <vector>

#include "base/process_state.h"
#include "core/process/log_files.h"
#include "core/process/variables.h"
#include "foundation/mutex.h"

namespace canopy {

std::array<std::atomic<std::uint8_t>, log_modules + 1> log_thresholds{};

namespace {

constexpr std::size_t longest_text = 1024;

struct Callback {
    std::uint32_t number = 0;
    LogCallback function = nullptr;
    void* user = nullptr;
    bool debug_lines = false, run_lines = false;
};

// Made by the first line, or the first question whether a line is wanted.
struct ProcessLog {
    const LogSettings settings = read_log_settings(environment_variable);
    LogFiles files[3] = {{settings.folder, LogType::debug, settings.files},
                         {settings.folder, LogType::run, settings.files},
                         {settings.folder, LogType::security, settings.files}};
    std::atomic<std::uint32_t> callback_count{0};
    Mutex mutex;  // held while a callback runs
    std::vector<Callback> callbacks CANOPY_GUARDED_BY(mutex);
    std::uint32_t callbacks_added CANOPY_GUARDED_BY(mutex) = 0;

    ProcessLog() noexcept {
        for (std::uint32_t module = 0; module <= log_modules; ++module)
            log_thresholds[module].store(static_cast<std::uint8_t>(settings.level_of(module)),
                                         std::memory_order_relaxed);
    }
};

thread_local bool in_callback = false;

ProcessLog& process_log() { return process_state<ProcessLog>(); }

std::string time_text() {
    timespec time{};
    clock_gettime(CLOCK_REALTIME, &time);
    tm local{};
    localtime_r(&time.tv_sec, &local);
    return fmt::format("{:04}-{:02}-{:02}-{:02}:{:02}:{:02}.{:03}.{:03}", local.tm_year + 1900, local.tm_mon + 1,
                       local.tm_mday, local.tm_hour, local.tm_min, local.tm_sec, time.tv_nsec / 1'000'000,
                       time.tv_nsec / 1'000 % 1'000);
}

const char* level_name(LogLevel level) noexcept {
    constexpr const char* names[] = {"DEBUG", "INFO", "WARNING", "ERROR"};
    return names[std::min(static_cast<std::size_t>(level), std::size(names) - 1)];
}

void tell_callbacks(ProcessLog& log, std::uint32_t module, LogType type, LogLevel level, const std::string& line) {
    if (log.callback_count.load(std::memory_order_relaxed) == 0 || in_callback) return;
    const std::string without_end = line.substr(0, line.size() - 1);
    MutexLock guard(log.mutex);
    in_callback = true;
    for (const Callback& callback : log.callbacks)
        if (type == LogType::run ? callback.run_lines : callback.debug_lines)
            callback.function(static_cast<std::int32_t>(module), static_cast<std::int32_t>(level), without_end.c_str(),
                              static_cast<std::uint32_t>(without_end.size()), callback.user);
    in_callback = false;
}

// `place` with its brackets and blanks, or nothing.
void put_line(std::uint32_t module, LogType type, LogLevel level, std::string_view place, std::string_view text) {
    ProcessLog& log = process_log();
    if (in_callback) return;
    text = text.substr(0, longest_text);
    while (text.ends_with('\n')) text.remove_suffix(1);
    const std::string line =
        fmt::format("[{}] {}({},{}):{} {}{}\n", type == LogType::run ? "EVENT" : level_name(level),
                    log_module_name(module), getpid(), program_invocation_short_name, time_text(), place, text);
    if (log.settings.to_standard_output)
        write_whole(STDOUT_FILENO, line);
    else
        log.files[static_cast<std::size_t>(type)].write(line);
    tell_callbacks(log, module, type, level, line);
}

}  // namespace

bool log_enabled_now(std::uint32_t module, LogLevel level) noexcept {
    try {
        return level >= process_log().settings.level_of(module);
    } catch (...) {  // no memory
        return false;
    }
}

void write_log(LogModule module, LogLevel level, std::string_view place, std::string_view text,
               std::string_view before) noexcept {
    if (!log_enabled(module, level)) return;
    try {
        put_line(static_cast<std::uint32_t>(module), LogType::debug, level,
                 fmt::format("[{}]{} {}", place, syscall(SYS_gettid), before), text);
    } catch (...) {  // no memory: the line is lost
    }
}

void vlog_line(LogModule module, LogLevel level, std::string_view place, fmt::string_view format,
               fmt::format_args arguments) noexcept {
    try {
        write_log(module, level, place, fmt::vformat(format, arguments));
    } catch (...) {  // no memory: the line is lost
    }
}

bool write_program_log(std::uint32_t module, LogType type, LogLevel level, std::string_view text) noexcept {
    if (!is_log_module(module)) return false;
    try {
        const bool wanted = type == LogType::run ? process_log().settings.events : log_enabled(module, level);
        if (wanted) put_line(module, type, level, {}, text);
    } catch (...) {  // no memory: the line is lost
    }
    return true;
}

std::uint32_t add_log_callback(LogCallback function, void* user, bool debug_lines, bool run_lines) noexcept {
    try {
        ProcessLog& log = process_log();
        if (in_callback) return 0;
        MutexLock guard(log.mutex);
        if (log.callbacks.size() == most_log_callbacks) return 0;
        log.callbacks.push_back({++log.callbacks_added, function, user, debug_lines, run_lines});
        log.callback_count.store(static_cast<std::uint32_t>(log.callbacks.size()), std::memory_order_relaxed);
        return log.callbacks_added;
    } catch (...) {  // no memory
        return 0;
    }
}

bool remove_log_callback(std::uint32_t number) noexcept {
    try {
        ProcessLog& log = process_log();
        if (in_callback) return false;
        MutexLock guard(log.mutex);
        const auto removed =
            std::erase_if(log.callbacks, [&](const Callback& callback) { return callback.number == number; });
        log.callback_count.store(static_cast<std::uint32_t>(log.callbacks.size()), std::memory_order_relaxed);
        return removed != 0;
    } catch (...) {  // no memory
        return false;
    }
}

}  // namespace canopy
