// SPDX-License-Identifier: Apache-2.0
// What the normalisations share: mean and variance of a row in two passes, which loses no digits, and the step that
// applies them.
#ifndef CANOPY_KERNEL_HIGH_LEVEL_NORMALIZATION_ROWS_H
#define CANOPY_KERNEL_HIGH_LEVEL_NORMALIZATION_ROWS_H

#include <kernel_tiling/kernel_tiling.h>

#include "canopy_kernel/high_level/rows.h"

namespace canopy::kernel {

template <class T>
inline constexpr bool is_normalizable = is_any_of<T, half, float> || (any_type_chip && is_same<T, bfloat16_t>);

inline float reciprocal_root(float x) { return 1.0f / math::square_root(x); }

struct SquareOfDeviation {
    float mean;
    float operator()(float x) const {
        const float difference = x - mean;
        return difference * difference;
    }
};

// What mean and reciprocal standard deviation do with an element, with and without scale and offset.
struct Standardize {
    float mean, rstd;
    float operator()(float x) const { return (x - mean) * rstd; }
    float operator()(float x, float gamma, float beta) const { return (x - mean) * rstd * gamma + beta; }
};
struct StandardizeAndScale {
    Standardize base;
    float operator()(float x, float gamma) const { return base(x) * gamma; }
};
struct StandardizeAndShift {
    Standardize base;
    float operator()(float x, float beta) const { return base(x) + beta; }
};

struct Moments {
    float mean, variance;
};

template <class T>
inline Moments moments_of(uint64_t count, const T* x) {
    const auto elements = static_cast<float>(count);
    const float mean = sum_of(count, ValueItself{}, x) / elements;
    return {mean, sum_of(count, SquareOfDeviation{mean}, x) / elements};
}

template <bool no_gamma, bool no_beta, class T, class U>
inline void standardize(uint64_t count, const Standardize& operation, T* out, const T* x, const U* gamma,
                        const U* beta) {
    if constexpr (no_gamma && no_beta)
        compute(count, operation, out, x);
    else if constexpr (no_gamma)
        compute(count, StandardizeAndShift{operation}, out, x, beta);
    else if constexpr (no_beta)
        compute(count, StandardizeAndScale{operation}, out, x, gamma);
    else
        compute(count, operation, out, x, gamma, beta);
}

// Rows of `pitch` elements of which the first `used` are data. In a tiling, an original length of 0 means no padding.
struct NormRows {
    uint64_t rows, pitch, used;

    template <class T>
    void check(const CheckedCall& call, const LocalTensor<T>& src) const {
        call.positive("the number of rows", rows);
        call.whole_blocks<T>("the length of a row", pitch);
        call.at_most("the original length of a row", used, "its length", pitch);
        call.operand("the source", src, rows * pitch);
    }
};

template <class Tiling>
inline NormRows rows_of_tiling(const Tiling& tiling) {
    const uint64_t used = tiling.originalHLength == 0 ? tiling.hLength : tiling.originalHLength;
    return {uint64_t{tiling.bLength} * tiling.sLength, tiling.hLength, used};
}

}  // namespace canopy::kernel

#endif
