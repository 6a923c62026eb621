// SPDX-License-Identifier: Apache-2.0
// The kernels that the tests of the Python module load and launch.
#include "kernel_operator.h"

extern "C" __global__ __aicore__ void nothing() {}

extern "C" __global__ __aicore__ void add(__gm__ float* a, __gm__ float* b, __gm__ float* out, uint32_t count) {
    const uint32_t share = (count + block_num - 1) / block_num;
    const uint32_t begin = block_idx * share;
    const uint32_t end = begin + share < count ? begin + share : count;
    for (uint32_t i = begin; i < end; ++i) out[i] = a[i] + b[i];
}

// Slots are eight bytes each.
extern "C" __global__ __aicore__ void mixed_arguments(__gm__ double* out, uint8_t a, int16_t b, float c, int64_t d) {
    *out = a + b + c + static_cast<double>(d);
}

// *out = sum of the bytes the placeholder points at
extern "C" __global__ __aicore__ void sum_bytes(__gm__ uint64_t* out, __gm__ uint8_t* bytes, uint64_t count) {
    uint64_t sum = 0;
    for (uint64_t i = 0; i < count; ++i) sum += bytes[i];
    *out = sum;
}

extern "C" __global__ __aicore__ void trap_always() { asm("trap"); }
