// SPDX-License-Identifier: Apache-2.0
// Kernel images on the software NPU: an image's code for this processor becomes a shared object in a memory file and
// is opened like any other, so debuggers, profilers and sanitizers see it.
//
// Threads: a loaded module may be used from any thread; it must outlive every launch of its kernels.
#pragma once

#include <canopy/kernel_abi.h>

#include <cstddef>
#include <memory>
#include <span>

#include "base/result.h"
#include "device/backend.h"
#include "device/soft/execution/core_flags.h"

namespace canopy {

// A kernel of a loaded module: the queue calls `entry` once for each block.
struct SoftKernel : Kernel {
    CanopyKernelEntry entry = nullptr;
    void* function = nullptr;                  // the kernel itself, which the entry calls
    CoreGroup group;                           // cores that run each of its blocks
    CanopyCoreType type = CANOPY_CORE_VECTOR;  // of those that are no cube cores
    [[nodiscard]] std::uint32_t core_type(bool cube) const noexcept { return cube ? CANOPY_CORE_CUBE : type; }
    // What a block took lately, in nanoseconds; written by whoever ran some, read as a hint. Use through atomic_ref.
    mutable std::int64_t block_time = INT64_MAX;
};

// Refuses with 107000 what read_image refuses, an image for another chip than `chip`, and one without code this
// processor can run. The bytes are not needed after the call.
Result<std::unique_ptr<Module>> load_module(std::span<const std::byte> image, const Chip& chip);

}  // namespace canopy
