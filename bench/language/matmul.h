// SPDX-License-Identifier: Apache-2.0
// The interface of the matrix product that canopy-cc compiles.
#pragma once

#include <cstdint>
#include <vector>

namespace bench {

// A tiling for a square product on all cores of the chip, as bytes for the kernel; `groups` is the number to launch.
struct MatmulPlan {
    std::vector<std::uint8_t> tiling;
    std::uint32_t groups = 0;
};

MatmulPlan plan_matmul(int size, bool halves);
// C = A * B, row-major; C is float. Returns the error code of the launch.
int launch_matmul(void* stream, const MatmulPlan& plan, bool halves, void* a, void* b, void* c, void* tiling);

}  // namespace bench
