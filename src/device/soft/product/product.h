// SPDX-License-Identifier: Apache-2.0
// Matrix products for kernels: the cube unit's work, done on the processor that runs the block.
//
// Threads: any; the calling thread computes the product alone, in its own buffers.
#pragma once

#include "canopy/kernel_abi.h"

namespace canopy {

// Computes the product that CanopyProduct describes. Its operands may fault: the function holds nothing that a fault
// would leak.
void multiply(const CanopyProduct& product) noexcept;

// The same with the code for one processor level: that of x86-64-v2, 3 or 4, or 5 for level 4 with instructions for
// products of integers. The machine must support it.
int highest_product_level() noexcept;
void multiply_at_level(const CanopyProduct& product, int level) noexcept;

}  // namespace canopy
