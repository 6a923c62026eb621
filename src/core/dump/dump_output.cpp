// SPDX-License-Identifier: Apache-2.0
#include "core/dump/dump_output.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "base/error_text.h"
#include "base/notice.h"
#include "base/process_state.h"
#include "core/process/log_files.h"
#include "core/process/process_log.h"
#include "core/process/runtime.h"
#include "foundation/clock.h"
#include "foundation/mutex.h"

namespace canopy {
namespace {

constexpr std::size_t longest_name_part = 80;

std::atomic<DumpCallback> callback{nullptr};

struct LastTime {
    Mutex mutex;
    std::string text CANOPY_GUARDED_BY(mutex);
};

// Takes the pieces of a dump in their order; false: it takes no more.
using Taker = std::function<bool(std::span<const char>, bool last)>;

// Memory that cannot be read is passed on as zeros, and `unreadable` counts it.
bool pass_on(std::string_view head, std::span<const DumpSource> sources, const Taker& take, std::uint64_t& unreadable) {
    std::uint64_t left = 0;
    for (const DumpSource& source : sources) left += source.size;
    if (!take(head, left == 0)) return false;
    std::vector<char> buffer(static_cast<std::size_t>(std::min<std::uint64_t>(left, dump_piece)));
    for (const DumpSource& source : sources) {
        for (std::uint64_t at = 0; at < source.size;) {
            const auto count = static_cast<std::size_t>(std::min<std::uint64_t>(source.size - at, dump_piece));
            if (!read_dumped(buffer.data(), source.address + at, count)) {
                std::fill_n(buffer.begin(), count, '\0');
                unreadable += count;
            }
            at += count;
            left -= count;
            if (!take({buffer.data(), count}, left == 0)) return false;
        }
    }
    return true;
}

// False if there is a gap.
bool report_gap(const std::string& path, std::uint64_t unreadable) {
    if (unreadable == 0) return true;
    report_dump_problem(
        fmt::format("the dump {} has zeros for {} bytes of memory that cannot be read", path, unreadable));
    return false;
}

bool pass_to(DumpCallback function, const std::string& path, std::string_view head,
             std::span<const DumpSource> sources) {
    std::uint64_t unreadable = 0;
    std::int64_t offset = 0;
    bool complete = true;
    static_assert(sizeof(acldumpChunk) == 4120 && offsetof(acldumpChunk, dataBuf) == 4116);
    const auto memory = std::make_unique<std::byte[]>(sizeof(acldumpChunk) + std::max(dump_piece, head.size()));
    auto* chunk = reinterpret_cast<acldumpChunk*>(memory.get());
    pass_on(
        head, sources,
        [&](std::span<const char> bytes, bool last) {
            std::memset(memory.get(), 0, sizeof(acldumpChunk));
            path.copy(chunk->fileName, sizeof(chunk->fileName) - 1);
            chunk->bufLen = static_cast<std::uint32_t>(bytes.size());
            chunk->isLastChunk = last ? 1 : 0;
            chunk->offset = offset;
            std::memcpy(memory.get() + offsetof(acldumpChunk, dataBuf), bytes.data(), bytes.size());
            offset += static_cast<std::int64_t>(bytes.size());
            if (function(chunk, static_cast<std::int32_t>(sizeof(acldumpChunk) + bytes.size())) != 0) complete = false;
            return true;
        },
        unreadable);
    if (!complete) report_dump_problem(fmt::format("the dump callback refused a part of {}", path));
    return report_gap(path, unreadable) && complete;
}

struct OpenFile {
    int number;
    ~OpenFile() {
        if (number >= 0) close(number);
    }
};

bool write_file_of(const DumpTarget& target, std::string_view head, std::span<const DumpSource> sources) {
    const std::string path = target.folder + "/" + target.name;
    if (const auto problem = make_dump_folder(target.folder)) {
        report_dump_problem(fmt::format("no dump {}: {}", path, *problem));
        return false;
    }
    OpenFile file{open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, target.mode)};
    if (file.number < 0) {
        report_dump_problem(fmt::format("no dump {}: {}", path, std::strerror(errno)));
        return false;
    }
    std::uint64_t unreadable = 0;
    const bool written = pass_on(
        head, sources,
        [&](std::span<const char> bytes, bool) {
            return write_whole(file.number, {bytes.data(), bytes.size()});
        },
        unreadable);
    const int reason = errno;
    if (!written) report_dump_problem(fmt::format("the dump {} is not complete: {}", path, std::strerror(reason)));
    const bool whole = written && report_gap(path, unreadable);
    if (close(std::exchange(file.number, -1)) != 0 && written) {
        report_dump_problem(fmt::format("the dump {} may not be complete: {}", path, std::strerror(errno)));
        return false;
    }
    return whole;
}

}  // namespace

// Touching memory of a device that is not allocated may end the process.
bool read_dumped(void* to, DeviceAddress from, std::size_t size) noexcept {
    if (const DeviceRecord* record = Runtime::instance().device_of(from)) {
        const std::optional<DeviceRange> allocation = record->opened()->find(from);
        if (!allocation || allocation->bytes_from(from) < size) return false;
    }
    return read_device(to, from, size).ok();
}

void set_dump_callback(DumpCallback function) noexcept { callback.store(function, std::memory_order_release); }

bool write_dump(const DumpTarget& target, std::string_view head, std::span<const DumpSource> sources) noexcept {
    try {
        if (const DumpCallback function = callback.load(std::memory_order_acquire))
            return pass_to(function, target.folder + "/" + target.name, head, sources);
    } catch (...) {
        report_dump_problem("out of memory: a dump is missing");
        return false;
    }
    return write_dump_file(target, head, sources);
}

bool write_dump_file(const DumpTarget& target, std::string_view head, std::span<const DumpSource> sources) noexcept {
    try {
        return write_file_of(target, head, sources);
    } catch (...) {
        report_dump_problem("out of memory: a dump is missing");
        return false;
    }
}

void report_dump_problem(std::string_view text) noexcept {
    log_line(LogModule::runtime, LogLevel::error, "dump", "{}", text);
    if (!Runtime::instance().settings().quiet) print_notice(text);
}

std::optional<std::string> make_dump_folder(const std::string& folder) {
    for (std::size_t at = folder.find('/', 1);; at = folder.find('/', at + 1)) {
        const std::string part = folder.substr(0, at);
        if (!part.empty() && mkdir(part.c_str(), 0700) != 0 && errno != EEXIST) {
            struct stat facts {};
            const int reason = errno;
            if (stat(part.c_str(), &facts) != 0 || !S_ISDIR(facts.st_mode))
                return fmt::format("cannot make the folder {}: {}", part, std::strerror(reason));
        }
        if (at == std::string::npos) break;
    }
    struct stat facts {};
    if (stat(folder.c_str(), &facts) == 0 && S_ISDIR(facts.st_mode)) return std::nullopt;
    return fmt::format("{} is not a folder", folder);
}

std::string dump_time_text() { return time_in_name().substr(0, 14); }

std::string unique_dump_time() {
    constexpr int attempts = 100;  // a clock may stand still
    LastTime& last = process_state<LastTime>();
    MutexLock guard(last.mutex);
    std::string text = time_in_name();
    for (int attempt = 0; text == last.text && attempt < attempts; ++attempt) {
        const timespec pause{0, static_cast<long>(millisecond)};
        nanosleep(&pause, nullptr);
        text = time_in_name();
    }
    last.text = text;
    return text;
}

std::uint64_t dump_time_microseconds() noexcept {
    timespec time{};
    clock_gettime(CLOCK_REALTIME, &time);
    return static_cast<std::uint64_t>(time.tv_sec) * 1'000'000 + static_cast<std::uint64_t>(time.tv_nsec) / 1000;
}

std::string dump_name_part(std::string_view text) {
    std::string name(text.substr(0, longest_name_part));
    for (char& letter : name)
        if (letter == ' ' || letter == '.' || letter == '/' || letter == '\\') letter = '_';
    return name;
}

}  // namespace canopy
