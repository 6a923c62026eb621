// SPDX-License-Identifier: Apache-2.0
// Names of the chip's algorithms for division, roots, exponentials and logarithms. Results here satisfy all of them:
// subnormal numbers are kept, and errors are at most one unit in the last place.
#ifndef CANOPY_KERNEL_ALGORITHMS_H
#define CANOPY_KERNEL_ALGORITHMS_H

#include <stdint.h>

namespace AscendC {

#define CANOPY_ALGORITHM(Name, defaults)                                                                       \
    enum class Name##Algo : uint8_t{INTRINSIC = 0, PRECISION_1ULP_FTZ_TRUE = 1, PRECISION_1ULP_FTZ_FALSE = 2}; \
    struct Name##Config {                                                                                      \
        Name##Algo algo = Name##Algo::INTRINSIC;                                                               \
    };                                                                                                         \
    inline constexpr Name##Config defaults = {Name##Algo::INTRINSIC};

CANOPY_ALGORITHM(Exp, DEFAULT_EXP_CONFIG)
CANOPY_ALGORITHM(Ln, DEFAULT_LN_CONFIG)
CANOPY_ALGORITHM(Log, DEFAULT_Log_CONFIG)
CANOPY_ALGORITHM(Log2, DEFAULT_Log2_CONFIG)
CANOPY_ALGORITHM(Log10, DEFAULT_Log10_CONFIG)
CANOPY_ALGORITHM(Reciprocal, DEFAULT_RECIPROCAL_CONFIG)

#undef CANOPY_ALGORITHM
#define CANOPY_ALGORITHM(Name, defaults)                                                          \
    enum class Name##Algo : uint8_t{INTRINSIC = 0, FAST_INVERSE = 1, PRECISION_1ULP_FTZ_TRUE = 2, \
                                    PRECISION_0ULP_FTZ_FALSE = 3, PRECISION_1ULP_FTZ_FALSE = 4};  \
    struct Name##Config {                                                                         \
        Name##Algo algo = Name##Algo::INTRINSIC;                                                  \
    };                                                                                            \
    inline constexpr Name##Config defaults = {Name##Algo::INTRINSIC};

CANOPY_ALGORITHM(Sqrt, DEFAULT_SQRT_CONFIG)
CANOPY_ALGORITHM(Rsqrt, DEFAULT_RSQRT_CONFIG)

#undef CANOPY_ALGORITHM

enum class DivAlgo : uint8_t {
    INTRINSIC = 0,
    DIFF_COMPENSATION = 1,
    PRECISION_1ULP_FTZ_TRUE = 2,
    PRECISION_0ULP_FTZ_TRUE = 3,
    PRECISION_0ULP_FTZ_FALSE = 4,
    PRECISION_1ULP_FTZ_FALSE = 5
};
struct DivConfig {
    DivAlgo algo = DivAlgo::INTRINSIC;
};
inline constexpr DivConfig DEFAULT_DIV_CONFIG = {DivAlgo::INTRINSIC};

}  // namespace AscendC

#endif
