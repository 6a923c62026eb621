// SPDX-License-Identifier: Apache-2.0
// Matrix products for kernels: what the cube unit computes, on the processor that runs the block.
//
// Threads: any; the product is made by the caller alone, in buffers that belong to its thread.
#pragma once

#include "canopy/kernel_abi.h"

namespace canopy {

// As CanopyProduct says. Memory the product names may fault: the function holds nothing that a fault would leak.
void multiply(const CanopyProduct& product) noexcept;

// The same with the code of one of the processor's published levels; the machine must be of that level.
void multiply_at_level(const CanopyProduct& product, int level) noexcept;

}  // namespace canopy
