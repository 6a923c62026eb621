// SPDX-License-Identifier: Apache-2.0
// Number formats of eight and four bits: their storage, and conversion to and from float. Conversion to float is exact.
// Conversion from float rounds with the given mode; values beyond the largest number saturate or become the format's
// substitute (infinity, else NaN, else the largest number).
#ifndef CANOPY_KERNEL_FLOAT8_H
#define CANOPY_KERNEL_FLOAT8_H

#include "canopy_kernel/core/math.h"

namespace canopy::kernel {

// Rounds x to a whole number. Ties: CAST_NONE and CAST_RINT to even, CAST_ROUND and CAST_HYBRID away from zero.
template <AscendC::RoundMode mode>
inline float round_whole(float x) {
    using AscendC::RoundMode;
    if constexpr (mode == RoundMode::CAST_FLOOR) return math::floor(x);
    if constexpr (mode == RoundMode::CAST_CEIL) return math::ceil(x);
    if constexpr (mode == RoundMode::CAST_TRUNC) return math::truncate(x);
    if constexpr (mode == RoundMode::CAST_ROUND || mode == RoundMode::CAST_HYBRID) return math::nearest_away(x);
    if constexpr (mode == RoundMode::CAST_ODD) {
        const float whole = math::truncate(x);
        const float half_way = whole * 0.5f;
        const bool even = math::truncate(half_way) == half_way;
        return whole != x && even ? whole + __builtin_copysignf(1.0f, x) : whole;
    }
    return math::nearest_even(x);
}

enum class Beyond : uint8_t { infinity, not_a_number, largest };

// A format with a sign, `exponent_bits` and `mantissa_bits`. Exponents are biased by `bias`; the lowest one holds
// denormals. `top` is the code of the largest finite number.
template <int exponent_bits, int mantissa_bits, int bias, int top, Beyond beyond>
struct SmallFormat {
    static constexpr uint32_t sign_bit = 1u << (exponent_bits + mantissa_bits);
    static constexpr uint32_t mantissa_mask = (1u << mantissa_bits) - 1;
    static constexpr float smallest = 1.0f / static_cast<float>(1u << (bias - 1 + mantissa_bits));

    static constexpr float decode(uint32_t code) {
        const uint32_t magnitude = code & (sign_bit - 1);
        const uint32_t exponent = magnitude >> mantissa_bits;
        const uint32_t fraction = magnitude & mantissa_mask;
        const auto normal = bits_as<float>(((exponent + 127 - bias) << 23) | (fraction << (23 - mantissa_bits)));
        float value = exponent == 0 ? static_cast<float>(static_cast<int32_t>(fraction)) * smallest : normal;
        if constexpr (beyond == Beyond::infinity) {
            value = magnitude == top + 1 ? __builtin_inff() : value;
            value = magnitude > top + 1 ? __builtin_nanf("") : value;
        }
        if constexpr (beyond == Beyond::not_a_number) value = magnitude > top ? __builtin_nanf("") : value;
        return (code & sign_bit) != 0 ? -value : value;
    }

    template <AscendC::RoundMode mode>
    static uint8_t encode(float x, bool saturate) {
        constexpr int lowest = 1 - bias;
        constexpr int highest = (top >> mantissa_bits) - bias;
        const auto bits = bits_as<uint32_t>(x);
        int32_t exponent = static_cast<int32_t>((bits >> 23) & 255u) - 127;
        exponent = exponent < lowest ? lowest : exponent;
        exponent = exponent > highest + 1 ? highest + 1 : exponent;
        // In units of the last place at this exponent.
        const float units = round_whole<mode>(x * math::power_of_two(mantissa_bits - exponent));
        const float size = math::absolute(units);
        const bool countable = size < static_cast<float>(4u << mantissa_bits);
        const auto steps = static_cast<uint32_t>(countable ? static_cast<int32_t>(size) : 4 << mantissa_bits);
        uint32_t code = static_cast<uint32_t>(exponent - lowest) * (1u << mantissa_bits) + steps;
        const bool infinite = (bits & 0x7fffffffu) == 0x7f800000u;
        const bool keep = beyond == Beyond::infinity && infinite;
        const uint32_t overflow = !keep && (saturate || beyond == Beyond::largest) ? top : beyond_code();
        code = code > top ? overflow : code;
        const bool invalid = (bits & 0x7fffffffu) > 0x7f800000u;
        code = invalid ? invalid_code() : code;
        return static_cast<uint8_t>(code |
                                    ((bits >> 31) != 0 && !(invalid && beyond == Beyond::largest) ? sign_bit : 0u));
    }

    // Codes for values beyond the range (infinity, or all exponent and mantissa bits set) and for NaN (zero if the
    // format has none).
    static constexpr uint32_t beyond_code() { return beyond == Beyond::infinity ? top + 1 : sign_bit - 1; }
    static constexpr uint32_t invalid_code() { return beyond == Beyond::largest ? 0 : sign_bit - 1; }
};

// Powers of two from 2^-127 to 2^127; the last code is NaN. There is no sign and no zero: smaller values become the
// smallest one, negative values become NaN.
struct PowerFormat {
    static constexpr float decode(uint32_t code) {
        if (code == 255) return __builtin_nanf("");
        return code == 0 ? 0x1p-127f : bits_as<float>(code << 23);
    }
    template <AscendC::RoundMode mode>
    static uint8_t encode(float x, bool saturate) {
        using AscendC::RoundMode;
        const auto bits = bits_as<uint32_t>(x);
        if ((bits & 0x7fffffffu) > 0x7f800000u || (bits >> 31 != 0 && (bits & 0x7fffffffu) != 0)) return 255;
        const uint32_t magnitude = bits & 0x7fffffffu;
        uint32_t code = magnitude >> 23;
        uint32_t fraction = magnitude & 0x7fffffu;
        if (code == 0) {  // 2^-127 is the denormal with fraction 0x400000
            if (fraction <= 0x400000u) return 0;
            fraction = (fraction - 0x400000u) << 1;
        }
        bool up = fraction > 0x400000u || (fraction == 0x400000u && (code & 1) != 0);
        if (mode == RoundMode::CAST_ROUND || mode == RoundMode::CAST_HYBRID) up = fraction >= 0x400000u;
        if (mode == RoundMode::CAST_CEIL) up = fraction != 0;
        if (mode == RoundMode::CAST_FLOOR || mode == RoundMode::CAST_TRUNC) up = false;
        if (mode == RoundMode::CAST_ODD) up = fraction != 0 && (code & 1) == 0;
        code += up ? 1 : 0;
        return static_cast<uint8_t>(code < 255 ? code : saturate ? 254 : 255);
    }
};

// hifloat8_t: a sign; a prefix that gives the number of exponent bits (11: 4, 10: 3, 01: 2, 001: 1, 0001: 0); the
// exponent as sign and magnitude without its leading one; the mantissa in the remaining bits. The prefix 0000 is
// followed by the powers from 2^-22 to 2^-16. 0x80 is NaN; 0x6f and 0xef are the infinities.
struct HybridFormat {
    static constexpr float power(int exponent) { return bits_as<float>(static_cast<uint32_t>(exponent + 127) << 23); }

    static constexpr float decode(uint32_t code) {
        const uint32_t b = code & 0x7fu;
        const bool negative = (code & 0x80u) != 0;
        if (b == 0) return negative ? __builtin_nanf("") : 0.0f;
        float value = 0.0f;
        if (b == 0x6f) {
            value = __builtin_inff();
        } else if (b < 8) {
            value = power(static_cast<int>(b) - 23);
        } else {
            const int width = b >= 0x60 ? 4 : b >= 0x40 ? 3 : b >= 0x20 ? 2 : b >= 0x10 ? 1 : 0;
            const int fraction_bits = width == 4 ? 1 : width == 3 ? 2 : 3;
            const uint32_t field = (b >> fraction_bits) & ((1u << width) - 1);
            int exponent = 0;
            if (width > 0) {
                const uint32_t low = field & ((1u << (width - 1)) - 1);
                exponent = static_cast<int>((1u << (width - 1)) | low);
                if ((field >> (width - 1)) != 0) exponent = -exponent;
            }
            const uint32_t fraction = b & ((1u << fraction_bits) - 1);
            value = power(exponent) * (1.0f + static_cast<float>(fraction) / static_cast<float>(1u << fraction_bits));
        }
        return negative ? -value : value;
    }

    static constexpr int fraction_bits(int exponent) {
        const int size = exponent < 0 ? -exponent : exponent;
        return size < 4 ? 3 : size < 8 ? 2 : size < 16 ? 1 : 0;
    }

    // The code of a number that the format can represent, 2^-22 to 2^15.
    static uint32_t pack(float value) {
        const auto bits = bits_as<uint32_t>(value);
        const int exponent = static_cast<int>(bits >> 23) - 127;
        if (exponent <= -16) return static_cast<uint32_t>(exponent + 23);
        const auto size = static_cast<uint32_t>(exponent < 0 ? -exponent : exponent);
        const int width = size == 0 ? 0 : 32 - __builtin_clz(size);
        constexpr uint32_t prefix[] = {0x08, 0x10, 0x20, 0x40, 0x60};
        const int kept = fraction_bits(exponent);
        const uint32_t fraction = (bits & 0x7fffffu) >> (23 - kept);
        if (width == 0) return prefix[0] | fraction;
        const uint32_t low = size & ((1u << (width - 1)) - 1);
        const uint32_t field = (exponent < 0 ? 1u << (width - 1) : 0u) | low;
        return prefix[width] | (field << kept) | fraction;
    }

    template <AscendC::RoundMode mode>
    static uint8_t encode(float x, bool saturate) {
        const auto bits = bits_as<uint32_t>(x);
        if ((bits & 0x7fffffffu) > 0x7f800000u) return 0x80;
        const uint32_t sign = bits >> 31 << 7;
        if ((bits & 0x7fffffffu) == 0x7f800000u) return static_cast<uint8_t>(sign | 0x6f);
        int exponent = static_cast<int>((bits >> 23) & 255u) - 127;
        exponent = exponent < -22 ? -22 : exponent > 16 ? 16 : exponent;
        const int shift = fraction_bits(exponent) - exponent;
        const float value = math::absolute(round_whole<mode>(x * power(shift)) * power(-shift));
        if (value == 0.0f) return 0;
        if (value > 0x1p15f) return static_cast<uint8_t>(sign | (saturate ? 0x6e : 0x6f));
        return static_cast<uint8_t>(sign | pack(value));
    }
};

}  // namespace canopy::kernel

// A type with one number per byte.
#define CANOPY_FLOAT8(Name, ...)                                                                            \
    struct Name {                                                                                           \
        using Format = __VA_ARGS__;                                                                         \
        uint8_t storage = 0;                                                                                \
        Name() = default;                                                                                   \
        explicit Name(float value) : storage(Format::encode<AscendC::RoundMode::CAST_RINT>(value, true)) {} \
        explicit constexpr operator float() const { return Format::decode(storage); }                       \
        static constexpr Name from_bits(uint8_t bits) {                                                     \
            Name value;                                                                                     \
            value.storage = bits;                                                                           \
            return value;                                                                                   \
        }                                                                                                   \
    };

CANOPY_FLOAT8(fp8_e4m3fn_t, canopy::kernel::SmallFormat<4, 3, 7, 0x7e, canopy::kernel::Beyond::not_a_number>)
CANOPY_FLOAT8(fp8_e5m2_t, canopy::kernel::SmallFormat<5, 2, 15, 0x7b, canopy::kernel::Beyond::infinity>)
CANOPY_FLOAT8(fp8_e8m0_t, canopy::kernel::PowerFormat)
CANOPY_FLOAT8(hifloat8_t, canopy::kernel::HybridFormat)

#undef CANOPY_FLOAT8

// Two numbers per byte, the lower four bits first. Tensors count numbers, not bytes.
struct fp4x2_e2m1_t {
    using Format = canopy::kernel::SmallFormat<2, 1, 1, 7, canopy::kernel::Beyond::largest>;
    uint8_t storage = 0;
};
struct fp4x2_e1m2_t {
    using Format = canopy::kernel::SmallFormat<1, 2, 1, 7, canopy::kernel::Beyond::largest>;
    uint8_t storage = 0;
};

using float8_e4m3_t = fp8_e4m3fn_t;
using float8_e5m2_t = fp8_e5m2_t;
using float8_e8m0_t = fp8_e8m0_t;
using float4_e2m1x2_t = fp4x2_e2m1_t;
using float4_e1m2x2_t = fp4x2_e1m2_t;

namespace AscendC {

using ::float4_e1m2x2_t;
using ::float4_e2m1x2_t;
using ::float8_e4m3_t;
using ::float8_e5m2_t;
using ::float8_e8m0_t;
using ::fp4x2_e1m2_t;
using ::fp4x2_e2m1_t;
using ::fp8_e4m3fn_t;
using ::fp8_e5m2_t;
using ::fp8_e8m0_t;
using ::hifloat8_t;

}  // namespace AscendC

namespace canopy::kernel {

template <>
inline constexpr uint32_t packing<fp4x2_e2m1_t> = 2;
template <>
inline constexpr uint32_t packing<fp4x2_e1m2_t> = 2;

template <class T>
inline constexpr bool is_small_float =
    is_any_of<T, fp8_e4m3fn_t, fp8_e5m2_t, fp8_e8m0_t, hifloat8_t, fp4x2_e2m1_t, fp4x2_e1m2_t>;

// All values of a format, for loops that look them up.
template <class T>
struct DecodeTable {
    static constexpr uint32_t size = packing<T> == 2 ? 16 : 256;
    float value[size] = {};
    constexpr DecodeTable() {
        for (uint32_t code = 0; code < size; ++code) value[code] = T::Format::decode(code);
    }
};
template <class T>
inline constexpr DecodeTable<T> decode_table{};

}  // namespace canopy::kernel

#endif
