// SPDX-License-Identifier: Apache-2.0
// Half precision as converted by aclFloat16ToFloat and aclFloatToFloat16: finite numbers only. The largest exponent is
// an ordinary one (an infinity reads as 65536, a quiet NaN as 98304), and values too large to represent become 65504.
// Pure functions.
#pragma once

#include <cstdint>

namespace canopy {

float half_to_float(std::uint16_t half) noexcept;
// Rounds to nearest, ties to even.
std::uint16_t float_to_half(float value) noexcept;

}  // namespace canopy
