// SPDX-License-Identifier: Apache-2.0
// Straight runs: commands that one thread runs one after the other inside a single guard. Entering and leaving the
// guard costs more than an empty kernel. Inside a run each command is still a step with its own time limit, and a fault
// ends only the command it happens in.
#pragma once

#include <cstdint>
#include <span>

#include "device/command.h"
#include "device/engine/memory/memory_work.h"
#include "device/engine/memory/pieces.h"
#include "device/engine/stream/straight_run.h"
#include "device/execution/executor.h"
#include "device/soft/code/kernel.h"
#include "device/soft/launch/fused_kernel.h"

namespace canopy {

// True if the command can be part of a straight run: one block on one core, a fused kernel for one thread, or memory
// work that is not worth several threads.
[[nodiscard]] inline bool is_simple(const Command& command) noexcept {
    switch (command.opcode) {
        case Opcode::launch:
            if (command.launch.kernel->fused) return SoftFusedKernel::latest(*command.launch.kernel).sequential();
            return command.launch.blocks == 1 &&
                   static_cast<const SoftKernel*>(command.launch.kernel)->group.size() == 1;
        case Opcode::copy:
        case Opcode::fill:
        case Opcode::write_value:
            return !is_large(command) && !is_remote(command);
        case Opcode::nothing:
            return true;
        default:
            return false;
    }
}

class SoftStraightRuns final : public StraightRuns {
public:
    [[nodiscard]] bool takes(const Command& command) const noexcept override { return is_simple(command); }
    // Runs `run.commands` from the front up to the first command that is not simple, then the commands that refill
    // provides. Returns how many of the last batch succeeded; if `fault` has a kind, the command after them failed.
    std::size_t run(Executor& executor, StraightRun& run, Fault& fault) noexcept override;
};

}  // namespace canopy
