// SPDX-License-Identifier: Apache-2.0
// SoftKernel: the data a launch on the software NPU needs about a kernel.
#pragma once

#include <canopy/kernel_abi.h>

#include <cstdint>

#include "device/driver.h"
#include "device/execution/core_flags.h"

namespace canopy {

class CheckingCode;
class SoftCheckedLaunch;

// A kernel of a loaded module: the queue calls `entry` once for each block.
struct SoftKernel : Kernel {
    CanopyKernelEntry entry = nullptr;         // calls the kernel itself, whose code is at `address`
    CoreGroup group;                           // cores that run each of its blocks
    CanopyCoreType type = CANOPY_CORE_VECTOR;  // of its cores other than cube cores
    [[nodiscard]] std::uint32_t core_type(bool cube) const noexcept { return cube ? CANOPY_CORE_CUBE : type; }
    // Recent time of a block in nanoseconds: a hint that every launch updates. Access it through atomic_ref.
    mutable std::int64_t block_time = INT64_MAX;
    mutable bool stubborn = false;         // its blocks were found polling for each other; access it through atomic_ref
    CheckingCode* checking = nullptr;      // set while launches are checked
    SoftCheckedLaunch* checked = nullptr;  // the launch whose kernel this is, if that is checked
};

}  // namespace canopy
