// SPDX-License-Identifier: Apache-2.0
// Writing dump files, or passing them to the program's callback. Problems do not stop the program: a line on standard
// error and in the log says what is missing. Any thread.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "acl/acl_dump.h"
#include "base/result.h"
#include "device/device.h"

namespace canopy {

// Memory is read and written in pieces of this size.
inline constexpr std::size_t dump_piece = std::size_t{1} << 20;

// Bytes of a dump: memory of a device or of this process.
struct DumpSource {
    DeviceAddress address{};
    std::uint64_t size = 0;
};

struct DumpTarget {
    std::string folder;  // made if it is missing
    std::string name;
    mode_t mode = 0600;
};

using DumpCallback = std::int32_t (*)(const acldumpChunk*, std::int32_t);
void set_dump_callback(DumpCallback callback) noexcept;  // nullptr: files again

// Reads memory of a device or of this process. False if it cannot be read, as when it was freed before the launch whose
// arguments point at it ran.
bool read_dumped(void* to, DeviceAddress from, std::size_t size) noexcept;

// `head`, then the sources. False if the file is not there or not complete.
bool write_dump(const DumpTarget& target, std::string_view head, std::span<const DumpSource> sources) noexcept;
// The same without the callback.
bool write_dump_file(const DumpTarget& target, std::string_view head, std::span<const DumpSource> sources) noexcept;

// "canopy: TEXT" on standard error, unless that is switched off, and in the log.
void report_dump_problem(std::string_view text) noexcept;

// Makes the folder and those above it that are missing, readable for this user only; the error's text if it cannot.
std::optional<std::string> make_dump_folder(const std::string& folder);

// yyyymmddhhmmss, local time.
std::string dump_time_text();
// The same with milliseconds behind, for the name of a file. No other file of this process has the same time: waits for
// the next millisecond if necessary.
std::string unique_dump_time();
std::uint64_t dump_time_microseconds() noexcept;
// The text as part of a file's name: blanks, dots and slashes become _.
std::string dump_name_part(std::string_view text);

}  // namespace canopy
