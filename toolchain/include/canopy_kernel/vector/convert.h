// SPDX-License-Identifier: Apache-2.0
// Conversion of one number between any two element types, with the rounding and saturation of Cast. Branch-free where
// it matters for the surrounding loops. Used by the vector casts.
#ifndef CANOPY_KERNEL_CONVERT_H
#define CANOPY_KERNEL_CONVERT_H

#include "canopy_kernel/core/float8.h"
#include "canopy_kernel/vector/elementwise.h"

namespace canopy::kernel {

using AscendC::int4b_t;
using AscendC::RoundMode;

template <class T>
struct Limits {
    static constexpr int bits = is_same<T, int4b_t> ? 4 : static_cast<int>(sizeof(T)) * 8;
    static constexpr bool is_signed = is_same<T, int4b_t> || is_signed_integer<T>;
    static constexpr int64_t lowest = is_signed ? -(int64_t{1} << (bits - 2)) * 2 : 0;
    static constexpr int64_t highest =
        is_signed ? ((int64_t{1} << (bits - 2)) - 1) * 2 + 1
                  : static_cast<int64_t>((uint64_t{1} << ((bits < 64 ? bits : 63) - 1)) * 2 - 1);
};

// Numbers are converted through float if it can represent every value of the source type, otherwise through an integer.
template <class S>
inline constexpr bool travels_as_float =
    is_vector_float<S> || is_small_float<S> || is_any_of<S, int8_t, uint8_t, int16_t, uint16_t, int4b_t>;

template <RoundMode mode, bool saturate>
inline bfloat16_t float_to_bfloat16(float x) {
    const auto bits = bits_as<uint32_t>(x);
    const uint32_t magnitude = bits & 0x7fffffffu;
    // What is added to the lost bits carries into the kept ones where the number is rounded away from zero.
    uint32_t carrying = bits + 0x7fffu + (bits >> 16 & 1u);
    if constexpr (mode == RoundMode::CAST_TRUNC) carrying = bits;
    if constexpr (mode == RoundMode::CAST_FLOOR) carrying = bits + (0u - (bits >> 31) & 0xffffu);
    if constexpr (mode == RoundMode::CAST_CEIL) carrying = bits + ((bits >> 31) - 1u & 0xffffu);
    if constexpr (mode == RoundMode::CAST_ROUND || mode == RoundMode::CAST_HYBRID) carrying = bits + 0x8000u;
    if constexpr (mode == RoundMode::CAST_ODD) carrying = bits | ((bits & 0xffffu) != 0 ? 0x10000u : 0u);
    if (saturate) {
        const bool overflows = (carrying & 0x7fffffffu) >= 0x7f800000u && magnitude < 0x7f800000u;
        carrying = overflows ? carrying - 0x10000u : carrying;
    }
    return bits_as<bfloat16_t>(static_cast<uint16_t>((magnitude > 0x7f800000u ? bits | 0x400000u : carrying) >> 16));
}

template <RoundMode mode, bool saturate>
inline half float_to_half(float x) {
    const auto magnitude = bits_as<uint32_t>(x) & 0x7fffffffu;
    float rounded = x;
    if constexpr (mode != RoundMode::CAST_RINT && mode != RoundMode::CAST_NONE) {
        int32_t exponent = static_cast<int32_t>(magnitude >> 23) - 127;
        exponent = exponent < -14 ? -14 : exponent;
        exponent = exponent > 16 ? 16 : exponent;
        const float units = round_whole<mode>(x * math::power_of_two(10 - exponent));
        rounded = __builtin_copysignf(units * math::power_of_two(exponent - 10), x);
    }
    if constexpr (saturate) {
        rounded = rounded > 65504.0f ? 65504.0f : rounded;
        rounded = rounded < -65504.0f ? -65504.0f : rounded;
    }
    return static_cast<half>(magnitude < 0x7f800000u ? rounded : x);
}

#if defined(__F16C__) && defined(__AVX__)
// Whether there is an instruction that rounds to half in this mode.
template <RoundMode mode>
inline constexpr bool rounds_eight_halves =
    mode == RoundMode::CAST_FLOOR || mode == RoundMode::CAST_CEIL || mode == RoundMode::CAST_TRUNC;

// float_to_half of eight numbers.
template <RoundMode mode, bool saturate>
inline void eight_floats_to_halves(half* to, const float* from) {
    using Lanes = lane_vector<float, 8>;
    typedef float Register __attribute__((vector_size(32)));
    constexpr float infinity = __builtin_inff(), limit = saturate ? 65504.0f : 65536.0f;
    constexpr float beyond = saturate ? 65504.0f : infinity;
    constexpr int direction = mode == RoundMode::CAST_FLOOR ? 1 : mode == RoundMode::CAST_CEIL ? 2 : 3;
    const Lanes x = load_lanes<8>(from);
    Lanes kept = x >= limit ? Lanes(beyond) : x;
    kept = x <= -limit ? Lanes(-beyond) : kept;
    if constexpr (saturate) kept = __builtin_elementwise_abs(x) == infinity ? x : kept;
    store_lanes(to, __builtin_ia32_vcvtps2ph256(__builtin_bit_cast(Register, kept), direction));
}
#else
template <RoundMode mode>
inline constexpr bool rounds_eight_halves = false;
template <RoundMode mode, bool saturate>
void eight_floats_to_halves(half* to, const float* from);
#endif

// NaN becomes 0. Without saturation, the result is the lower bits of the whole number.
template <RoundMode mode, bool saturate, class D>
inline auto float_to_integer(float x) {
    using Limit = Limits<D>;
    // A conversion to an integer truncates.
    float whole = mode == RoundMode::CAST_TRUNC ? x : round_whole<mode>(x);
    whole = whole == whole ? whole : 0.0f;
    if constexpr (saturate && Limit::bits <= 16) {
        whole = whole < static_cast<float>(Limit::lowest) ? static_cast<float>(Limit::lowest) : whole;
        whole = whole > static_cast<float>(Limit::highest) ? static_cast<float>(Limit::highest) : whole;
        return static_cast<int32_t>(whole);
    } else if constexpr (saturate && is_same<D, int32_t>) {
        const bool above = whole >= 0x1p31f;
        float clamped = whole < -0x1p31f ? -0x1p31f : whole;
        clamped = clamped > 0x1.fffffep30f ? 0x1.fffffep30f : clamped;  // less than a selection by `above`
        return above ? INT32_MAX : static_cast<int32_t>(clamped);
    } else if constexpr (saturate && is_same<D, uint32_t>) {
        const bool above = whole >= 0x1p32f;
        const float clamped = whole < 0.0f || above ? 0.0f : whole;
        return above ? UINT32_MAX : static_cast<uint32_t>(static_cast<int64_t>(clamped));
    } else {
        const bool above = whole >= 0x1p63f;
        const bool below = whole < -0x1p63f;
        const auto value = static_cast<int64_t>(above || below ? 0.0f : whole);
        if constexpr (saturate && is_unsigned_integer<D>)
            return below || value < 0 ? int64_t{0} : above ? INT64_MAX : value;
        return above ? INT64_MAX : below ? INT64_MIN : value;
    }
}

// Converts an integer (int32_t or int64_t) to float with the given rounding: to nearest first, then a step to the
// neighbour if that is on the wrong side.
template <RoundMode mode, class Integer>
inline float integer_to_float(Integer x) {
    const float near = static_cast<float>(x);
    if constexpr (mode == RoundMode::CAST_RINT || mode == RoundMode::CAST_NONE) return near;
    constexpr float limit = sizeof(Integer) == 4 ? 0x1p31f : 0x1p63f;
    const bool top = near >= limit;  // the only value that does not fit, from just below it
    const auto back = static_cast<Integer>(top ? 0.0f : near);
    const bool above = top || back > x, below = !top && back < x;
    const auto away = bits_as<int32_t>(near) + 1, towards_zero = bits_as<int32_t>(near) - 1;
    const bool larger = x < 0 ? below : above;        // |near| > |x|
    const bool smaller_size = x < 0 ? above : below;  // |near| < |x|
    if constexpr (mode == RoundMode::CAST_FLOOR)
        return bits_as<float>(above ? (x < 0 ? away : towards_zero) : bits_as<int32_t>(near));
    if constexpr (mode == RoundMode::CAST_CEIL)
        return bits_as<float>(below ? (x < 0 ? towards_zero : away) : bits_as<int32_t>(near));
    const auto cut = larger ? towards_zero : bits_as<int32_t>(near);
    if constexpr (mode == RoundMode::CAST_TRUNC) return bits_as<float>(cut);
    if constexpr (mode == RoundMode::CAST_ODD) return bits_as<float>(above || below ? cut | 1 : cut);
    // Ties go away from zero; the nearest even number is the other one if it is the smaller.
    const auto gap = static_cast<Integer>(top ? 0.0f : bits_as<float>(away) - near);
    return smaller_size && x - back == gap - (x - back) ? bits_as<float>(away) : near;
}

template <bool saturate, class D>
inline int64_t integer_to_integer(int64_t x) {
    if constexpr (saturate) {
        x = x < Limits<D>::lowest ? Limits<D>::lowest : x;
        x = x > Limits<D>::highest ? Limits<D>::highest : x;
    }
    return x;
}

// Converts a float to the element type D; types that share a byte are returned as four bits.
template <RoundMode mode, bool saturate, class D>
inline auto from_float(float x) {
    if constexpr (is_same<D, half>)
        return float_to_half<mode, saturate>(x);
    else if constexpr (is_same<D, bfloat16_t>)
        return float_to_bfloat16<mode, saturate>(x);
    else if constexpr (is_same<D, float>)
        return x;
    else if constexpr (packing<D> == 2 && is_small_float<D>)
        return static_cast<uint32_t>(D::Format::template encode<mode>(x, saturate));
    else if constexpr (is_small_float<D>)
        return D::from_bits(D::Format::template encode<mode>(x, saturate));
    else if constexpr (is_same<D, int4b_t>)
        return static_cast<uint32_t>(float_to_integer<mode, saturate, D>(x)) & 15u;
    else
        return static_cast<D>(float_to_integer<mode, saturate, D>(x));
}

template <RoundMode mode, bool saturate, class D>
inline auto from_integer(int64_t x) {
    if constexpr (is_same<D, float>)
        return integer_to_float<mode>(x);
    else if constexpr (is_vector_float<D> || is_small_float<D>)
        return from_float<mode, saturate, D>(integer_to_float<mode>(x));
    else if constexpr (is_same<D, int4b_t>)
        return static_cast<uint32_t>(integer_to_integer<saturate, D>(x)) & 15u;
    else
        return static_cast<D>(integer_to_integer<saturate, D>(x));
}

// The exact value of an element of type S. Types that share a byte are passed as four bits.
template <class S, class Stored>
inline auto exact_value(Stored value, [[maybe_unused]] uint32_t zero) {
    if constexpr (is_vector_float<S>)
        return widen(value, zero);
    else if constexpr (is_same<S, int4b_t>)
        return static_cast<float>(static_cast<int32_t>(value << 28) >> 28);
    else if constexpr (is_small_float<S> && packing<S> == 2)
        return decode_table<S>.value[value];
    else if constexpr (is_small_float<S>)
        return decode_table<S>.value[value.storage];
    else if constexpr (travels_as_float<S>)
        return static_cast<float>(value);
    else
        return static_cast<int64_t>(value);
}

// Float to float rounds to a whole number; integers to float are exact up to 24 bits.
template <RoundMode mode, bool saturate, class D, class S, class Stored>
inline auto convert(Stored value, uint32_t zero) {
    if constexpr (is_same<S, float> && is_same<D, float>)
        return round_whole<mode>(value);
    else if constexpr (is_same<S, int32_t> && is_same<D, float>)
        return integer_to_float<mode>(value);
    else if constexpr (is_same<D, half> && is_any_of<S, int8_t, uint8_t, int16_t>)
        return from_float<mode, false, D>(exact_value<S>(value, zero));  // all of them are in range
    else if constexpr (travels_as_float<S>)
        return from_float<mode, saturate, D>(exact_value<S>(value, zero));
    else
        return from_integer<mode, saturate, D>(exact_value<S>(value, zero));
}

// Whether converting S to D can lose precision, so that the rounding mode matters.
template <class D, class S>
constexpr bool rounding_matters() {
    if constexpr (is_same<S, float> && is_same<D, float>) return true;
    if constexpr (is_same<D, float>) return !travels_as_float<S>;
    constexpr bool from_whole = is_integer<S> || is_same<S, int4b_t>;
    if constexpr (is_integer<D> || is_same<D, int4b_t>) return !from_whole;
    if constexpr (is_same<D, half>)
        return !(is_any_of<S, int8_t, uint8_t, int4b_t, fp8_e4m3fn_t, fp8_e5m2_t, hifloat8_t> || packing<S> == 2);
    if constexpr (is_same<D, bfloat16_t>) return !(is_any_of<S, int8_t, uint8_t, int4b_t> || is_small_float<S>);
    return true;
}

}  // namespace canopy::kernel

#endif
