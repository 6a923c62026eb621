// SPDX-License-Identifier: Apache-2.0
// Kernel images on the software NPU. The image's code for this processor is written to a memory file and opened like
// any other shared object, so debuggers, profilers and sanitizers see it.
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

// Fails with 107000 if read_image rejects the image, if it is for a chip other than `chip`, or if it has no code this
// processor can run. The bytes are not needed after the call. `services`: the table given to its kernels; outlives
// them.
Result<std::unique_ptr<Module>> load_module(std::span<const std::byte> image, const Chip& chip,
                                            const CanopyServices& services);

}  // namespace canopy
