// SPDX-License-Identifier: Apache-2.0
// What a running kernel may ask of the software NPU; the table every loaded image is given.
#pragma once

#include "canopy/kernel_abi.h"

namespace canopy {

const CanopyServices& kernel_services() noexcept;

}  // namespace canopy
