// SPDX-License-Identifier: Apache-2.0
// The second source of the image.
#include "kernel_operator.h"

extern "C" __global__ __aicore__ void other_kernel(__gm__ int* value) { *value -= 1; }
