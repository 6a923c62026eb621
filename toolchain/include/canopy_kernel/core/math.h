// SPDX-License-Identifier: Apache-2.0
// Elementary functions of one number, written without branches so that loops over them vectorise on every processor,
// and conversions between float and the 16-bit formats. Products and sums are fused where the source says so and
// nowhere else, so results are bit-identical whatever the code is compiled for. Used by the headers of the vector
// operations.
#ifndef CANOPY_KERNEL_MATH_H
#define CANOPY_KERNEL_MATH_H

#include "canopy_kernel/target/types.h"

namespace canopy::kernel {

template <class To, class From>
constexpr To bits_as(const From& value) {
    static_assert(sizeof(To) == sizeof(From), "bits_as needs types of one size");
    return __builtin_bit_cast(To, value);
}

// float -> bfloat16_t, nearest, ties to even; a NaN stays NaN.
constexpr bfloat16_t to_bfloat16(float value) {
    const auto bits = bits_as<uint32_t>(value);
    const uint32_t rounded = (bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16;
    const uint32_t quiet = (bits >> 16) | 0x40u;
    return bits_as<bfloat16_t>(static_cast<uint16_t>((bits & 0x7fffffffu) > 0x7f800000u ? quiet : rounded));
}

// The type used for arithmetic: float for the 16-bit formats, otherwise the type itself.
template <class T>
using Wide = choose<is_any_of<T, half, bfloat16_t>, float, T>;

template <class T>
constexpr Wide<T> widen(T value) {
    if constexpr (is_same<T, bfloat16_t>)
        return bits_as<float>(static_cast<uint32_t>(bits_as<uint16_t>(value)) << 16);
    else
        return static_cast<Wide<T>>(value);
}

// A zero the compiler cannot see through. A half widened with it stays a float; otherwise the compiler narrows the
// arithmetic back to 16 bits, for which most processors have only scalar code.
inline uint32_t opaque_zero() {
    uint32_t zero = 0;
    __asm__("" : "+r"(zero));
    return zero;
}

// Like widen(value), for loops; `zero` is an opaque_zero() from before the loop.
template <class T>
inline Wide<T> widen(T value, [[maybe_unused]] uint32_t zero) {
    if constexpr (is_same<T, half>)
        return bits_as<float>(bits_as<uint32_t>(static_cast<float>(value)) ^ zero);
    else
        return widen(value);
}

template <class T>
constexpr T narrow(Wide<T> value) {
    if constexpr (is_same<T, bfloat16_t>)
        return to_bfloat16(value);
    else
        return static_cast<T>(value);
}

// Converts the scalar operand of an operation on T from any arithmetic type.
template <class T, class S>
constexpr Wide<T> scalar_of(const S& value) {
    if constexpr (is_same<S, T>)
        return widen(value);
    else if constexpr (is_same<T, bfloat16_t>)
        return widen(to_bfloat16(static_cast<float>(value)));
    else if constexpr (is_same<S, bfloat16_t>)
        return widen(static_cast<T>(widen(value)));
    else
        return widen(static_cast<T>(value));
}

namespace math {

inline float square_root(float x) { return __builtin_elementwise_sqrt(x); }
inline double square_root(double x) { return __builtin_elementwise_sqrt(x); }

inline float nearest_even(float x) { return __builtin_elementwise_roundeven(x); }
inline float floor(float x) { return __builtin_elementwise_floor(x); }
inline float ceil(float x) { return __builtin_elementwise_ceil(x); }
inline float truncate(float x) { return __builtin_elementwise_trunc(x); }
// Ties go away from zero.
inline float nearest_away(float x) {
    // The largest number below one half: exact halves are rounded up by the sum, numbers below them are not.
    return truncate(x + __builtin_copysignf(0x1.fffffep-2f, x));
}

inline float absolute(float x) { return bits_as<float>(bits_as<uint32_t>(x) & 0x7fffffffu); }

// a * b + c, rounded once: one instruction from x86-64-v3 on. Older processors call a function of the C library, which
// gives the same result and takes many times longer.
inline float fused(float a, float b, float c) { return __builtin_fmaf(a, b, c); }

// 2^n for -126 <= n <= 127.
inline float power_of_two(int32_t n) { return bits_as<float>(static_cast<uint32_t>(n + 127) << 23); }

// (e^r - r - 1) / r^2 for |r| <= ln 2 / 2.
inline float exp_tail(float r) {
    float p = 1.9907569113e-4f;
    p = fused(p, r, 1.3948588644e-3f);
    p = fused(p, r, 8.3332860330e-3f);
    p = fused(p, r, 4.1666240604e-2f);
    p = fused(p, r, 1.6666666756e-1f);
    return fused(p, r, 5.0000000808e-1f);
}

// value * 2^n, where n + 254 is in the low nine bits of `biased`. The scale is applied in two steps so that results
// below the normal range are rounded once.
inline constexpr int32_t two_biases = 254;
inline float scaled_by_power_of_two(float value, uint32_t biased) {
    const uint32_t first = biased >> 1;
    return value * bits_as<float>(first << 23) * bits_as<float>((biased - first) << 23);
}

// e^x = (1 + rest) 2^n, with x = n ln 2 + r, |r| <= ln 2 / 2, and a polynomial for the rest.
struct SplitPower {
    float rest;
    uint32_t biased;  // as for scaled_by_power_of_two
};
inline SplitPower split_exp(float x) {
    x = x < -104.0f ? -104.0f : x;
    x = x > 89.0f ? 89.0f : x;
    constexpr float shift = 0x1.8p23f + two_biases;
    const float shifted = fused(x, 0x1.715476p0f, shift);
    const float whole = shifted - shift;
    const float r = fused(whole, 0x1.bd0106p-13f, fused(whole, -0x1.63p-1f, x));
    return {fused(exp_tail(r), r * r, r), bits_as<uint32_t>(shifted)};
}

// e^x, within 1 unit in the last place.
inline float exp(float x) {
    const SplitPower power = split_exp(x);
    return scaled_by_power_of_two(power.rest + 1.0f, power.biased);
}
// The same before it is rounded to float, for products with it.
inline double exp_to_double(float x) {
    const SplitPower power = split_exp(x);
    const uint64_t exponent = (power.biased & 511u) + uint64_t{1023 - two_biases};
    return (1.0 + static_cast<double>(power.rest)) * bits_as<double>(exponent << 52);
}

// The natural logarithm, within 1 unit in the last place: x = 2^e m with m around 1, and a polynomial in m - 1.
inline float log(float x) {
    const bool small = x < 0x1p-126f;
    const float scaled = small ? x * 0x1p23f : x;
    const uint32_t bits = bits_as<uint32_t>(scaled) - 0x3f3504f3u;
    const int32_t exponent = (static_cast<int32_t>(bits) >> 23) - (small ? 23 : 0);
    const float f = bits_as<float>((bits & 0x007fffffu) + 0x3f3504f3u) - 1.0f;
    const float e = static_cast<float>(exponent);
    float p = -7.6682553922e-2f;
    p = fused(p, f, 1.2773723682e-1f);
    p = fused(p, f, -1.3153894093e-1f);
    p = fused(p, f, 1.4199748164e-1f);
    p = fused(p, f, -1.6623746324e-1f);
    p = fused(p, f, 2.0001322637e-1f);
    p = fused(p, f, -2.5000813161e-1f);
    p = fused(p, f, 3.3333330558e-1f);
    const float square = f * f;
    const float low = fused(p * f, square, fused(e, -0x1.bd0106p-13f, -0.5f * square));
    float value = fused(e, 0x1.63p-1f, low + f);
    const float infinity = __builtin_inff();
    value = x < infinity ? value : x;  // infinity and NaN
    value = x == 0.0f ? -infinity : value;
    return x < 0.0f ? __builtin_nanf("") : value;
}

// The larger and the smaller of two; a NaN on either side gives NaN.
template <class T>
constexpr T maximum(T a, T b) {
    if constexpr (is_floating<T>)
        return a != a ? a : (!(b <= a) ? b : a);
    else
        return a < b ? b : a;
}
template <class T>
constexpr T minimum(T a, T b) {
    if constexpr (is_floating<T>)
        return a != a ? a : (!(b >= a) ? b : a);
    else
        return b < a ? b : a;
}

}  // namespace math

}  // namespace canopy::kernel

#endif
