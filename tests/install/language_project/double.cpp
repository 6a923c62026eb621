// SPDX-License-Identifier: Apache-2.0
// The shared library of the language project.
#include "kernel_operator.h"

__global__ __vector__ void double_kernel(__gm__ int* value) { *value *= 2; }

int Double(int* value, void* stream) { return double_kernel<<<1, nullptr, stream>>>(value); }
