// SPDX-License-Identifier: Apache-2.0
// CpuLaunch: a launch on a device's CPU cores, by threads of this process (cpu_cores.h) or in another one
// (cpu_process.h).
#pragma once

#include <atomic>
#include <cstdint>

#include "base/clock.h"
#include "device/soft/cpu/cpu_kernel.h"
#include "device/soft/cpu/launch_end.h"
#include "device/soft/execution/executor.h"

namespace canopy {

// How a CPU kernel ended: well, unless the fault has a kind.
struct CpuOutcome {
    CpuOutcome() noexcept { text[0] = '\0'; }
    Fault fault;
    std::uint32_t block = 0;
    std::uint32_t result = 0;  // what it returned
    char text[256];            // when more is known than the fault says
};

// A launch on CPU cores while it runs; its owner makes it once and uses it for one launch after the other.
struct CpuLaunch {
    TaskOwner* owner = nullptr;
    const CpuKernel* kernel = nullptr;
    void* arguments = nullptr;
    std::uint32_t arguments_size = 0;  // of a block the queue has copied; 0: it lies in device memory
    std::uint32_t blocks = 0;
    std::uint32_t offset = 0;
    std::uint64_t sequence = 0;  // commands of the owner before it
    std::uint64_t timeout = 0;   // nanoseconds; 0: none

    // Blocks are claimed and ended without a lock. A claimed block that has not ended keeps the launch: what comes
    // after the last end may be the owner's next one.
    std::atomic<std::uint32_t> begun{0};  // may count further than there are blocks
    std::atomic<std::uint32_t> finished{0};
    bool measured = false;                // whether the time of its blocks is taken
    std::atomic<Nanoseconds> longest{0};  // of them

    // Those of CpuCores or CpuProcess, guarded by its lock.
    enum class State : std::uint8_t { idle, pending, running };
    State state = State::idle;
    bool open = false;  // there may be unclaimed blocks
    CpuLaunch* next = nullptr;
    CpuLaunch* previous = nullptr;
    CpuOutcome outcome;  // of the first block that failed

    LaunchEnd end;
    std::atomic<bool> stopping{false};  // blocks that have not begun will not, the others are ended
};

}  // namespace canopy
