// SPDX-License-Identifier: Apache-2.0
// The services of the software NPU that a running kernel can call. Every loaded image gets this table.
#pragma once

#include "canopy/kernel_abi.h"

namespace canopy {

const CanopyServices& kernel_services() noexcept;

}  // namespace canopy
