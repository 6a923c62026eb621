// SPDX-License-Identifier: Apache-2.0
// More elementary functions of float numbers, in the style of math.h: without branches, and the same on every
// processor. They compute in double, so a result is within 0.51 units in the last place; what costs much in float
// (range reduction, cancellation) needs no extra steps.
#ifndef CANOPY_KERNEL_FUNCTIONS_H
#define CANOPY_KERNEL_FUNCTIONS_H

#include "canopy_kernel/core/math.h"

// A call that is not inlined keeps a loop from becoming vector code.
#define CANOPY_IN_LOOP __attribute__((always_inline)) inline

namespace canopy::kernel::math {

inline constexpr double pi = 0x1.921fb54442d18p+1;
inline constexpr double log2_of_e = 0x1.71547652b82fep+0, log10_of_e = 0x1.bcb7b1526e50ep-2;
inline constexpr double log_of_2 = 0x1.62e42fefa39efp-1;
// Added to a number below 2^51, this leaves its nearest integer in the low bits.
inline constexpr double integer_shift = 0x1.8p52;

CANOPY_IN_LOOP double absolute(double x) { return bits_as<double>(bits_as<uint64_t>(x) & 0x7fffffffffffffffu); }
CANOPY_IN_LOOP double copy_sign(double magnitude, double sign) {
    constexpr uint64_t mask = 0x8000000000000000u;
    return bits_as<double>((bits_as<uint64_t>(magnitude) & ~mask) | (bits_as<uint64_t>(sign) & mask));
}
// A NaN stays NaN.
CANOPY_IN_LOOP double limit(double x, double low, double high) {
    x = x < low ? low : x;
    return x > high ? high : x;
}

// The polynomial with these coefficients, the constant first.
CANOPY_IN_LOOP double polynomial(double, double last) { return last; }
template <class... Rest>
CANOPY_IN_LOOP double polynomial(double x, double first, Rest... rest) {
    return polynomial(x, rest...) * x + first;
}

// 2^n, n in the low bits of a number shifted by integer_shift.
CANOPY_IN_LOOP double power_of_two(double shifted) {
    return bits_as<double>((bits_as<uint64_t>(shifted) << 52) + 0x3ff0000000000000u);
}

// e^r for |r| <= ln(2) / 2, within 1e-12.
CANOPY_IN_LOOP double exp_near_zero(double r) {
    return polynomial(r, 1.0, 0.9999999999797852, 0.49999999999797934, 0.16666666891045775, 0.041666666890957,
                      0.008333266097949614, 0.0013888821677630362, 0.00019915866926782682, 2.4876164022625967e-05);
}
CANOPY_IN_LOOP double exp_wide(double x) {
    x = limit(x, -700.0, 700.0);
    const double shifted = x * log2_of_e + integer_shift;
    const double whole = shifted - integer_shift;
    const double r = (x - whole * 0x1.62e42feep-1) - whole * 0x1.a39ef35793c76p-33;
    return exp_near_zero(r) * power_of_two(shifted);
}
CANOPY_IN_LOOP double exp2_wide(double x) {
    x = limit(x, -1000.0, 1000.0);
    const double shifted = x + integer_shift;
    return exp_near_zero((x - (shifted - integer_shift)) * log_of_2) * power_of_two(shifted);
}

// e^x for an x that is known beyond float: the difference to a multiple of ln 2 is taken in double, the polynomial is
// that of exp(float).
CANOPY_IN_LOOP float exp_of_wide(double x) {
    x = limit(x, -104.0, 89.0);
    const double shifted = x * log2_of_e + (integer_shift + two_biases);
    const auto r = static_cast<float>(x - (shifted - (integer_shift + two_biases)) * log_of_2);
    const float value = fused(exp_tail(r), r * r, r) + 1.0f;
    return scaled_by_power_of_two(value, static_cast<uint32_t>(bits_as<uint64_t>(shifted)));
}

// 2^(y + rest) for a y between -125.5 and 128.5 and a rest below its last bit. Infinity beyond the range of float; for
// sums, where the last bits of small results do not count.
CANOPY_IN_LOOP float exp2_of_sum(float y, float rest) {
    constexpr float shift = 0x1.8p23f + 126;
    const float shifted = y + shift;
    const float r = (y - (shifted - shift)) + rest;
    // Twice 2^r, which leaves an exponent of at most 127 for the other factor.
    float p = 3.0706721009e-4f;
    p = fused(p, r, 2.6797750033e-3f);
    p = fused(p, r, 1.9236873835e-2f);
    p = fused(p, r, 1.1100664735e-1f);
    p = fused(p, r, 4.8045295477e-1f);
    p = fused(p, r, 1.3862943649e0f);
    p = fused(p, r, 2.0f);
    return p * bits_as<float>(bits_as<uint32_t>(shifted) << 23);
}

// x = 2^exponent m, m between sqrt(1/2) and sqrt(2), for positive x; and ln m.
struct Logarithm {
    double exponent, rest;
};
CANOPY_IN_LOOP Logarithm split_logarithm(double x) {
    constexpr uint64_t root_half = 0x3fe6a09e667f3bcdu;
    const uint64_t bits = bits_as<uint64_t>(x) - root_half + (uint64_t{1024} << 52);
    // The exponent as a double, without a conversion from 64-bit integers.
    const double exponent = bits_as<double>((bits >> 52) | 0x4330000000000000u) - (0x1p52 + 1024.0);
    const double m = bits_as<double>((bits & 0xfffffffffffffu) + root_half);
    const double s = (m - 1.0) / (m + 1.0);
    const double z = s * s;
    const double p =
        polynomial(z, 2.0 / 3, 2.0 / 5, 2.0 / 7, 2.0 / 9, 2.0 / 11, 2.0 / 13, 2.0 / 15, 2.0 / 17, 2.0 / 19, 2.0 / 21);
    return {exponent, 2.0 * s + s * (z * p)};
}
// The values of a logarithm at zero, below it, at infinity and NaN.
CANOPY_IN_LOOP double with_limits_of_logarithm(double x, double value) {
    const double infinity = __builtin_inf();
    value = x < infinity ? value : x;
    value = x == 0.0 ? -infinity : value;
    return x < 0.0 ? __builtin_nan("") : value;
}
CANOPY_IN_LOOP double log_wide(double x) {
    const Logarithm split = split_logarithm(x);
    return with_limits_of_logarithm(
        x, split.exponent * 0x1.62e42feep-1 + (split.rest + split.exponent * 0x1.a39ef35793c76p-33));
}
CANOPY_IN_LOOP double log2_wide(double x) {
    const Logarithm split = split_logarithm(x);
    return with_limits_of_logarithm(x, split.exponent + split.rest * log2_of_e);
}
CANOPY_IN_LOOP float log2(float x) { return static_cast<float>(log2_wide(static_cast<double>(x))); }
CANOPY_IN_LOOP float log10(float x) { return static_cast<float>(log_wide(static_cast<double>(x)) * log10_of_e); }

// x = quadrant pi/2 + rest, |rest| <= pi/4; only the low two bits of the quadrant count.
struct Angle {
    double rest;
    uint64_t quadrant;
};
// For |x| below 2^20; pi/2 in three parts, of which the products with the first two are exact.
CANOPY_IN_LOOP Angle reduce_angle(double x) {
    const double shifted = x * 0x1.45f306dc9c883p-1 + integer_shift;
    const double whole = shifted - integer_shift;
    const double rest = ((x - whole * 0x1.921fb544p+0) - whole * 0x1.0b4611a6p-34) - whole * 0x1.3198a2e037073p-69;
    return {rest, bits_as<uint64_t>(shifted)};
}

// For every float. A large x is an integer m of 24 bits times 2^e; of 2/pi only the 96 bits matter that begin at the
// weight of 2 in the product.
CANOPY_IN_LOOP Angle reduce_any_angle(float x) {
    static constexpr uint32_t two_over_pi[8] = {0,           0xa2f9836eu, 0x4e441529u, 0xfc2757d1u,
                                                0xf534ddc0u, 0xdb629599u, 0x3c439041u, 0xfe5163abu};
    const uint32_t bits = bits_as<uint32_t>(x);
    const uint32_t exponent = (bits >> 23) & 255u;
    const uint32_t used = exponent < 146u ? 146u : (exponent > 254u ? 254u : exponent);
    const uint64_t m = (bits & 0x7fffffu) | 0x800000u;
    const uint32_t start = used - 150u + 30u;  // the position of the first of the bits
    const uint32_t word = start >> 5, shift = start & 31u;
    const auto window = [&](uint32_t index) {
        const uint64_t pair = (static_cast<uint64_t>(two_over_pi[index]) << 32) | two_over_pi[index + 1];
        return ((pair << shift) >> 32) & 0xffffffffu;
    };
    const uint64_t product = ((m * window(word)) << 32) + m * window(word + 1) + ((m * window(word + 2)) >> 32);
    const uint64_t quadrant = (product + (uint64_t{1} << 61)) >> 62;
    const auto rest = static_cast<int64_t>(product - (quadrant << 62));
    const Angle near = reduce_angle(static_cast<double>(x));
    const bool large = exponent >= 146u;  // 2^19
    const bool negative = (bits >> 31) != 0;
    double far = static_cast<double>(rest) * 0x1.921fb54442d18p-62;
    far = negative ? -far : far;
    far = exponent == 255u ? __builtin_nan("") : far;
    return {large ? far : near.rest, large ? (negative ? uint64_t{0} - quadrant : quadrant) : near.quadrant};
}

CANOPY_IN_LOOP double sine_near_zero(double r) {
    return r *
           polynomial(r * r, 1.0, -1.0 / 6, 1.0 / 120, -1.0 / 5040, 1.0 / 362880, -1.0 / 39916800, 1.0 / 6227020800);
}
CANOPY_IN_LOOP double cosine_near_zero(double r) {
    return polynomial(r * r, 1.0, -1.0 / 2, 1.0 / 24, -1.0 / 720, 1.0 / 40320, -1.0 / 3628800, 1.0 / 479001600,
                      -1.0 / 87178291200);
}
// The sine of an angle, or its cosine if 1 is added to the quadrant.
CANOPY_IN_LOOP float sine_of(const Angle& angle, uint64_t added) {
    const uint64_t quadrant = angle.quadrant + added;
    const double value = (quadrant & 1) != 0 ? cosine_near_zero(angle.rest) : sine_near_zero(angle.rest);
    return static_cast<float>(bits_as<double>(bits_as<uint64_t>(value) ^ ((quadrant & 2) << 62)));
}
CANOPY_IN_LOOP float sin(float x) { return sine_of(reduce_angle(static_cast<double>(x)), 0); }
CANOPY_IN_LOOP float cos(float x) { return sine_of(reduce_angle(static_cast<double>(x)), 1); }
CANOPY_IN_LOOP float tan(float x) {
    const Angle angle = reduce_angle(static_cast<double>(x));
    const double sine = sine_near_zero(angle.rest), cosine = cosine_near_zero(angle.rest);
    const bool odd = (angle.quadrant & 1) != 0;
    return static_cast<float>((odd ? -cosine : sine) / (odd ? sine : cosine));
}

// atan x / x - 1 over x^2 is a polynomial in x^2 up to tan(pi/8); larger numbers are brought there.
CANOPY_IN_LOOP float atan(float x) {
    const double a = absolute(static_cast<double>(x));
    const bool beyond_first = a > 0x1.a827999fcef32p-2, beyond_one = a > 1.0, beyond_last = a > 0x1.3504f333f9de6p+1;
    const double above = beyond_last ? 1.0 : (beyond_one ? 1.0 - a : (beyond_first ? a - 1.0 : a));
    const double below = beyond_last ? a : (beyond_first ? a + 1.0 : 1.0);
    const double u = above / below;
    const double z = u * u;
    const double p = polynomial(z, -0.3333333333333093, 0.19999999997724888, -0.14285713930378566, 0.11111089649211053,
                                -0.09090255952690622, 0.07681045202742574, -0.06550907307560755, 0.051688349359116,
                                -0.027232884060468664);
    double value = u + u * (z * p);
    value = beyond_first && !beyond_last ? pi / 4 + value : value;
    value = beyond_one ? pi / 2 - value : value;
    return static_cast<float>(copy_sign(value, static_cast<double>(x)));
}

// asin x for 0 <= x <= 1/2.
CANOPY_IN_LOOP double asin_of_small(double x) {
    const double z = x * x;
    const double p = polynomial(z, 0.1666666666666218, 0.07500000003584559, 0.04464285243793872, 0.030382182776212505,
                                0.022366065938884676, 0.01744149568549626, 0.013187916136732687, 0.015675662527148217,
                                -0.0029397929068793382, 0.027907031432797182);
    return x + x * (z * p);
}
CANOPY_IN_LOOP float asin(float x) {
    const double a = absolute(static_cast<double>(x));
    const bool large = a > 0.5;
    const double part = asin_of_small(large ? square_root((1.0 - a) * 0.5) : a);
    return static_cast<float>(copy_sign(large ? pi / 2 - 2.0 * part : part, static_cast<double>(x)));
}
CANOPY_IN_LOOP float acos(float x) {
    const double a = absolute(static_cast<double>(x));
    const bool large = a > 0.5;
    const double part = asin_of_small(large ? square_root((1.0 - a) * 0.5) : a);
    const double beside = x < 0.0f ? pi - 2.0 * part : 2.0 * part;
    return static_cast<float>(large ? beside : pi / 2 - copy_sign(part, static_cast<double>(x)));
}

// Near zero the formulas with exponentials and logarithms cancel; there a few terms of the series are enough.
inline constexpr double near_zero = 0x1p-5;

CANOPY_IN_LOOP float sinh(float x) {
    const double wide = limit(static_cast<double>(x), -100.0, 100.0);
    const double grown = exp_wide(wide);
    const double z = wide * wide;
    const double series = wide * polynomial(z, 1.0, 1.0 / 6, 1.0 / 120, 1.0 / 5040);
    const double value = absolute(wide) < near_zero ? series : 0.5 * (grown - 1.0 / grown);
    return static_cast<float>(value);
}
CANOPY_IN_LOOP float cosh(float x) {
    const double grown = exp_wide(limit(static_cast<double>(x), -100.0, 100.0));
    return static_cast<float>(0.5 * (grown + 1.0 / grown));
}
CANOPY_IN_LOOP float tanh(float x) {
    const double wide = limit(static_cast<double>(x), -20.0, 20.0);
    const double grown = exp_wide(2.0 * wide);
    const double z = wide * wide;
    const double series = wide * polynomial(z, 1.0, -1.0 / 3, 2.0 / 15, -17.0 / 315);
    const double value = absolute(wide) < near_zero ? series : 1.0 - 2.0 / (grown + 1.0);
    return static_cast<float>(value);
}
CANOPY_IN_LOOP float asinh(float x) {
    const double wide = static_cast<double>(x);
    const double a = absolute(wide);
    const double z = wide * wide;
    const double series = a + a * (z * polynomial(z, -1.0 / 6, 3.0 / 40, -15.0 / 336));
    const double value = a < near_zero ? series : log_wide(a + square_root(z + 1.0));
    return static_cast<float>(copy_sign(value, wide));
}
CANOPY_IN_LOOP float acosh(float x) {
    const double wide = static_cast<double>(x);
    const double value = log_wide(wide + square_root((wide - 1.0) * (wide + 1.0)));
    return static_cast<float>(wide < 1.0 ? __builtin_nan("") : value);
}
CANOPY_IN_LOOP float atanh(float x) {
    const double wide = static_cast<double>(x);
    const double a = absolute(wide);
    const double z = wide * wide;
    const double series = a + a * (z * polynomial(z, 1.0 / 3, 1.0 / 5, 1.0 / 7));
    const double value = a < near_zero ? series : 0.5 * log_wide((1.0 + a) / (1.0 - a));
    return static_cast<float>(copy_sign(value, wide));
}

// x^y with the rules of C for zeros, infinities, NaN and negative x.
CANOPY_IN_LOOP float power(float x, float y) {
    const double infinity = __builtin_inf();
    const double a = absolute(static_cast<double>(x)), wide = static_cast<double>(y);
    double value = exp2_wide(wide * log2_wide(a));
    const bool whole = truncate(y) == y;
    const bool odd = whole && truncate(y * 0.5f) * 2.0f != y;
    value = x < 0.0f && a < infinity && !whole ? __builtin_nan("") : value;
    value = (bits_as<uint32_t>(x) >> 31) != 0 && odd ? -value : value;
    value = a == 1.0 && absolute(wide) == infinity ? 1.0 : value;
    value = y == 0.0f || x == 1.0f ? 1.0 : value;
    return static_cast<float>(value);
}
// x^y modulo a power of two; a negative y gives 0 unless x is 1 or -1.
template <class T>
CANOPY_IN_LOOP T integer_power(T x, T y) {
    using Unsigned = choose<sizeof(T) == 8, uint64_t, uint32_t>;
    constexpr uint32_t bits = 8 * sizeof(T);
    constexpr bool is_signed = static_cast<T>(-1) < static_cast<T>(0);
    Unsigned base = static_cast<Unsigned>(x), result = 1;
    const auto exponent = static_cast<Unsigned>(y);
#pragma clang loop unroll(full)
    for (uint32_t bit = 0; bit < bits - (is_signed ? 1 : 0); ++bit) {
        result = (exponent >> bit & 1) != 0 ? result * base : result;
        base *= base;
    }
    auto value = static_cast<T>(result);
    if constexpr (is_signed) {
        const T inverse = x == T(1) ? T(1) : (x == T(-1) ? ((y & 1) != 0 ? T(-1) : T(1)) : T(0));
        value = y < T(0) ? inverse : value;
    }
    return value;
}

// The remainder of a / b towards zero, exact if a / b has at most 26 bits per step.
template <uint32_t steps>
CANOPY_IN_LOOP float exact_remainder(float a, float b) {
    const double divisor = absolute(static_cast<double>(b));
    double rest = absolute(static_cast<double>(a));
#pragma clang loop unroll(full)
    for (uint32_t step = 0; step < steps; ++step) {
        // A quotient of 26 bits times a divisor of 24 bits is exact, and so is the difference.
        const double quotient = bits_as<double>(bits_as<uint64_t>(rest / divisor) & ~uint64_t{0x7ffffff});
        rest -= __builtin_elementwise_trunc(quotient) * divisor;
    }
    rest = rest < 0.0 ? rest + divisor : rest;
    rest = divisor == __builtin_inf() ? static_cast<double>(absolute(a)) : rest;
    rest = absolute(a) < __builtin_inff() ? rest : __builtin_nan("");
    rest = b == b ? rest : __builtin_nan("");
    return static_cast<float>(copy_sign(rest, static_cast<double>(a)));
}

// sqrt(a^2 + b^2); infinity beats NaN.
CANOPY_IN_LOOP float hypotenuse(float a, float b) {
    const double x = static_cast<double>(a), y = static_cast<double>(b);
    const double value = square_root(x * x + y * y);
    const bool infinite = absolute(a) == __builtin_inff() || absolute(b) == __builtin_inff();
    return infinite ? __builtin_inff() : static_cast<float>(value);
}

// `value` + `error`, an error below the last bit, rounded towards zero with the last bit set if that is not exact. A
// further rounding to at least two bits less is then right.
CANOPY_IN_LOOP double round_to_odd(double value, double error) {
    const uint64_t bits = bits_as<uint64_t>(value);
    const uint64_t positive = error > 0.0 ? 1u : 0u, sign = bits >> 63;
    // The true value lies towards zero from `value` if the error has the other sign.
    const bool inexact = error != 0.0, towards_zero = positive == sign;
    const uint64_t truncated = inexact && towards_zero ? bits - 1 : bits;
    return bits_as<double>(inexact ? truncated | 1u : bits);
}
// a * b + c, rounded once to T.
template <class T>
CANOPY_IN_LOOP float multiply_add(float a, float b, float c) {
    const double product = static_cast<double>(a) * static_cast<double>(b), addend = static_cast<double>(c);
    const double sum = product + addend;
    const double part = sum - product;
    const double error = (product - (sum - part)) + (addend - part);
    const bool finite = absolute(sum) < __builtin_inf();
    const double odd = finite ? round_to_odd(sum, error) : sum;
    if constexpr (is_same<T, float>) {
        return static_cast<float>(odd);
    } else {
        constexpr uint64_t dropped = (uint64_t{1} << 29) - 1;  // what a float has not
        const uint64_t bits = bits_as<uint64_t>(odd);
        const uint64_t kept = (bits & ~dropped) | ((bits & dropped) != 0 ? dropped + 1 : 0);
        return static_cast<float>(finite ? bits_as<double>(kept) : sum);
    }
}

}  // namespace canopy::kernel::math

#endif
