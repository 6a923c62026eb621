// SPDX-License-Identifier: Apache-2.0
#ifndef REQUEST_H
#define REQUEST_H
#include <cstdint>
struct AffineParam {
    float scale;
    float bias;
    uint32_t length;
};
#endif
