// SPDX-License-Identifier: Apache-2.0
// dim3: three extents, used by host code in launches and by SIMT kernels.
#ifndef CANOPY_KERNEL_DIMENSIONS_H
#define CANOPY_KERNEL_DIMENSIONS_H

#include <stdint.h>

struct dim3 {
    constexpr dim3(uint32_t across = 1, uint32_t down = 1, uint32_t deep = 1) : x(across), y(down), z(deep) {}
    uint32_t x, y, z;
};

#endif
