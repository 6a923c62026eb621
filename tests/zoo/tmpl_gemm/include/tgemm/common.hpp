// SPDX-License-Identifier: Apache-2.0
#ifndef TGEMM_COMMON_HPP
#define TGEMM_COMMON_HPP

#include "kernel_operator.h"

#define TGEMM_DEVICE __forceinline__ [aicore]
#define TGEMM_HOST_DEVICE __forceinline__ [host, aicore]
#define TGEMM_GLOBAL __global__ [aicore]

namespace tgemm {

constexpr uint32_t BYTE_PER_C0 = 32;
constexpr uint32_t C0_NUM_PER_FRACTAL = 16;
constexpr uint32_t BYTE_PER_FRACTAL = BYTE_PER_C0 * C0_NUM_PER_FRACTAL;

// how many stages each memory level is split into
constexpr uint32_t STAGES_OF_LEVEL[] = {2, 2, 1};
enum MemoryLevel { LEVEL_L1 = 0, LEVEL_L0AB, LEVEL_L0C };

template <class T>
TGEMM_HOST_DEVICE constexpr T CeilDiv(T dividend, T divisor)
{
    return divisor == 0 ? 0 : (dividend + divisor - 1) / divisor;
}

template <class T>
TGEMM_HOST_DEVICE constexpr T RoundUp(T val, T align)
{
    return CeilDiv(val, align) * align;
}

template <uint32_t ALIGN, class T>
TGEMM_HOST_DEVICE constexpr T RoundUp(T val)
{
    static_assert(ALIGN != 0, "ALIGN must not be 0");
    return (val + ALIGN - 1) / ALIGN * ALIGN;
}

template <uint32_t ALIGN, class T>
TGEMM_HOST_DEVICE constexpr T RoundDown(T val)
{
    return val / ALIGN * ALIGN;
}

template <class T>
TGEMM_HOST_DEVICE constexpr T Min(T a, T b)
{
    return a < b ? a : b;
}

template <class T>
TGEMM_HOST_DEVICE constexpr T Max(T a, T b)
{
    return a > b ? a : b;
}

template <class Element>
struct ElementTraits {
    static constexpr uint32_t PER_C0 = BYTE_PER_C0 / sizeof(Element);
    static constexpr uint32_t PER_FRACTAL = BYTE_PER_FRACTAL / sizeof(Element);
};

}  // namespace tgemm
#endif
