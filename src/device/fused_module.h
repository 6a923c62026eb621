// SPDX-License-Identifier: Apache-2.0
// Loads images of fused kernels on any device: each part becomes a module, and each kernel of the image is a list whose
// steps are kernels of those modules. Backends call this from Device::load.
//
// Threads: same as any module.
#pragma once

#include <functional>
#include <memory>
#include <span>

#include "base/result.h"
#include "device/device.h"
#include "device/image.h"

namespace canopy {

// `load_part` loads an image with code; nested images of fused kernels are rejected before it is called.
using LoadPart = std::function<Result<std::unique_ptr<Module>>(std::span<const std::byte>)>;
Result<std::unique_ptr<Module>> load_fused_module(const Image& image, const LoadPart& load_part);

}  // namespace canopy
