// SPDX-License-Identifier: Apache-2.0
// The files of the process's log: {folder}/{debug,run,security}/plog/plog-{process}_{time}.log, each at most 20 MB; the
// oldest is removed when there are too many. A folder that cannot be written is tried again now and then; the lines in
// between are lost. Any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>
#include <string_view>

#include "core/process/log_settings.h"
#include "foundation/clock.h"
#include "foundation/mutex.h"

namespace canopy {

class LogFiles {
public:
    static constexpr std::size_t largest_file = std::size_t{20} << 20;

    // Of one type. `largest`: bytes of a file.
    LogFiles(std::string folder, LogType type, std::uint32_t files, std::size_t largest = largest_file);
    ~LogFiles();
    LogFiles(const LogFiles&) = delete;
    LogFiles& operator=(const LogFiles&) = delete;

    // A whole line.
    void write(std::string_view line) noexcept;

private:
    [[nodiscard]] bool make_room(std::size_t size) CANOPY_REQUIRES(mutex_);
    void open_next() CANOPY_REQUIRES(mutex_);

    const std::string folder_;
    const std::uint32_t most_files_;
    const std::size_t largest_;
    Mutex mutex_;
    int file_ CANOPY_GUARDED_BY(mutex_) = -1;
    int process_ CANOPY_GUARDED_BY(mutex_) = 0;  // that opened it; a forked child opens its own
    std::size_t size_ CANOPY_GUARDED_BY(mutex_) = 0;
    Nanoseconds tried_at_ CANOPY_GUARDED_BY(mutex_) = 0;
    std::deque<std::string> names_ CANOPY_GUARDED_BY(mutex_);
};

// Writes all of it, in one call of the system unless that is interrupted. False, with errno set, if it cannot.
bool write_whole(int file, std::string_view text) noexcept;
// yyyymmddhhmmssmmm, local time, as names of files have it.
std::string time_in_name();

}  // namespace canopy
