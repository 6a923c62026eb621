// SPDX-License-Identifier: Apache-2.0
// The services of the software NPU that a running kernel can call. Every loaded image gets this table.
#pragma once

#include <cstddef>

#include "canopy/kernel_abi.h"

namespace canopy {

const CanopyServices& kernel_services() noexcept;

// Sends what kernels print to that function instead of standard output.
void print_kernels_with(void (*print)(const char* text, std::size_t length)) noexcept;

}  // namespace canopy
