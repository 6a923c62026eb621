// SPDX-License-Identifier: Apache-2.0
// The shared library's kernel, with the host function that launches it; also a part of the image.
#include "kernel_operator.h"

extern "C" __global__ __aicore__ void again_kernel(__gm__ int* value) { *value += 1; }

int Again(int* value, void* stream) { return again_kernel<<<1, nullptr, stream>>>(value); }
