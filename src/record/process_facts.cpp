// SPDX-License-Identifier: Apache-2.0
#include "record/process_facts.h"

#include <fmt/core.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <climits>
#include <string_view>

#include "base/ticks.h"
#include "foundation/clock.h"
#include "foundation/files.h"

namespace canopy::record {

profile::FileHead head_of_process() {
    profile::FileHead head;
    timespec time{};
    ::clock_gettime(CLOCK_REALTIME, &time);
    head.process = static_cast<std::uint64_t>(::getpid());
    head.unix_time = time.tv_sec * second + time.tv_nsec;
    head.monotonic_time = now();
    head.ticks = ticks();
    return head;
}

std::string program_path() {
    std::string path(PATH_MAX, '\0');
    const ssize_t size = ::readlink("/proc/self/exe", path.data(), path.size());
    path.resize(size > 0 ? static_cast<std::size_t>(size) : 0);
    return path;
}

std::string command_line() {
    std::string raw, line;
    read_file("/proc/self/cmdline", raw);
    for (std::size_t start = 0; start < raw.size();) {
        const std::size_t end = std::min(raw.find('\0', start), raw.size());
        const std::string_view word(raw.data() + start, end - start);
        if (!line.empty()) line += ' ';
        const bool plain = !word.empty() && word.find_first_of(" \t\n'\"\\$&|;<>()*?`#~") == std::string_view::npos;
        line += plain ? std::string(word) : fmt::format("'{}'", word);
        start = end + 1;
    }
    return line;
}

}  // namespace canopy::record
