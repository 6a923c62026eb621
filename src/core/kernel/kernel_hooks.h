// SPDX-License-Identifier: Apache-2.0
// Calls from kernels to higher-level folders. The table is a constant in core/lifecycle/hooks.cpp.
#pragma once

#include <memory>

#include "core/process/runtime.h"
#include "device/device.h"

namespace canopy {

struct KernelHooks {
    // A module is being unloaded: graphs that launch its kernels keep a reference to it.
    void (*keep_for_graphs)(const DeviceRecord& record, const std::shared_ptr<Module>& module) noexcept;
};
extern const KernelHooks kernel_hooks;

}  // namespace canopy
