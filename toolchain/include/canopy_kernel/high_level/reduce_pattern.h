// SPDX-License-Identifier: Apache-2.0
// Which axes of a tensor a function reduces (R) and which it keeps (A), from the outermost axis to the innermost.
#ifndef CANOPY_KERNEL_HIGH_LEVEL_REDUCE_PATTERN_H
#define CANOPY_KERNEL_HIGH_LEVEL_REDUCE_PATTERN_H

#include <stdint.h>

namespace AscendC {

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
    RARARARA = 15,
};

}  // namespace AscendC

#endif
