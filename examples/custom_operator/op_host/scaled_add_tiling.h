// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "register/tilingdata_base.h"

namespace optiling {

// The kernel gets a plain structure with these members.
BEGIN_TILING_DATA_DEF(ScaledAddTilingData)
TILING_DATA_FIELD_DEF(uint32_t, blockLength);
TILING_DATA_FIELD_DEF(uint32_t, lastBlockLength);
TILING_DATA_FIELD_DEF(uint32_t, tileLength);
TILING_DATA_FIELD_DEF(float, scale);
END_TILING_DATA_DEF;

REGISTER_TILING_DATA_CLASS(ScaledAdd, ScaledAddTilingData)

}  // namespace optiling
