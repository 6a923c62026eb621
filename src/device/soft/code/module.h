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

namespace canopy {

// Refuses with 107000 what read_image refuses, an image for another chip than `chip`, and one without code this
// processor can run. The bytes are not needed after the call. `services`: the table its kernels find; outlives them.
Result<std::unique_ptr<Module>> load_module(std::span<const std::byte> image, const Chip& chip,
                                            const CanopyServices& services);

}  // namespace canopy
