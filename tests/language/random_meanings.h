// SPDX-License-Identifier: Apache-2.0
// What the element-wise functions compute, by name: how accurate they are, where they are specified, and the value in
// terms of the operands in the order of the call (a, b, c; a function that updates its destination has the old value
// last), for floating-point numbers and for integers. `none`: the function does not take such elements.
#ifndef CANOPY_TESTS_LANGUAGE_RANDOM_MEANINGS_H
#define CANOPY_TESTS_LANGUAGE_RANDOM_MEANINGS_H

#include "random_reference.h"

// What follows is compiled as device code as well, where it is not needed.
#pragma clang optimize off

namespace programs {

// Accuracy: the correctly rounded result, or a number of units in the last place of float; shorter formats round such
// a result. 0: the value without the sign of 0. More than two: several roundings, one of which may be that of a
// subnormal number.
inline constexpr double exact = -1;

// Where the operation is specified, and where most of its arguments come from.
struct Domain {
    Pool pool;
    double low, high;
};
inline constexpr Domain any = {pools, 0, 0};
constexpr Domain in_unit(double low, double high) { return {unit, low, high}; }
constexpr Domain in_positive(double low, double high) { return {positive, low, high}; }
constexpr Domain in_moderate(double low, double high) { return {moderate, low, high}; }

// The types of a call, and the rounding of a cast.
struct Types {
    Type to, from;
    Rounding rounding;
};

struct Meaning {
    const char* name;
    double units;
    Domain domain;
    bool updates;
    Real (*real)(Real a, Real b, Real c, const Types& types);
    Whole (*whole)(Whole a, Whole b, Whole c, const Types& types);
};

inline Real rectified(Real x) { return x <= 0 ? 0 : x; }
inline Whole rectified(Whole x) { return x <= 0 ? 0 : x; }
inline Real larger(Real a, Real b) { return std::isnan(a) || std::isnan(b) ? not_a_number : std::fmax(a, b); }
inline Real smaller(Real a, Real b) { return std::isnan(a) || std::isnan(b) ? not_a_number : std::fmin(a, b); }
inline Whole larger(Whole a, Whole b) { return a > b ? a : b; }
inline Whole smaller(Whole a, Whole b) { return a < b ? a : b; }

inline int width_of(Type type) { return static_cast<int>(size_of(type)) * 8; }
inline Whole shifted_left(Whole a, Whole by, Type type) { return by >= width_of(type) ? 0 : wrapped(type, a << by); }
inline Whole shifted_right(Whole a, Whole by) { return a >> smaller(by, Whole{127}); }

// Division by zero gives all ones.
inline Whole quotient(Whole a, Whole b, Type type) { return b != 0 ? a / b : wrapped(type, -1); }
// Modulo a power of two; negative powers are cut to whole numbers.
inline Whole power(Whole a, Whole b, Type type) {
    if (b < 0) return a == 1 ? 1 : a == -1 ? (b % 2 == 0 ? 1 : -1) : 0;
    Whole result = 1;
    for (; b != 0; b /= 2, a = wrapped(Type::i64, a * a))
        if (b % 2 != 0) result = wrapped(Type::i64, result * a);
    return wrapped(type, result);
}

inline Real gate(Real x, Real y) { return x / (1 + std::exp(-y)); }
inline Real cubic(Real linear, Real third, Real x) { return linear * x + third * x * x * x; }
inline Real parabola(Real x) {
    const Real distance = std::fmin(0.7071L * std::fabs(x), 1.769L) - 1.769L;
    const Real sign = x > 0 ? 1 : x < 0 ? -1 : 0;
    return x * (sign * (-0.1444L * distance * distance + 0.5L) + 0.5L);
}
inline Real digamma(Real x) {
    Real sum = 0;
    for (; x < 30; x += 1) sum -= 1 / x;
    const Real z = 1 / (x * x);
    const Real series = z * (1.0L / 12 - z * (1.0L / 120 - z * (1.0L / 252 - z * (1.0L / 240 - z / 132))));
    return sum + std::log(x) - 0.5L / x - series;
}
// As the operation is written: every step is rounded.
inline Real remainder_in_float(Real a, Real b) { return f32(a - f32(whole(f32(a / b), Rounding::towards_zero) * b)); }
inline Real clipped(Type type, Real x, Rounding rounding) { return saturated(type, whole(x, rounding)); }
// What does not fit into a shorter format becomes its largest number, but infinities stay.
inline Real shortened(Type type, Real x, Rounding rounding) {
    const Real value = rounded(type, x, rounding);
    return std::isinf(value) && !std::isinf(x) ? std::copysign(largest_of(type), x) : value;
}
inline Real cast(Real x, const Types& types) {
    if (!is_floating(types.to)) return clipped(types.to, x, types.rounding);
    if (types.to != types.from) return types.to == Type::f32 ? x : shortened(types.to, x, types.rounding);
    return whole(x, types.rounding);
}
inline Real truth(bool value) { return value ? 1 : 0; }
inline Whole whole_truth(bool value) { return value ? 1 : 0; }

// clang-format off
#define RANDOM_MEANINGS(KEEPS, UPDATES) \
    KEEPS(Abs, exact, any, std::fabs(a), a < 0 ? -a : a) \
    KEEPS(Neg, exact, any, -a, -a) \
    KEEPS(Exp, 1, any, std::exp(a), none) \
    KEEPS(Ln, 1, any, std::log(a), none) \
    KEEPS(Sqrt, exact, any, std::sqrt(a), none) \
    KEEPS(Rsqrt, 1.5, any, 1 / std::sqrt(a), none) \
    KEEPS(Reciprocal, exact, any, 1 / a, none) \
    KEEPS(Not, exact, any, none, ~a) \
    KEEPS(Relu, exact, any, rectified(a), rectified(a)) \
    KEEPS(Add, exact, any, a + b, a + b) \
    KEEPS(Sub, exact, any, a - b, a - b) \
    KEEPS(Mul, exact, any, a * b, a * b) \
    KEEPS(Div, exact, any, a / b, quotient(a, b, types.from)) \
    KEEPS(Max, 0, any, larger(a, b), larger(a, b)) \
    KEEPS(Min, 0, any, smaller(a, b), smaller(a, b)) \
    KEEPS(And, exact, any, none, a & b) \
    KEEPS(Or, exact, any, none, a | b) \
    KEEPS(AddRelu, exact, any, rectified(a + b), rectified(wrapped(types.from, a + b))) \
    KEEPS(SubRelu, exact, any, rectified(a - b), rectified(wrapped(types.from, a - b))) \
    KEEPS(FusedAbsSub, exact, any, std::fabs(a - b), none) \
    KEEPS(FusedExpSub, 1, any, std::exp(f32(a - b)), none) \
    KEEPS(MulCast, exact, any, clipped(types.to, a * b, Rounding::nearest_even), none) \
    KEEPS(AddReluCast, exact, any, \
          cast(f32(rectified(a + b)), types), clamped(types.to, rectified(wrapped(types.from, a + b)))) \
    KEEPS(SubReluCast, exact, any, \
          cast(f32(rectified(a - b)), types), clamped(types.to, rectified(wrapped(types.from, a - b)))) \
    UPDATES(MulAddDst, exact, any, f32(a * b) + c, a * b + c) \
    UPDATES(FusedMulAdd, exact, any, f32(a * c) + b, a * c + b) \
    UPDATES(FusedMulAddRelu, exact, any, rectified(f32(f32(a * c) + b)), none) \
    UPDATES(Axpy, exact, any, f32(a * b) + c, a * b + c) \
    KEEPS(Adds, exact, any, a + b, a + b) \
    KEEPS(Subs, exact, any, a - b, a - b) \
    KEEPS(Muls, exact, any, a * b, a * b) \
    KEEPS(Divs, exact, any, a / b, quotient(a, b, types.from)) \
    KEEPS(Maxs, 0, any, larger(a, b), larger(a, b)) \
    KEEPS(Mins, 0, any, smaller(a, b), smaller(a, b)) \
    KEEPS(Ands, exact, any, none, a & b) \
    KEEPS(Ors, exact, any, none, a | b) \
    KEEPS(LeakyRelu, exact, any, a <= 0 ? a * b : a, none) \
    KEEPS(ShiftLeft, exact, any, none, shifted_left(a, b, types.from)) \
    KEEPS(ShiftRight, exact, any, none, shifted_right(a, b)) \
    KEEPS(Cast, exact, any, cast(a, types), is_floating(types.to) ? a : clamped(types.to, a)) \
    KEEPS(Acos, 0.51, in_unit(-1, 1), std::acos(a), none) \
    KEEPS(Asin, 0.51, in_unit(-1, 1), std::asin(a), none) \
    KEEPS(Atan, 0.51, in_moderate(-65504, 65504), std::atan(a), none) \
    KEEPS(Acosh, 0.51, in_positive(1, 65504), std::acosh(a), none) \
    KEEPS(Asinh, 0.51, in_moderate(-65504, 65504), std::asinh(a), none) \
    KEEPS(Atanh, 0.51, in_unit(-0.99, 0.99), std::atanh(a), none) \
    KEEPS(Sin, 0.51, in_moderate(-65504, 65504), std::sin(a), none) \
    KEEPS(Cos, 0.51, in_moderate(-65504, 65504), std::cos(a), none) \
    KEEPS(Tan, 0.51, in_moderate(-65504, 65504), std::tan(a), none) \
    KEEPS(Sinh, 0.51, in_moderate(-88, 88), std::sinh(a), none) \
    KEEPS(Cosh, 0.51, in_moderate(-88, 88), std::cosh(a), none) \
    KEEPS(Tanh, 0.51, in_moderate(-88, 88), std::tanh(a), none) \
    KEEPS(Erf, 0.51, in_moderate(-88, 88), std::erf(a), none) \
    KEEPS(Erfc, 0.51, in_moderate(-8, 8), std::erfc(a), none) \
    KEEPS(Lgamma, 0.51, in_positive(0.01, 2000), std::lgamma(a), none) \
    KEEPS(Digamma, 0.51, in_positive(0.01, 60000), digamma(a), none) \
    KEEPS(Log, 1, in_positive(0, 65504), std::log(a), none) \
    KEEPS(Log2, 0.51, in_positive(0, 65504), std::log2(a), none) \
    KEEPS(Log10, 0.51, in_positive(0, 65504), std::log10(a), none) \
    KEEPS(Floor, exact, any, whole(a, Rounding::down), none) \
    KEEPS(Ceil, exact, any, whole(a, Rounding::up), none) \
    KEEPS(Round, exact, any, whole(a, Rounding::nearest_even), none) \
    KEEPS(Rint, exact, any, whole(a, Rounding::nearest_even), none) \
    KEEPS(Trunc, exact, any, whole(a, Rounding::towards_zero), none) \
    KEEPS(Frac, 0, in_moderate(-1e9, 1e9), a - std::trunc(a), none) \
    KEEPS(Sign, 0, in_moderate(-65504, 65504), a > 0 ? 1 : a < 0 ? -1 : 0, none) \
    KEEPS(Power, 0.51, in_positive(0.001, 30), std::pow(a, b), power(a, b, types.from)) \
    KEEPS(Hypot, 0.51, any, std::hypot(a, b), none) \
    KEEPS(Fmod, exact, any, remainder_in_float(a, b), none) \
    KEEPS(Xor, exact, any, none, a ^ b) \
    KEEPS(GeGLU, 2.5, in_moderate(-9, 9), a * gate(b, cubic(0.0713548163L * 22.36386L, 0.0713548163L, b)), none) \
    KEEPS(ReGlu, 0.51, in_moderate(-65504, 65504), a * rectified(b), none) \
    KEEPS(Gelu, 2.5, in_moderate(-9, 9), gate(a, cubic(1.595769122L, 1.595769122L * 0.044715L, a)), none) \
    KEEPS(FasterGelu, 2.5, in_moderate(-9, 9), gate(a, 1.702L * a), none) \
    KEEPS(FasterGeluV2, 0.51, in_moderate(-1e9, 1e9), parabola(a), none) \
    KEEPS(Sigmoid, 2.5, in_moderate(-80, 80), gate(1, a), none) \
    KEEPS(Silu, 2.5, in_moderate(-9, 9), gate(a, a), none) \
    KEEPS(Swish, 2.5, in_moderate(-20, 20), gate(a, a * b), none) \
    KEEPS(SwiGLU, 2.5, in_moderate(-9, 9), a * gate(b, f32(c) * b), none) \
    KEEPS(Fma, exact, any, fused(a, b, c, types.to), none) \
    KEEPS(ClampMax, 0, any, a > b ? b : a, a > b ? b : a) \
    KEEPS(ClampMin, 0, any, a < b ? b : a, a < b ? b : a) \
    KEEPS(BitwiseAnd, exact, any, none, a & b) \
    KEEPS(BitwiseOr, exact, any, none, a | b) \
    KEEPS(BitwiseXor, exact, any, none, a ^ b) \
    KEEPS(BitwiseNot, exact, any, none, ~a) \
    KEEPS(LogicalAnd, exact, any, truth(a != 0 && b != 0), whole_truth(a != 0 && b != 0)) \
    KEEPS(LogicalOr, exact, any, truth(a != 0 || b != 0), whole_truth(a != 0 || b != 0)) \
    KEEPS(LogicalXor, exact, any, truth((a != 0) != (b != 0)), whole_truth((a != 0) != (b != 0))) \
    KEEPS(LogicalNot, exact, any, truth(a == 0), whole_truth(a == 0)) \
    KEEPS(LogicalAnds, exact, any, truth(a != 0 && b != 0), whole_truth(a != 0 && b != 0)) \
    KEEPS(LogicalOrs, exact, any, truth(a != 0 || b != 0), whole_truth(a != 0 || b != 0)) \
    KEEPS(IsFinite, exact, any, truth(std::isfinite(a)), none) \
    KEEPS(IsInf, exact, any, truth(std::isinf(a)), none) \
    KEEPS(IsNan, exact, any, truth(std::isnan(a)), none)
// clang-format on

// A product and a sum that are rounded once. The fused operation of the host's library is exact for float; for shorter
// formats the last bit of the sum says that something was lost, so that it is not taken for a tie.
inline Real fused(Real a, Real b, Real c, Type type) {
    if (type == Type::f32) return std::fma(static_cast<float>(a), static_cast<float>(b), static_cast<float>(c));
    const Real product = a * b, part = product + c - product;
    const Real sum = product + c, lost = (product - (sum - part)) + (c - part);
    uint8_t last_bits;
    std::memcpy(&last_bits, &sum, sizeof last_bits);
    const bool even = last_bits % 2 == 0;
    return rounded(type, std::isfinite(sum) && lost != 0 && even ? std::nextafter(sum, lost * infinity) : sum);
}

// Stands for a value that a function does not have.
struct None {
    operator Real() const { return not_a_number; }
    operator Whole() const { return 0; }
};
inline constexpr None none;

#define VALUES(Name, units, domain, of_reals, of_integers)                                                  \
    inline Real real_##Name([[maybe_unused]] Real a, [[maybe_unused]] Real b, [[maybe_unused]] Real c,      \
                            [[maybe_unused]] const Types& types) {                                          \
        return of_reals;                                                                                    \
    }                                                                                                       \
    inline Whole whole_##Name([[maybe_unused]] Whole a, [[maybe_unused]] Whole b, [[maybe_unused]] Whole c, \
                              [[maybe_unused]] const Types& types) {                                        \
        return of_integers;                                                                                 \
    }
RANDOM_MEANINGS(VALUES, VALUES)
#undef VALUES

inline const std::vector<Meaning>& meanings() {
#define KEEPS(Name, units, domain, of_reals, of_integers) {#Name, units, domain, false, real_##Name, whole_##Name},
#define UPDATES(Name, units, domain, of_reals, of_integers) {#Name, units, domain, true, real_##Name, whole_##Name},
    static const std::vector<Meaning> all = {RANDOM_MEANINGS(KEEPS, UPDATES)};
#undef KEEPS
#undef UPDATES
    return all;
}

// Null if no function of that name has an interpreter.
inline const Meaning* meaning_of(const char* name) {
    for (const auto& meaning : meanings())
        if (std::strcmp(meaning.name, name) == 0) return &meaning;
    return nullptr;
}

}  // namespace programs

#pragma clang optimize on

#endif
