// SPDX-License-Identifier: Apache-2.0
// What strands note about the command they run while somebody records, and the records made of it.
//
// Threads: the owner of the strand.
#pragma once

#include <cstdint>

#include "base/ticks.h"
#include "device/command.h"
#include "device/device.h"
#include "record/recorder.h"

namespace canopy {

class EngineFence;

// Nothing is written for a command unless `began` is set.
struct TaskNotes {
    Ticks began = 0;
    std::uint64_t link = 0;            // the task it is, or for lanes of graphs the one that replays it
    std::uint32_t waits_for = 0;       // number of the fence of a wait
    int code = 0;                      // of the interface, if it failed
    std::uint8_t flags = 0;            // profile::task_failed, ...
    const EngineFence* met = nullptr;  // of a wait that was not over at once; alive until the next wait
};

inline constexpr std::uint32_t recorded_by_strands = record::tasks | record::nodes | record::blocks;

// Devices by their number, so that copies can be told apart.
void add_recorded_device(const Driver& driver, std::uint32_t index) noexcept;
void remove_recorded_device(const Driver& driver) noexcept;

// "worker 3 of device 0"
void name_recorded_thread(profile::ThreadRole role, const char* what, std::uint32_t number,
                          std::uint32_t device) noexcept;

// A task of a stream, and one of a graph.
void write_task(const Command& command, const TaskNotes& notes, Ticks end, std::uint32_t device) noexcept;
void write_node(const Command& command, const TaskNotes& notes, Ticks end, std::uint32_t device,
                GraphPlace place) noexcept;

}  // namespace canopy
