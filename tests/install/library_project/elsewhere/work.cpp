// SPDX-License-Identifier: Apache-2.0
// A kernel whose workspace and tiling data are its last parameters.
#include "kernel_operator.h"

// Writes to its own part of the workspace, which starts after the system part, and reads the tiling.
extern "C" __global__ __aicore__ void work(GM_ADDR value, GM_ADDR workspace, GM_ADDR tiling) {
    *(__gm__ int*)workspace = *(__gm__ int*)tiling;
    *(__gm__ int*)value += *(__gm__ int*)workspace;
}
