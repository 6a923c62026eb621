// SPDX-License-Identifier: Apache-2.0
#include "core/process/log_files.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <utility>

namespace canopy {
namespace {

constexpr Nanoseconds retry_interval = second;

const char* name_of(LogType type) noexcept {
    switch (type) {
        case LogType::run:
            return "run";
        case LogType::security:
            return "security";
        default:
            return "debug";
    }
}

}  // namespace

std::string time_in_name() {
    timespec time{};
    clock_gettime(CLOCK_REALTIME, &time);
    tm local{};
    localtime_r(&time.tv_sec, &local);
    return fmt::format("{:04}{:02}{:02}{:02}{:02}{:02}{:03}", local.tm_year + 1900, local.tm_mon + 1, local.tm_mday,
                       local.tm_hour, local.tm_min, local.tm_sec, time.tv_nsec / millisecond);
}

bool write_whole(int file, std::string_view text) noexcept {
    while (!text.empty()) {
        const ssize_t count = ::write(file, text.data(), text.size());
        if (count < 0 && errno == EINTR) continue;
        if (count <= 0) return false;
        text.remove_prefix(static_cast<std::size_t>(count));
    }
    return true;
}

LogFiles::LogFiles(std::string folder, LogType type, std::uint32_t files, std::size_t largest)
    : folder_(folder.empty() ? std::string() : fmt::format("{}/{}/plog", folder, name_of(type))),
      most_files_(files),
      largest_(largest) {}

LogFiles::~LogFiles() {
    if (file_ >= 0) close(file_);
}

void LogFiles::write(std::string_view line) noexcept {
    try {
        MutexLock guard(mutex_);
        if (!make_room(line.size())) return;
        if (write_whole(file_, line))
            size_ += line.size();
        else
            tried_at_ = now();
    } catch (...) {  // no memory: the line is lost
    }
}

// True if the file is open and takes so many bytes.
bool LogFiles::make_room(std::size_t size) {
    const bool own = process_ == getpid();
    if (file_ >= 0 && own && size_ + size <= largest_) return true;
    if (folder_.empty()) return false;
    if (file_ < 0 && own && now() - tried_at_ < retry_interval) return false;
    if (file_ >= 0) close(std::exchange(file_, -1));
    if (!own) names_.clear();
    process_ = getpid();
    open_next();
    return file_ >= 0;
}

void LogFiles::open_next() {
    tried_at_ = now();
    std::error_code error;
    std::filesystem::create_directories(folder_, error);
    // Two files of one millisecond have different names.
    for (int attempt = 0; attempt < 100 && file_ < 0; ++attempt) {
        std::string path = fmt::format("{}/plog-{}_{}.log", folder_, process_, time_in_name());
        file_ = open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_APPEND | O_CLOEXEC, 0640);
        if (file_ >= 0) {
            names_.push_back(std::move(path));
        } else if (errno != EEXIST) {
            return;
        } else {
            const timespec pause{0, static_cast<long>(millisecond)};
            nanosleep(&pause, nullptr);
        }
    }
    size_ = 0;
    while (names_.size() > most_files_) {
        unlink(names_.front().c_str());
        names_.pop_front();
    }
}

}  // namespace canopy
