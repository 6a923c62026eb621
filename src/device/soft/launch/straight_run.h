// SPDX-License-Identifier: Apache-2.0
// Straight runs: commands that one thread runs one after the other inside a single guard. Entering and leaving the
// guard costs more than an empty kernel; inside a run each command still is a step with its own time limit,
// and a fault ends only the one it happens in.
#pragma once

#include <cstdint>
#include <span>

#include "device/command.h"
#include "device/soft/code/kernel.h"
#include "device/soft/execution/executor.h"
#include "device/soft/launch/fused_kernel.h"

namespace canopy {

// One block on one core, a fused kernel for one thread, or work on memory: what can be part of a straight run.
[[nodiscard]] inline bool is_simple(const Command& command) noexcept {
    switch (command.opcode) {
        case Opcode::launch:
            if (command.launch.kernel->fused) return SoftFusedKernel::latest(*command.launch.kernel).sequential();
            return command.launch.blocks == 1 &&
                   static_cast<const SoftKernel*>(command.launch.kernel)->group.size() == 1;
        case Opcode::copy:
        case Opcode::fill:
        case Opcode::reduce:
        case Opcode::write_value:
        case Opcode::nothing:
            return true;
        default:
            return false;
    }
}

struct StraightRun {
    const TaskOwner* task_owner = nullptr;  // whose commands they are
    std::uint64_t sequence = 0;
    std::span<Command> commands;
    std::uint64_t default_timeout = 0;
    // All commands are done: puts others in their place, or none and says so. Called inside the guard, where nothing is
    // cancelled.
    bool (*refill)(StraightRun& run) = nullptr;
    FailedStep failed;  // where the last fused kernel was when it failed
    std::uint32_t failed_block = 0;
};

// Runs commands from the front of `run.commands` up to the first that is not simple, and what refill provides then.
// Returns how many of the last commands have ended well; when `fault` has a kind, the one behind them has failed.
std::size_t run_straight(Executor& executor, StraightRun& run, Fault& fault) noexcept;

}  // namespace canopy
