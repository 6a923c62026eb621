// SPDX-License-Identifier: Apache-2.0
// The device side of the example: every block adds its own part of two vectors.
#include "kernel_operator.h"

extern "C" __global__ __aicore__ void vector_add(__gm__ const float* x, __gm__ const float* y, __gm__ float* sum,
                                                 uint32_t count) {
    const uint32_t part = (count + block_num - 1) / block_num;
    const uint32_t first = block_idx * part;
    const uint32_t end = first + part < count ? first + part : count;
    for (uint32_t i = first; i < end; ++i) sum[i] = x[i] + y[i];
}
