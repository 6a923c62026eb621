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

// The elements of A and B. C is int32 for bytes, otherwise float.
enum class MatmulElement { floats, halves, bfloats, bytes };

MatmulPlan plan_matmul(int size, MatmulElement element);
// C = A * B, row-major. Returns the error code of the launch.
int launch_matmul(void* stream, const MatmulPlan& plan, MatmulElement element, void* a, void* b, void* c, void* tiling);

}  // namespace bench
