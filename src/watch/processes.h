// SPDX-License-Identifier: Apache-2.0
// The processes of this user that use devices, as their files in the run folder tell. Nothing in a file is believed
// before it is checked: a file may be torn, forged or left behind by a process that was killed.
//
// Threads: any. Not for a process that looks at itself: its own file is skipped, because closing it would unlock it.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "foundation/problem.h"
#include "watch/figures.h"

namespace canopy::watch {

struct Device {
    DeviceFigures figures;
    std::uint64_t memory_used = 0, memory_peak = 0, allocations = 0;
    std::vector<StreamFigures> streams;
    std::vector<RunningFigures> running;
};

struct Process {
    int id = 0;
    std::string name;  // printable
    Nanoseconds started = 0;
    std::vector<Device> devices;
};

// All of them, by number. Files of processes that have ended are removed on the way. Without a folder: none.
std::vector<Process> read_processes(const std::string& folder);

// One file. A problem if it is not what a living process has written.
Expected<Process> read_process(const std::string& path);

// The page of one device, as its checksum vouches for it. False: it is damaged, or being written.
bool decode_page(std::span<const char, page_size> page, Device& device);

// A text from another process without anything a terminal would obey.
std::string printable(const char* text, std::size_t size);

}  // namespace canopy::watch
