// SPDX-License-Identifier: Apache-2.0
// Mentions __global__ and __aicore__ but links no kernels.
#include <cstdio>

int main() {
#if defined(ASCENDC_CPU_DEBUG) || defined(__CANOPY_CC__)
    std::printf("not a stranger\n");
#else
    std::printf("stranger\n");
#endif
    return 0;
}
