// SPDX-License-Identifier: Apache-2.0
// SIMT kernels of the conformance tests.
#include "kernel_operator.h"

// out[position in the launch] = first + 1000 * block + thread
extern "C" __global__ void note_place(__gm__ uint32_t* out, uint32_t first) {
    const uint32_t thread = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
    const uint32_t block = blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z);
    out[block * blockDim.x * blockDim.y * blockDim.z + thread] = first + 1000 * block + thread;
}

extern "C" __global__ void copy_words(__gm__ uint32_t* out, const __gm__ uint32_t* words) {
    out[threadIdx.x] = words[threadIdx.x];
}

extern "C" __global__ __aicore__ void no_threads(__gm__ uint32_t* out, uint32_t value) { *out = value; }
