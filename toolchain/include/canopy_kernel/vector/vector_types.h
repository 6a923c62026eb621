// SPDX-License-Identifier: Apache-2.0
// Small vector types for SIMT kernels. Only the SIMT headers include them, because other kernels use the same names for
// their own types.
#ifndef CANOPY_KERNEL_VECTOR_TYPES_H
#define CANOPY_KERNEL_VECTOR_TYPES_H

#include "kernel_operator.h"

#define CANOPY_VECTOR_OF_TWO(name, T)    \
    struct alignas(2 * sizeof(T)) name { \
        T x, y;                          \
    };                                   \
    constexpr name make_##name(T x, T y) { return {x, y}; }
#define CANOPY_VECTOR_OF_FOUR(name, T)   \
    struct alignas(4 * sizeof(T)) name { \
        T x, y, z, w;                    \
    };                                   \
    constexpr name make_##name(T x, T y, T z, T w) { return {x, y, z, w}; }

CANOPY_VECTOR_OF_TWO(float2, float)
CANOPY_VECTOR_OF_TWO(half2, half)
CANOPY_VECTOR_OF_TWO(int2, int32_t)
CANOPY_VECTOR_OF_TWO(uint2, uint32_t)
CANOPY_VECTOR_OF_FOUR(float4, float)
CANOPY_VECTOR_OF_FOUR(int4, int32_t)
CANOPY_VECTOR_OF_FOUR(uint4, uint32_t)

#undef CANOPY_VECTOR_OF_TWO
#undef CANOPY_VECTOR_OF_FOUR

#endif
