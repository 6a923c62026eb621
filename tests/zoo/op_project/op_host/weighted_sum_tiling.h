// SPDX-License-Identifier: Apache-2.0
#ifndef WEIGHTED_SUM_TILING_H
#define WEIGHTED_SUM_TILING_H
#include "register/tilingdata_base.h"

namespace optiling {
BEGIN_TILING_DATA_DEF(WeightList)
TILING_DATA_FIELD_DEF(uint8_t, count);
TILING_DATA_FIELD_DEF_ARR(int64_t, 8, weights);
END_TILING_DATA_DEF;
REGISTER_TILING_DATA_CLASS(WeightListOp, WeightList)

BEGIN_TILING_DATA_DEF(WeightedSumTilingData)
TILING_DATA_FIELD_DEF(uint32_t, length);
TILING_DATA_FIELD_DEF_STRUCT(WeightList, list);
TILING_DATA_FIELD_DEF(uint32_t, hasBias);
END_TILING_DATA_DEF;
REGISTER_TILING_DATA_CLASS(WeightedSum, WeightedSumTilingData)
}
#endif
