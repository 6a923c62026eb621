// SPDX-License-Identifier: Apache-2.0
// Commands in the form in which their order is checked. Any thread.
#pragma once

#include "check/host/host_order.h"
#include "device/device.h"

namespace canopy {

inline check::FenceName fence_name(const Fence* fence) noexcept { return reinterpret_cast<std::uintptr_t>(fence); }

// What the command does to memory and to other streams. `device` is its own.
check::HostCommand describe(const Command& command, const check::HostCall& call, const Device& device);

}  // namespace canopy
