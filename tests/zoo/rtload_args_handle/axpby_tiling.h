// SPDX-License-Identifier: Apache-2.0
#ifndef AXPBY_TILING_H
#define AXPBY_TILING_H
#include <cstdint>

struct AxpbyTiling {
    uint32_t totalLength;
    uint32_t tileNum;
    uint32_t tail;
    float alpha;
    float beta;
};
#endif
