// SPDX-License-Identifier: Apache-2.0
// Callbacks that follow devices: one set hears when a device is set and reset, the other when the work of a device is
// aborted. Registered by name through the interface, called by the thread that causes the event, without any lock of
// the runtime held. All functions from any thread.
#pragma once

#include <cstdint>
#include <string_view>

#include "base/result.h"

namespace canopy {

// The numbers of aclrtDeviceState.
enum class DeviceStage : std::int32_t { set_pre = 0, set_post = 1, reset_pre = 2, reset_post = 3 };

// The numbers of aclrtDeviceTaskAbortStage.
enum class AbortStage : std::int32_t { before = 0, after = 1 };

using DeviceStateFunction = void (*)(std::int32_t device, std::int32_t stage, void* argument);
using TaskAbortFunction = std::int32_t (*)(std::int32_t device, std::int32_t stage, std::uint32_t timeout_ms,
                                           void* argument);

// A null function takes the name out; a name that is already there is refused with 107000.
Status register_device_state_callback(std::string_view name, DeviceStateFunction function, void* argument);
// A null function takes the name out; a name that is already there gets the new function.
Status register_task_abort_callback(std::string_view name, TaskAbortFunction function, void* argument);

// Calls every device-state callback, in the order of their names.
void notify_device_state(std::int32_t device, DeviceStage stage) noexcept;
// Calls every task-abort callback; stops at the first that answers with something else than 0, and returns it.
std::int32_t notify_task_abort(std::int32_t device, AbortStage stage, std::uint32_t timeout_ms) noexcept;

}  // namespace canopy
