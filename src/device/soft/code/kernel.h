// SPDX-License-Identifier: Apache-2.0
// SoftKernel: what a launch on the software NPU needs to know of a kernel.
#pragma once

#include <canopy/kernel_abi.h>

#include <cstdint>

#include "device/backend.h"
#include "device/soft/base/kind.h"
#include "device/soft/execution/core_flags.h"

namespace canopy {

// A kernel of a loaded module: the queue calls `entry` once for each block.
struct SoftKernel : Kernel {
    SoftKernel() noexcept { kind = &soft_kind; }
    CanopyKernelEntry entry = nullptr;
    void* function = nullptr;                  // the kernel itself, which the entry calls
    CoreGroup group;                           // cores that run each of its blocks
    CanopyCoreType type = CANOPY_CORE_VECTOR;  // of those that are not cube cores
    [[nodiscard]] std::uint32_t core_type(bool cube) const noexcept { return cube ? CANOPY_CORE_CUBE : type; }
    // What a block took lately, in nanoseconds; a hint that every launch updates. Use through atomic_ref.
    mutable std::int64_t block_time = INT64_MAX;
};

}  // namespace canopy
