// SPDX-License-Identifier: Apache-2.0
// shared by host and kernel, keep it POD
#pragma once
#include <cstdint>

#pragma pack(push, 8)
struct AddTilingData {
    uint32_t totalLength;
    uint32_t tileNum;
    uint32_t formerNum;     // cores with one tile more
    uint32_t tileLength;
    float    alpha;
};
#pragma pack(pop)
