// SPDX-License-Identifier: Apache-2.0
// StraightRun: commands that one thread runs one after the other without leaving the driver between them
// (StraightRuns). Each command is still a step with its own time limit, and a failure ends only the command it happens
// in.
#pragma once

#include <cstdint>
#include <span>

#include "device/command.h"
#include "device/execution/executor.h"

namespace canopy {

struct StraightRun {
    const TaskOwner* task_owner = nullptr;  // owner of the commands
    std::uint64_t sequence = 0;
    std::span<Command> commands;
    std::uint64_t default_timeout = 0;
    // Called when all commands are done: provides new ones, or returns false. Nothing is cancelled meanwhile.
    bool (*refill)(StraightRun& run) = nullptr;
    FailedStep failed;  // where the last fused kernel was when it failed
    std::uint32_t failed_block = 0;
};

}  // namespace canopy
