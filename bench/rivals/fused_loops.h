// SPDX-License-Identifier: Apache-2.0
// The work of the fused kernels of bench/fusion/fusion.cpp as one hand-written loop each: the bound that fusion cannot
// beat. Uses OpenMP over all processors where that pays, compiled with -O3 -march=native.
#pragma once

#include <cstddef>

namespace bench {

// Applies y = a y + 1 eight times, from x to y.
void fused_affine(const float* x, float* y, float a, std::size_t count);
// The same with non-temporal stores.
void fused_affine_streaming(const float* x, float* y, float a, std::size_t count);

}  // namespace bench
