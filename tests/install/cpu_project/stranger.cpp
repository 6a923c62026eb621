// SPDX-License-Identifier: Apache-2.0
// Speaks of __global__ and __aicore__ and links no kernels.
#include <cstdio>

int main() {
#if defined(ASCENDC_CPU_DEBUG) || defined(__CANOPY_CC__)
    std::printf("not a stranger\n");
#else
    std::printf("stranger\n");
#endif
    return 0;
}
