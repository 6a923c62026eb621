// SPDX-License-Identifier: Apache-2.0
// 16-bit floats: IEEE half and bfloat16 to float and back, rounding to nearest even.
#pragma once

#include <bit>
#include <cstdint>

namespace canopy {
// Unlike the functions of the same names in core/memory/float16.h, these handle infinities and NaN.
inline namespace ieee {

// Without branches, so that loops over them vectorise.
inline float half_to_float(std::uint16_t half) noexcept {
    const std::uint32_t sign = static_cast<std::uint32_t>(half & 0x8000u) << 16;
    const std::uint32_t exponent = (half >> 10) & 0x1Fu, magnitude = (half & 0x7FFFu) << 13;
    // zero and denormals: mantissa * 2^-24 is exact in float
    const float small = static_cast<float>(static_cast<std::int32_t>(half & 0x3FFu)) * 5.9604644775390625e-8f;
    const std::uint32_t normal = magnitude + (exponent == 0x1F ? 0x70000000u : 0x38000000u);
    return std::bit_cast<float>(sign | (exponent == 0 ? std::bit_cast<std::uint32_t>(small) : normal));
}

inline std::uint16_t float_to_half(float value) noexcept {
    const auto bits = std::bit_cast<std::uint32_t>(value);
    const std::uint32_t sign = (bits >> 16) & 0x8000u, magnitude = bits & 0x7FFFFFFFu;
    const std::uint32_t normal = (magnitude + 0xFFFu + ((magnitude >> 13) & 1u) - 0x38000000u) >> 13;
    // denormal: adding 0.5 aligns the mantissa so that the addition itself rounds
    const std::uint32_t small = std::bit_cast<std::uint32_t>(std::bit_cast<float>(magnitude) + 0.5f) - 0x3F000000u;
    const std::uint32_t finite = magnitude >= 0x38800000u ? normal : small;
    const std::uint32_t special = magnitude > 0x7F800000u ? 0x7E00u : 0x7C00u;  // NaN, or it rounds to infinity
    return static_cast<std::uint16_t>(sign | (magnitude >= 0x477FF000u ? special : finite));
}

inline float bfloat16_to_float(std::uint16_t value) noexcept {
    return std::bit_cast<float>(static_cast<std::uint32_t>(value) << 16);
}

inline std::uint16_t float_to_bfloat16(float value) noexcept {
    const auto bits = std::bit_cast<std::uint32_t>(value);
    if ((bits & 0x7FFFFFFFu) > 0x7F800000u) return static_cast<std::uint16_t>((bits >> 16) | 0x40u);
    return static_cast<std::uint16_t>((bits + 0x7FFFu + ((bits >> 16) & 1u)) >> 16);
}

}  // namespace ieee
}  // namespace canopy
