// SPDX-License-Identifier: Apache-2.0
// CpuLaunch: a launch on a device's CPU cores, run by threads of this process (cpu_cores.h) or by another process
// (cpu_process.h).
#pragma once

#include <atomic>
#include <cstdint>

#include "device/engine/cpu/cpu_kernel.h"
#include "device/engine/cpu/launch_end.h"
#include "device/execution/executor.h"
#include "foundation/clock.h"

namespace canopy {

// How a CPU kernel ended: successfully, unless the fault has a kind.
struct CpuOutcome {
    CpuOutcome() noexcept { text[0] = '\0'; }
    Fault fault;
    std::uint32_t block = 0;
    std::uint32_t result = 0;  // return value of the kernel
    char text[256];            // details beyond the fault
};

// A launch on CPU cores. Its owner creates the object once and reuses it for one launch after the other.
struct CpuLaunch {
    TaskOwner* owner = nullptr;
    const CpuKernel* kernel = nullptr;
    void* arguments = nullptr;
    std::uint32_t arguments_size = 0;  // of arguments copied by the queue; 0: they are in device memory
    std::uint32_t blocks = 0;
    std::uint32_t offset = 0;
    std::uint64_t sequence = 0;  // number of the owner's commands before it
    std::uint64_t timeout = 0;   // nanoseconds; 0: none
    std::uint64_t link = 0;      // the task it is, in records

    // Blocks are claimed and ended without a lock. A claimed block that has not ended keeps the launch alive; after the
    // last end the owner may reuse the object for its next launch.
    std::atomic<std::uint32_t> begun{0};  // may exceed `blocks`
    std::atomic<std::uint32_t> finished{0};
    bool measured = false;                // its blocks are timed
    std::atomic<Nanoseconds> longest{0};  // longest time of a block

    // Owned by CpuCores or CpuProcess, guarded by its lock.
    enum class State : std::uint8_t { idle, pending, running };
    State state = State::idle;
    bool open = false;  // there may be unclaimed blocks
    CpuLaunch* next = nullptr;
    CpuLaunch* previous = nullptr;
    CpuOutcome outcome;  // of the first block that failed

    LaunchEnd end;
    std::atomic<bool> stopping{false};  // blocks that have not begun are skipped, the others are ended
};

}  // namespace canopy
