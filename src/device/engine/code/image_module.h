// SPDX-License-Identifier: Apache-2.0
// Modules of kernel images on any device: the driver loads the code, everything else is the same for all kinds.
//
// Threads: a loaded module may be used from any thread; it must outlive every launch of its kernels.
#pragma once

#include <cstddef>
#include <memory>
#include <span>

#include "base/result.h"
#include "device/device.h"

namespace canopy {

// Fails with 107000 if read_image rejects the image, if it is for a chip other than the driver's, or if the driver
// cannot load its code. The bytes are not needed after the call.
Result<std::unique_ptr<Module>> load_image(std::span<const std::byte> image, Driver& driver);

}  // namespace canopy
