// SPDX-License-Identifier: Apache-2.0
#ifndef TPL_LEAKY_TILING_H
#define TPL_LEAKY_TILING_H
#include <cstdint>

struct TplLeakyTilingData {
    uint32_t totalLength;
    float slope;
};
#endif
