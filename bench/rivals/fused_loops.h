// SPDX-License-Identifier: Apache-2.0
// What the fused kernels of bench/fusion/fusion.cpp do as one loop each, as a programmer would write it: the bound that
// no fusion can beat. OpenMP over all processors where that pays, compiled with -O3 -march=native.
#pragma once

#include <cstddef>

namespace bench {

// Eight times y = a y + 1, from x to y.
void fused_affine(const float* x, float* y, float a, std::size_t count);
// The same with stores past the caches.
void fused_affine_streaming(const float* x, float* y, float a, std::size_t count);

}  // namespace bench
