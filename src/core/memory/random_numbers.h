// SPDX-License-Identifier: Apache-2.0
// Random numbers generated in stream order, by a kernel. The generator (builtin/philox.h) has a key, the seed, and a
// 128-bit counter in device memory, which each task advances by what it used; the same seed and counter give the same
// numbers. Any thread.
#pragma once

#include "base/result.h"
#include "builtin/arguments.h"
#include "core/process/runtime.h"
#include "device/command.h"

namespace canopy {

// Checks what is known now and makes the command for the task, which reads it when it is submitted; 107000 if the task
// is invalid. Sets the task's capacity. No lock of a stream may be held.
Result<Command> random_command(RandomTask& task, DeviceRecord& record);
Status submit_random(RandomTask task, const void* stream);

}  // namespace canopy
