// SPDX-License-Identifier: Apache-2.0
// The matrix product that canopy-cc compiles, as the benchmark calls it.
#pragma once

#include <cstdint>
#include <vector>

namespace bench {

// A tiling for a square product on all cores of the chip, as bytes for the kernel; `groups` is what to launch.
struct MatmulPlan {
    std::vector<std::uint8_t> tiling;
    std::uint32_t groups = 0;
};

MatmulPlan plan_matmul(int size, bool halves);
// C = A * B, row by row; C is float. Returns the launch's code.
int launch_matmul(void* stream, const MatmulPlan& plan, bool halves, void* a, void* b, void* c, void* tiling);

}  // namespace bench
