// SPDX-License-Identifier: Apache-2.0
// Calls from this folder into the folders above it. The table is defined in core/lifecycle/hooks.cpp.
#pragma once

#include <canopy/chips.h>

#include <cstdint>

#include "base/result.h"

namespace canopy {

class Device;

struct ProcessHooks {
    // The chip the program's kernels were compiled for; nullptr if they do not agree on one.
    const Chip* (*chip_of_kernels)();
    // Lets a device that was just opened use the host memory that devices share.
    Status (*device_opened)(Device& device);
    // Tells those who record which devices and streams there are.
    void (*tell_facts)();
    // Makes the device current in the calling thread.
    Status (*set_device)(std::int64_t device);
};
extern const ProcessHooks process_hooks;

}  // namespace canopy
