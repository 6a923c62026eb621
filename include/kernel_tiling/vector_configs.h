// SPDX-License-Identifier: Apache-2.0
// Modes and configurations of high-level vector operations that the host functions for their tilings take as well as
// the kernels.
#ifndef CANOPY_KERNEL_TILING_VECTOR_CONFIGS_H
#define CANOPY_KERNEL_TILING_VECTOR_CONFIGS_H

#include <stdint.h>

#include "data_format.h"

namespace AscendC {

enum class TopKMode { TOPK_NORMAL = 0, TOPK_NSMALL = 1 };
enum class TopKAlgo { RADIX_SELECT = 0, MERGE_SORT = 1 };
enum class TopKOrder { UNSET = 0, LARGEST = 1, SMALLEST = 2 };
struct TopKConfig {
    TopKAlgo algo = TopKAlgo::MERGE_SORT;
    TopKOrder order = TopKOrder::UNSET;
    bool sorted = true;
};

enum class SortType { RADIX_SORT = 0, MERGE_SORT = 1 };
struct SortConfig {
    SortType type = SortType::RADIX_SORT;
    bool isDescend = false;
    bool hasSrcIndex = false;  // the last two concern host functions only
    bool hasDstIndex = false;
};

struct TransDataConfig {
    DataFormat srcFormat;
    DataFormat dstFormat;
};

enum class SinAlgo { POLYNOMIAL_APPROXIMATION = 0, RADIAN_REDUCTION = 1 };
struct SinConfig {
    SinAlgo algo = SinAlgo::POLYNOMIAL_APPROXIMATION;
};
enum class CosAlgo { POLYNOMIAL_APPROXIMATION = 0, RADIAN_REDUCTION = 1 };
struct CosConfig {
    CosAlgo algo = CosAlgo::POLYNOMIAL_APPROXIMATION;
};

// The axes of a shape from the outermost one: A is kept, R is reduced.
enum class ReducePattern : uint32_t {
    AR = 0,
    RA = 1,
    R = 2,
    ARA = 3,
    ARAR = 4,
    ARARA = 5,
    ARARAR = 6,
    ARARARA = 7,
    ARARARAR = 8,
    ARARARARA = 9,
    RAR = 10,
    RARA = 11,
    RARAR = 12,
    RARARA = 13,
    RARARAR = 14,
    RARARARA = 15
};

}  // namespace AscendC

#endif
