// SPDX-License-Identifier: Apache-2.0
// Kernels of the programs with captured graphs.
#include "kernel_operator.h"

// out = x + alpha * y
extern "C" __global__ __aicore__ void add_scaled(__gm__ const float* x, __gm__ const float* y, __gm__ float* out,
                                                 float alpha, uint32_t count) {
    for (uint32_t i = block_idx; i < count; i += block_num) out[i] = x[i] + alpha * y[i];
}

extern "C" __global__ __aicore__ void multiply(__gm__ const float* x, __gm__ const float* y, __gm__ float* out,
                                               uint32_t count) {
    for (uint32_t i = block_idx; i < count; i += block_num) out[i] = x[i] * y[i];
}

extern "C" __global__ __aicore__ void write_selector(__gm__ uint64_t* selector, uint64_t value) { *selector = value; }

extern "C" __global__ __aicore__ void lower_selector(__gm__ uint64_t* selector) { *selector = *selector - 1; }
