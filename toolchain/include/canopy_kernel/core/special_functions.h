// SPDX-License-Identifier: Apache-2.0
// The error function and the gamma function, computed in double like the functions of functions.h.
#ifndef CANOPY_KERNEL_SPECIAL_FUNCTIONS_H
#define CANOPY_KERNEL_SPECIAL_FUNCTIONS_H

#include "canopy_kernel/core/functions.h"

namespace canopy::kernel::math {

// erfc x for x >= 0: e^(-x^2) times a polynomial in 2 / (2 + x), which fits up to x = 10. Beyond, the result is too
// small for a float.
CANOPY_IN_LOOP double erfc_of_positive(double x) {
    const double near = x > 10.2 ? 10.2 : x;
    const double p = polynomial(2.0 / (2.0 + near), -4.994633837163326e-07, 0.28211423623184134, 0.28175804822265665,
                                0.25026461303754594, 0.15338090043001187, 0.18956152193049178, -0.3498690022616553,
                                0.7438081462140984, -1.3456187718278305, 1.3718074044169943, -0.7932025374151965,
                                0.2496824542579577, -0.03368651382084496);
    return p * exp_wide(-near * near);
}
CANOPY_IN_LOOP float erfc(float x) {
    const double wide = static_cast<double>(x);
    const double value = erfc_of_positive(absolute(wide));
    return static_cast<float>(wide < 0.0 ? 2.0 - value : value);
}
CANOPY_IN_LOOP float erf(float x) {
    const double wide = static_cast<double>(x);
    const double a = absolute(wide);
    const double z = a * a;
    const double small = a * polynomial(z, 1.1283791670946768, -0.3761263888963531, 0.11283791308604582,
                                        -0.026866133235095593, 0.0052237834771892465, -0.0008542637997087197,
                                        0.0001195656256820697, -1.3909340021872547e-05, 1.05893806410702e-06);
    return static_cast<float>(copy_sign(a < 1.0 ? small : 1.0 - erfc_of_positive(a), wide));
}

// ln gamma(x) for x >= 0. Up to 3, from the value at x or x + 1 as a polynomial times its zeros at 1 and 2; beyond, by
// Stirling's series at x + 5.
CANOPY_IN_LOOP double log_gamma_of_positive(double x) {
    const bool small = x < 3.0, tiny = x < 1.0;
    const double u = (small ? x : 2.0) + (tiny ? 1.0 : 0.0) - 2.0;
    const double near =
        (u + 1.0) * u *
        polynomial(u, 0.4227843350983668, -0.10031730153001821, 0.03296500055694689, -0.012384199088411981,
                   0.00499864439456825, -0.0021080354202493846, 0.0009153317201129736, -0.0004062952108244314,
                   0.00018283229174876286, -8.119753686100794e-05, 3.7264330087627195e-05, -2.1069867673657713e-05,
                   9.84844140743434e-06, -4.892146044701243e-07, 2.0509465336809387e-07, -2.449431116074312e-06,
                   1.1656575786766755e-06);
    const double shifted = x + 5.0;
    const double product = x * (x + 1.0) * (x + 2.0) * (x + 3.0) * (x + 4.0);
    const double inverse = 1.0 / shifted;
    const double series = inverse * polynomial(inverse * inverse, 1.0 / 12, -1.0 / 360, 1.0 / 1260, -1.0 / 1680);
    const double large = (shifted - 0.5) * log_wide(shifted) - shifted + (0x1.d67f1c864beb5p-1 + series);
    const double less = log_wide(tiny ? x : (small ? 1.0 : product));
    const double value = (small ? near : large) - less;
    return x == __builtin_inf() ? x : value;
}
// |sin(pi x)| and the tangent have their zeros at the integers exactly.
CANOPY_IN_LOOP double distance_to_integer(double x) { return x - __builtin_elementwise_roundeven(x); }

// ln |gamma(x)|; infinite at 0 and the negative integers.
CANOPY_IN_LOOP float log_gamma(float x) {
    const double wide = static_cast<double>(x);
    const double a = absolute(wide);
    const double positive = log_gamma_of_positive(a);
    // gamma(-a) gamma(a) = -pi / (a sin(pi a)); half the distance keeps the argument of the series small.
    const double angle = pi * absolute(distance_to_integer(a)) * 0.5;
    const double sine = 2.0 * sine_near_zero(angle) * cosine_near_zero(angle);
    const double reflected = log_wide(pi / (a * sine)) - positive;
    const double negative = a == __builtin_inf() ? a : reflected;
    return static_cast<float>(wide < 0.0 ? negative : positive);
}

// psi(x) for x > 0: the sum of 1 / (x + i) leads to a number from 10 on, where the asymptotic series holds.
CANOPY_IN_LOOP double digamma_of_positive(double x) {
    const bool small = x < 10.0;
    const double first = small ? x : 10.0;
    double above = 0.0, below = 1.0;  // the sum as one fraction
#pragma clang loop unroll(full)
    for (int i = 0; i < 10; ++i) {
        const double term = first + i;
        above = above * term + below;
        below *= term;
    }
    const double z = small ? x + 10.0 : x;
    const double inverse = 1.0 / (z * z);
    const double series =
        inverse * polynomial(inverse, 1.0 / 12, -1.0 / 120, 1.0 / 252, -1.0 / 240, 1.0 / 132, -691.0 / 32760);
    return log_wide(z) - 0.5 / z - series - (small ? above / below : 0.0);
}
// psi(x); minus infinity at 0, NaN at the negative integers and at minus infinity.
CANOPY_IN_LOOP float digamma(float x) {
    const double wide = static_cast<double>(x);
    const double a = absolute(wide);
    const double positive = digamma_of_positive(a);
    // psi(-a) = psi(a) + 1 / a + pi / tan(pi a)
    const double distance = distance_to_integer(a);
    const double angle = pi * distance * 0.5;
    const double sine = sine_near_zero(angle), cosine = cosine_near_zero(angle);
    const double cotangent = (cosine * cosine - sine * sine) / (2.0 * sine * cosine);
    const double reflected = positive + 1.0 / a + pi * cotangent;
    double value = wide < 0.0 ? (distance == 0.0 ? __builtin_nan("") : reflected) : positive;
    value = wide == 0.0 ? -__builtin_inf() : value;
    return static_cast<float>(value);
}

}  // namespace canopy::kernel::math

#endif
