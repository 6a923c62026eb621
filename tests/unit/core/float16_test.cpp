// SPDX-License-Identifier: Apache-2.0
// Half precision: every half-precision number, and rounding between them.
#include "core/memory/float16.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace canopy {
namespace {

// The value of the bits, straight from the definition, with the largest exponent treated like any other.
double meaning(std::uint16_t half) {
    const int exponent = (half >> 10) & 31;
    const int mantissa = half & 1023;
    const double magnitude = exponent == 0 ? std::ldexp(mantissa, -24) : std::ldexp(1024 + mantissa, exponent - 25);
    return half & 0x8000 ? -magnitude : magnitude;
}

TEST(Float16, EveryHalfReadsAsItsMeaning) {
    for (std::uint32_t half = 0; half <= 0xFFFF; ++half)
        ASSERT_EQ(half_to_float(static_cast<std::uint16_t>(half)), meaning(static_cast<std::uint16_t>(half))) << half;
    EXPECT_TRUE(std::signbit(half_to_float(0x8000)));
}

TEST(Float16, TheLargestExponentIsAnOrdinaryOne) {
    EXPECT_EQ(half_to_float(0x7C00), 65536.0f);
    EXPECT_EQ(half_to_float(0xFC00), -65536.0f);
    EXPECT_EQ(half_to_float(0x7E00), 98304.0f);
}

TEST(Float16, EveryFiniteHalfComesBack) {
    for (std::uint32_t half = 0; half <= 0xFFFF; ++half) {
        if (((half >> 10) & 31) == 31) continue;
        ASSERT_EQ(float_to_half(half_to_float(static_cast<std::uint16_t>(half))), half);
    }
}

TEST(Float16, BetweenTwoHalvesTheNearestIsTakenAndTiesGoToEven) {
    for (std::uint32_t half = 0; half < 0x7BFF; ++half) {
        const auto lower = static_cast<std::uint16_t>(half), upper = static_cast<std::uint16_t>(half + 1);
        const auto middle = static_cast<float>((meaning(lower) + meaning(upper)) / 2);
        const std::uint16_t even = lower & 1 ? upper : lower;
        ASSERT_EQ(float_to_half(middle), even) << half;
        ASSERT_EQ(float_to_half(std::nextafter(middle, 0.0f)), lower) << half;
        ASSERT_EQ(float_to_half(std::nextafter(middle, 1e9f)), upper) << half;
        ASSERT_EQ(float_to_half(-middle), even | 0x8000) << half;
    }
}

TEST(Float16, WhatIsTooLargeBecomesTheLargestFinite) {
    const float infinity = std::numeric_limits<float>::infinity();
    const float nan = std::numeric_limits<float>::quiet_NaN();
    EXPECT_EQ(float_to_half(65504.0f), 0x7BFF);
    EXPECT_EQ(float_to_half(65520.0f), 0x7BFF);
    EXPECT_EQ(float_to_half(65536.0f), 0x7BFF);
    EXPECT_EQ(float_to_half(infinity), 0x7BFF);
    EXPECT_EQ(float_to_half(-infinity), 0xFBFF);
    EXPECT_EQ(float_to_half(std::copysign(nan, 1.0f)), 0x7BFF);
    EXPECT_EQ(float_to_half(std::copysign(nan, -1.0f)), 0xFBFF);
}

TEST(Float16, WhatIsTooSmallBecomesASignedZero) {
    EXPECT_EQ(float_to_half(1e-9f), 0);
    EXPECT_EQ(float_to_half(-1e-9f), 0x8000);
    EXPECT_EQ(float_to_half(std::numeric_limits<float>::denorm_min()), 0);
}

}  // namespace
}  // namespace canopy
