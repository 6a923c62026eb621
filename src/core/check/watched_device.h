// SPDX-License-Identifier: Apache-2.0
// A device that tells what passes through it: allocations, commands of queues, graphs, and what the host waits for. All
// calls go on to the device behind it. Any thread.
#pragma once

#include <memory>

#include "core/check/host_check.h"
#include "device/device.h"

namespace canopy {

std::unique_ptr<Device> watch_device(HostCheck& check, std::unique_ptr<Device> device, unsigned index);

}  // namespace canopy
