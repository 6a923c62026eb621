// SPDX-License-Identifier: Apache-2.0
// The commands that move, set and compare memory. Each body takes the Command and runs guarded by an executor.
#pragma once

#include "device/command.h"
#include "device/soft/execution/executor.h"

namespace canopy {

void run_copy(void* command);
void run_fill(void* command);
void run_reduce(void* command);
void run_write_value(void* command);

enum class ValueCheck { satisfied, not_yet, unreadable };
// Checks the word a queue waits for.
ValueCheck check_value(Executor& executor, const TaskOwner* owner, const ValueWork& wait) noexcept;

}  // namespace canopy
