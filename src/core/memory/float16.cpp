// SPDX-License-Identifier: Apache-2.0
#include "core/memory/float16.h"

#include <bit>
#include <cmath>

namespace canopy {
namespace {

constexpr std::uint32_t float_bias = 127, half_bias = 15;
constexpr int mantissa_difference = 23 - 10;
constexpr std::uint16_t largest_finite = 0x7BFF;

}  // namespace

float half_to_float(std::uint16_t half) noexcept {
    const std::uint32_t sign = (half & 0x8000u) << 16;
    const std::uint32_t exponent = (half >> 10) & 0x1Fu;
    const std::uint32_t mantissa = half & 0x3FFu;
    if (exponent == 0) {  // zero and numbers below 2^-14: exact in single precision
        const float magnitude = std::ldexp(static_cast<float>(mantissa), -24);
        return sign ? -magnitude : magnitude;
    }
    return std::bit_cast<float>(sign | ((exponent + float_bias - half_bias) << 23) | (mantissa << mantissa_difference));
}

std::uint16_t float_to_half(float value) noexcept {
    const std::uint32_t bits = std::bit_cast<std::uint32_t>(value);
    const auto sign = static_cast<std::uint16_t>((bits >> 16) & 0x8000u);
    const std::uint32_t magnitude = bits & 0x7FFFFFFFu;
    constexpr std::uint32_t smallest_normal = (float_bias - half_bias + 1) << 23;  // 2^-14
    constexpr std::uint32_t too_large = (float_bias + half_bias + 1) << 23;        // 65536, infinities, NaNs
    if (magnitude >= too_large) return sign | largest_finite;

    std::uint32_t kept = 0, lost = 0, half_unit = 0;
    if (magnitude >= smallest_normal) {
        const std::uint32_t rebased = magnitude - ((float_bias - half_bias) << 23);
        kept = rebased >> mantissa_difference;
        lost = rebased & ((1u << mantissa_difference) - 1);
        half_unit = 1u << (mantissa_difference - 1);
    } else {
        // The result is in units of 2^-24; the implicit one becomes part of the mantissa.
        const std::uint32_t exponent = magnitude >> 23;
        const std::uint32_t shift = 126 - exponent;
        if (exponent == 0 || shift > 24) return sign;
        const std::uint32_t mantissa = (magnitude & 0x7FFFFFu) | 0x800000u;
        kept = mantissa >> shift;
        lost = mantissa & ((1u << shift) - 1);
        half_unit = 1u << (shift - 1);
    }
    if (lost > half_unit || (lost == half_unit && (kept & 1u) != 0)) ++kept;
    if (kept > largest_finite) kept = largest_finite;
    return static_cast<std::uint16_t>(sign | kept);
}

}  // namespace canopy
