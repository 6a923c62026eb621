// SPDX-License-Identifier: Apache-2.0
// Images of fused kernels on any device: their parts are loaded as modules, and each of their kernels is a list whose
// steps are kernels of those. Backends call it from Device::load.
//
// Threads: as any module.
#pragma once

#include <functional>
#include <memory>
#include <span>

#include "base/result.h"
#include "device/backend.h"
#include "device/image.h"

namespace canopy {

// `load_part` loads an image that holds code; parts that are images of fused kernels again are refused before.
using LoadPart = std::function<Result<std::unique_ptr<Module>>(std::span<const std::byte>)>;
Result<std::unique_ptr<Module>> load_fused_module(const Image& image, const LoadPart& load_part);

}  // namespace canopy
