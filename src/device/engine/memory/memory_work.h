// SPDX-License-Identifier: Apache-2.0
// The commands that move, set and compare memory. Each body takes the Command and runs guarded by an executor; commands
// on memory that this process cannot address are run by the devices that own it.
#pragma once

#include "base/result.h"
#include "device/command.h"
#include "device/engine/memory/remote.h"
#include "device/execution/executor.h"

namespace canopy {

void run_copy(void* command);
void run_fill(void* command);
void run_write_value(void* command);

// True if a command with such a body touches memory that this process cannot address.
[[nodiscard]] bool touches_remote(const Command& command) noexcept;
[[nodiscard]] inline bool is_remote(const Command& command) noexcept { return any_remote() && touches_remote(command); }
// Runs it with `transfer` and `fill`, which work for memory of any device and do not guard.
Status run_by_transfer(const Command& command) noexcept;

enum class ValueCheck { satisfied, not_yet, unreadable };
// Checks the word a queue waits for.
ValueCheck check_value(Executor& executor, const TaskOwner* owner, const ValueWork& wait) noexcept;

}  // namespace canopy
