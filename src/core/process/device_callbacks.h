// SPDX-License-Identifier: Apache-2.0
// Device callbacks: one set is called when a device is set or reset, the other when a device's work is aborted. They
// are registered by name through the interface and called by the thread that causes the event, with no runtime lock
// held. Any thread.
#pragma once

#include <cstdint>
#include <string_view>

#include "base/result.h"

namespace canopy {

// Values of aclrtDeviceState.
enum class DeviceStage : std::int32_t { set_pre = 0, set_post = 1, reset_pre = 2, reset_post = 3 };

// Values of aclrtDeviceTaskAbortStage.
enum class AbortStage : std::int32_t { before = 0, after = 1 };

using DeviceStateFunction = void (*)(std::int32_t device, std::int32_t stage, void* argument);
using TaskAbortFunction = std::int32_t (*)(std::int32_t device, std::int32_t stage, std::uint32_t timeout_ms,
                                           void* argument);

// A null function removes the name; a name that is already registered is refused with 107000.
Status register_device_state_callback(std::string_view name, DeviceStateFunction function, void* argument);
// A null function removes the name; a name that is already registered gets the new function.
Status register_task_abort_callback(std::string_view name, TaskAbortFunction function, void* argument);

// Calls all device-state callbacks in name order.
void notify_device_state(std::int32_t device, DeviceStage stage) noexcept;
// Calls all task-abort callbacks; stops at the first that returns a nonzero value, and returns that value.
std::int32_t notify_task_abort(std::int32_t device, AbortStage stage, std::uint32_t timeout_ms) noexcept;

}  // namespace canopy
