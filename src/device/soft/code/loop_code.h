// SPDX-License-Identifier: Apache-2.0
// Loads the compiled loops of fused kernels.
//
// Threads: any; loaded code may be used from any thread.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string_view>

#include "base/result.h"
#include "device/driver.h"

namespace canopy {

// Fails with 107000 if the dynamic loader rejects the object. The bytes are not needed after the call.
Result<std::shared_ptr<const Code>> load_loops(std::span<const std::byte> object, std::string_view name);

}  // namespace canopy
