// SPDX-License-Identifier: Apache-2.0
// Parameters of every size and alignment.
#include "kernel_operator.h"

struct Inner {
    uint8_t tag;
    uint16_t width;
};

struct Tiling {
    Inner inner[2];
    double scale;
    uint8_t last;
};

struct alignas(32) Wide {
    uint32_t values[8];
};

struct Empty {};

extern "C" __global__ __aicore__ void structures(bool flag, Tiling tiling, Wide wide, uint8_t small, const Empty empty,
                                                 __gm__ double* result) {
    (void)empty;
    result[0] = flag;
    result[1] = tiling.inner[1].width;
    result[2] = tiling.scale;
    result[3] = tiling.last;
    result[4] = wide.values[7];
    result[5] = small;
}
