// SPDX-License-Identifier: Apache-2.0
// Kernel images on the software NPU. The image's code for this processor is written to a memory file and opened like
// any other shared object, so debuggers, profilers and sanitizers see it.
//
// Threads: loaded code may be used from any thread; it must outlive every launch of its kernels.
#pragma once

#include <canopy/kernel_abi.h>
#include <canopy/kernel_check.h>

#include <memory>

#include "base/result.h"
#include "device/driver.h"
#include "device/image.h"
#include "device/launch_checker.h"

namespace canopy {

// Fails with 107000 if the image has no code that this processor can run. `services`: the table given to its kernels;
// outlives them.
Result<std::unique_ptr<LoadedCode>> load_code_of(const Image& image, const Chip& chip, const CanopyServices& services);

// The same while launches are checked: its checking code, if it has some or `launch_checker` has.
Result<std::unique_ptr<LoadedCode>> load_checking_code_of(const Image& image, const Chip& chip,
                                                          const CanopyServices& services, const CanopyChecker& table,
                                                          LaunchChecker& launch_checker);

}  // namespace canopy
