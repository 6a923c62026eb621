// SPDX-License-Identifier: Apache-2.0
#include "core/process/process_log.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <filesystem>
#include <string>

#include "core/process/variables.h"

namespace canopy {
namespace {

struct LogOptions {
    int level = 3;
    bool to_standard_output = false;
    std::string directory;  // empty: nowhere to write
};

bool is_set(const char* name) { return environment_variable(name) == "1"; }

LogOptions read_options() {
    LogOptions options;
    if (const auto level = environment_variable("ASCEND_GLOBAL_LOG_LEVEL");
        level && level->size() == 1 && level->front() >= '0' && level->front() <= '4')
        options.level = level->front() - '0';
    options.to_standard_output = is_set("ASCEND_SLOG_PRINT_TO_STDOUT") || is_set("ASCEND_LOG_PRINT_TO_STDOUT");
    if (const auto chosen = environment_variable("ASCEND_PROCESS_LOG_PATH"))
        options.directory = std::string(*chosen) + "/debug/plog";
    else if (const auto home = environment_variable("HOME"))
        options.directory = std::string(*home) + "/ascend/log/debug/plog";
    return options;
}

const LogOptions& options() {
    static const LogOptions& chosen = *new LogOptions(read_options());
    return chosen;
}

int open_log_file() {
    if (options().directory.empty()) return -1;
    std::error_code error;
    std::filesystem::create_directories(options().directory, error);
    if (error) return -1;
    timespec time{};
    clock_gettime(CLOCK_REALTIME, &time);
    const std::string path =
        fmt::format("{}/plog-{}_{}{:03}.log", options().directory, getpid(), time.tv_sec, time.tv_nsec / 1'000'000);
    return open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0640);
}

// The log's file descriptor; -1 if there is none. Each line is one write, which the system does not split.
int log_descriptor() {
    static const int file = options().to_standard_output ? STDOUT_FILENO : open_log_file();
    return file;
}

std::string time_text() {
    timespec time{};
    clock_gettime(CLOCK_REALTIME, &time);
    tm local{};
    localtime_r(&time.tv_sec, &local);
    return fmt::format("{:04}-{:02}-{:02}-{:02}:{:02}:{:02}.{:03}.{:03}", local.tm_year + 1900, local.tm_mon + 1,
                       local.tm_mday, local.tm_hour, local.tm_min, local.tm_sec, time.tv_nsec / 1'000'000,
                       time.tv_nsec / 1'000 % 1'000);
}

}  // namespace

bool log_enabled(LogLevel level) noexcept {
    try {
        return static_cast<int>(level) >= options().level;
    } catch (...) {
        return false;
    }
}

void write_log(LogLevel level, std::string_view place, std::string_view text) noexcept {
    constexpr std::array names = {"DEBUG", "INFO", "WARNING", "ERROR"};
    if (!log_enabled(level)) return;
    try {
        const std::string line =
            fmt::format("[{}] APP({},{}):{} [{}]{} {}\n", names[static_cast<std::size_t>(level)], getpid(),
                        program_invocation_short_name, time_text(), place, syscall(SYS_gettid), text);
        const int file = log_descriptor();
        std::string_view rest = line;
        while (file >= 0 && !rest.empty()) {
            const ssize_t count = write(file, rest.data(), rest.size());
            if (count < 0 && errno == EINTR) continue;
            if (count <= 0) return;
            rest.remove_prefix(static_cast<std::size_t>(count));
        }
    } catch (...) {  // no memory: the line is lost
    }
}

}  // namespace canopy
