// SPDX-License-Identifier: Apache-2.0
// The table of the element-wise operations of random programs. A row gives the shape of the call, the public name, the
// element types of the destination and of the sources, the forms of the call, the accuracy, the domain, and the value
// in terms of the sources a and b (b is the scalar if there is one) and of the old destination c. The rows become one
// struct each: `run` is the call in the kernel, `row` is what the host needs to plan and to interpret it.
#ifndef CANOPY_TESTS_LANGUAGE_RANDOM_ELEMENTWISE_H
#define CANOPY_TESTS_LANGUAGE_RANDOM_ELEMENTWISE_H

#include "random_reference.h"

namespace programs {

// Compiled once instead of in every operation.
#define RANDOM_APART __aicore__ __attribute__((noinline)) inline

template <class T>
RANDOM_APART AscendC::LocalTensor<T> tensor(const Operand& operand) {
    return AscendC::LocalTensor<T>(AscendC::TPosition::VECCALC, operand.byte, operand.room / sizeof(T));
}
// A tensor of exactly `count` elements.
template <class T>
RANDOM_APART AscendC::LocalTensor<T> tensor(const Operand& operand, uint32_t count) {
    return AscendC::LocalTensor<T>(AscendC::TPosition::VECCALC, operand.byte, count);
}
template <class T = uint8_t>
RANDOM_APART AscendC::LocalTensor<T> scratch() {
    return AscendC::LocalTensor<T>(AscendC::TPosition::VECCALC, scratch_byte, scratch_bytes / sizeof(T));
}
RANDOM_APART AscendC::UnaryRepeatParams unary_strides(const Step& step) {
    return {step.at[0].block, step.at[1].block, step.at[0].repeat, step.at[1].repeat};
}
RANDOM_APART AscendC::BinaryRepeatParams binary_strides(const Step& step) {
    return {step.at[0].block,  step.at[1].block,  step.at[2].block,
            step.at[0].repeat, step.at[1].repeat, step.at[2].repeat};
}

// Forms of a call.
inline constexpr int C = 1, L = 2, B = 4, CL = C | L, CB = C | B;

// Accuracy: the correctly rounded result, or a number of units in the last place. 0: the value without the sign of 0.
// More than two: several roundings, one of which may be that of a subnormal number.
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

struct Row {
    const char* name;
    Type to, from;
    uint8_t sources;
    bool scalar;   // after the sources
    bool updates;  // reads the destination
    bool aliases;  // the destination may be the first source
    int forms;
    double units;
    Domain domain;
    Real (*value)(Real a, Real b, Real c);
};

// Shapes of calls: the number of sources, whether there is a scalar, whether the destination is read, whether it may be
// the first source; and the calls.
#define SHAPE_Unary 1, false, false, true
#define SHAPE_Binary 2, false, false, true
#define SHAPE_Scalar 1, true, false, true
#define SHAPE_Ternary 2, false, true, false
#define SHAPE_Axpy 1, true, true, false
#define SHAPE_Function 1, false, false, false
#define SHAPE_FunctionTmp 1, false, false, false
#define SHAPE_FunctionAll 1, false, false, false
#define SHAPE_Function2 2, false, false, false
#define SHAPE_Function2Tmp 2, false, false, false
#define SHAPE_Function2All 2, false, false, false
#define SHAPE_FunctionScalar 1, true, false, false
#define SHAPE_CountScalar 1, true, false, false
#define SHAPE_Function2Scalar 2, true, false, false
#define SHAPE_Rint 1, false, false, true
#define SHAPE_Away 1, false, false, true
#define SHAPE_Cut 1, false, false, true

#define CALL_FORMS(forms, call, strides)                                                  \
    if (step.form == counted) return call(static_cast<int32_t>(step.count));              \
    if constexpr (((forms)&L) != 0)                                                       \
        if (step.form == leading_lanes) return call(step.mask[0], step.repeats, strides); \
    if constexpr (((forms)&B) != 0)                                                       \
        if (step.form == mask_bits) return call(step.mask, step.repeats, strides);

#define CALL_Unary(Name, D, S, forms)                                                                     \
    const auto d = tensor<D>(step.at[0]);                                                                 \
    const auto s = tensor<S>(step.at[1]);                                                                 \
    const auto call = [&](auto... rest) __attribute__((always_inline)) { AscendC::Name(d, s, rest...); }; \
    CALL_FORMS(forms, call, unary_strides(step))
#define CALL_Binary(Name, D, S, forms)                                                                       \
    const auto d = tensor<D>(step.at[0]);                                                                    \
    const auto s = tensor<S>(step.at[1]), t = tensor<S>(step.at[2]);                                         \
    const auto call = [&](auto... rest) __attribute__((always_inline)) { AscendC::Name(d, s, t, rest...); }; \
    CALL_FORMS(forms, call, binary_strides(step))
#define CALL_Ternary CALL_Binary
#define CALL_Scalar(Name, D, S, forms)                                                                            \
    const auto d = tensor<D>(step.at[0]);                                                                         \
    const auto s = tensor<S>(step.at[1]);                                                                         \
    const auto number = static_cast<S>(step.scalar);                                                              \
    const auto call = [&](auto... rest) __attribute__((always_inline)) { AscendC::Name(d, s, number, rest...); }; \
    CALL_FORMS(forms, call, unary_strides(step))
#define CALL_Axpy CALL_Scalar
#define CALL_WITH(...)                                                   \
    const auto d = tensor<To>(step.at[0]);                               \
    const auto s = tensor<From>(step.at[1]);                             \
    const auto call = [&](auto... rest) __attribute__((always_inline)) { \
        AscendC::Cast(d, s, AscendC::RoundMode::__VA_ARGS__, rest...);   \
    };                                                                   \
    CALL_FORMS(all_forms, call, unary_strides(step))
#define CALL_CAST(D, S, forms, mode) \
    using To = D;                    \
    using From = S;                  \
    constexpr int all_forms = forms; \
    CALL_WITH(mode)
#define CALL_Rint(Name, D, S, forms) CALL_CAST(D, S, forms, CAST_RINT)
#define CALL_Away(Name, D, S, forms) CALL_CAST(D, S, forms, CAST_ROUND)
#define CALL_Cut(Name, D, S, forms) CALL_CAST(D, S, forms, CAST_TRUNC)

#define CALL_Function(Name, D, S, forms) AscendC::Name(tensor<D>(step.at[0]), tensor<S>(step.at[1]), step.count);
#define CALL_FunctionTmp(Name, D, S, forms) \
    AscendC::Name(tensor<D>(step.at[0]), tensor<S>(step.at[1]), scratch(), step.count);
#define CALL_FunctionAll(Name, D, S, forms) \
    AscendC::Name(tensor<D>(step.at[0]), tensor<S>(step.at[1], step.count), scratch());
#define CALL_Function2(Name, D, S, forms)                                                                      \
    AscendC::Name(tensor<D>(step.at[0]), tensor<S>(step.at[1], step.count), tensor<S>(step.at[2], step.count), \
                  step.count);
#define CALL_Function2Tmp(Name, D, S, forms)                                                                   \
    AscendC::Name(tensor<D>(step.at[0]), tensor<S>(step.at[1], step.count), tensor<S>(step.at[2], step.count), \
                  scratch(), step.count);
#define CALL_Function2All(Name, D, S, forms) \
    AscendC::Name(tensor<D>(step.at[0]), tensor<S>(step.at[1], step.count), tensor<S>(step.at[2], step.count));
#define CALL_FunctionScalar(Name, D, S, forms) \
    AscendC::Name(tensor<D>(step.at[0]), tensor<S>(step.at[1]), static_cast<S>(step.scalar), step.count);
#define CALL_CountScalar(Name, D, S, forms) \
    AscendC::Name(tensor<D>(step.at[0]), tensor<S>(step.at[1]), step.count, static_cast<S>(step.scalar));
#define CALL_Function2Scalar(Name, D, S, forms)                                        \
    AscendC::Name(tensor<D>(step.at[0]), tensor<S>(step.at[1]), tensor<S>(step.at[2]), \
                  static_cast<float>(step.scalar), step.count);

// Values of rows.
inline int64_t bits_of(Real x) { return static_cast<int64_t>(x); }
inline Real rectified(Real x) { return x <= 0 ? 0 : x; }
inline Real larger(Real a, Real b) { return std::isnan(a) || std::isnan(b) ? not_a_number : std::fmax(a, b); }
inline Real smaller(Real a, Real b) { return std::isnan(a) || std::isnan(b) ? not_a_number : std::fmin(a, b); }
// The result of 16-bit arithmetic modulo 2^16.
inline Real wrapped16(Real x) { return static_cast<int16_t>(bits_of(x)); }
inline Real shifted_left(Real a, Real by, int width) {
    return by >= width ? 0 : static_cast<Real>(static_cast<int64_t>(static_cast<uint64_t>(bits_of(a)) << bits_of(by)));
}
inline Real shifted_right(Real a, Real by) {
    return static_cast<Real>(bits_of(a) >> std::min<int64_t>(bits_of(by), 62));
}
inline Real gate(Real x, Real y) { return x / (1 + std::exp(-y)); }
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
// What does not fit into half becomes its largest number, but infinities stay.
inline Real cast_to_half(Real x, Rounding rounding) {
    const Real value = rounded(Type::f16, x, rounding);
    return std::isinf(value) && !std::isinf(x) ? std::copysign(65504.0L, x) : value;
}
inline Real truth(bool value) { return value ? 1 : 0; }

// clang-format off
#define RANDOM_ELEMENTWISE(ROW) \
    ROW(Unary, Abs, float, float, CL, exact, any, std::fabs(a)) \
    ROW(Unary, Neg, int32_t, int32_t, C, exact, any, -a) \
    ROW(Unary, Exp, float, float, CB, 1, any, std::exp(a)) \
    ROW(Unary, Ln, half, half, C, 0.51, any, std::log(a)) \
    ROW(Unary, Sqrt, float, float, C, exact, any, std::sqrt(a)) \
    ROW(Unary, Rsqrt, float, float, C, 1.5, any, 1 / std::sqrt(a)) \
    ROW(Unary, Reciprocal, half, half, C, exact, any, 1 / a) \
    ROW(Unary, Not, int16_t, int16_t, CB, exact, any, -a - 1) \
    ROW(Unary, Relu, float, float, C, exact, any, rectified(a)) \
    ROW(Binary, Add, float, float, CB, exact, any, a + b) \
    ROW(Binary, Add, int32_t, int32_t, CL, exact, any, a + b) \
    ROW(Binary, Sub, half, half, CL, exact, any, a - b) \
    ROW(Binary, Mul, int32_t, int32_t, C, exact, any, a * b) \
    ROW(Binary, Div, float, float, CL, exact, any, a / b) \
    ROW(Binary, Max, half, half, CB, 0, any, larger(a, b)) \
    ROW(Binary, Min, int16_t, int16_t, C, exact, any, smaller(a, b)) \
    ROW(Binary, And, int16_t, int16_t, C, exact, any, Real(bits_of(a) & bits_of(b))) \
    ROW(Binary, Or, int16_t, int16_t, CL, exact, any, Real(bits_of(a) | bits_of(b))) \
    ROW(Binary, AddRelu, half, half, C, exact, any, rectified(a + b)) \
    ROW(Binary, SubRelu, float, float, C, exact, any, rectified(a - b)) \
    ROW(Binary, FusedAbsSub, float, float, C, exact, any, std::fabs(a - b)) \
    ROW(Binary, FusedExpSub, float, half, C, 1, any, std::exp(f32(a - b))) \
    ROW(Binary, MulCast, int8_t, half, C, exact, any, clipped(Type::i8, a * b, Rounding::nearest_even)) \
    ROW(Binary, AddReluCast, half, float, CB, exact, any, cast_to_half(f32(rectified(a + b)), Rounding::nearest_even)) \
    ROW(Binary, SubReluCast, int8_t, int16_t, C, exact, any, saturated(Type::i8, rectified(wrapped16(a - b)))) \
    ROW(Ternary, MulAddDst, float, float, CL, exact, any, f32(a * b) + c) \
    ROW(Ternary, FusedMulAdd, float, float, C, exact, any, f32(a * c) + b) \
    ROW(Ternary, FusedMulAddRelu, float, float, C, exact, any, rectified(f32(f32(a * c) + b))) \
    ROW(Axpy, Axpy, float, float, CB, exact, any, f32(a * b) + c) \
    ROW(Scalar, Adds, float, float, CB, exact, any, a + b) \
    ROW(Scalar, Subs, float, float, C, exact, any, a - b) \
    ROW(Scalar, Muls, half, half, CL, exact, any, a * b) \
    ROW(Scalar, Divs, float, float, C, exact, any, a / b) \
    ROW(Scalar, Maxs, int32_t, int32_t, C, exact, any, larger(a, b)) \
    ROW(Scalar, Mins, int16_t, int16_t, C, exact, any, smaller(a, b)) \
    ROW(Scalar, Ands, int16_t, int16_t, C, exact, any, Real(bits_of(a) & bits_of(b))) \
    ROW(Scalar, Ors, int16_t, int16_t, C, exact, any, Real(bits_of(a) | bits_of(b))) \
    ROW(Scalar, LeakyRelu, float, float, C, exact, any, a <= 0 ? a * b : a) \
    ROW(Rint, Cast, half, float, CL, exact, any, cast_to_half(a, Rounding::nearest_even)) \
    ROW(Rint, Cast, float, half, CB, exact, any, a) \
    ROW(Away, Cast, int32_t, float, C, exact, any, clipped(Type::i32, a, Rounding::away)) \
    ROW(Cut, Cast, int8_t, half, C, exact, any, clipped(Type::i8, a, Rounding::towards_zero)) \
    ROW(Rint, Cast, uint8_t, half, C, exact, any, clipped(Type::u8, a, Rounding::nearest_even)) \
    ROW(Rint, Cast, float, int32_t, C, exact, any, a) \
    ROW(FunctionTmp, Acos, float, float, C, 0.51, in_unit(-1, 1), std::acos(a)) \
    ROW(Function, Asin, half, half, C, 0.51, in_unit(-1, 1), std::asin(a)) \
    ROW(Function, Atan, float, float, C, 0.51, in_moderate(-65504, 65504), std::atan(a)) \
    ROW(FunctionAll, Acosh, float, float, C, 0.51, in_positive(1, 65504), std::acosh(a)) \
    ROW(Function, Asinh, half, half, C, 0.51, in_moderate(-65504, 65504), std::asinh(a)) \
    ROW(FunctionTmp, Atanh, half, half, C, 0.51, in_unit(-0.99, 0.99), std::atanh(a)) \
    ROW(Function, Sin, float, float, C, 0.51, in_moderate(-65504, 65504), std::sin(a)) \
    ROW(FunctionAll, Cos, half, half, C, 0.51, in_moderate(-65504, 65504), std::cos(a)) \
    ROW(FunctionTmp, Tan, half, half, C, 0.51, in_moderate(-65504, 65504), std::tan(a)) \
    ROW(Function, Sinh, float, float, C, 0.51, in_moderate(-88, 88), std::sinh(a)) \
    ROW(FunctionTmp, Cosh, half, half, C, 0.51, in_moderate(-88, 88), std::cosh(a)) \
    ROW(Function, Tanh, float, float, C, 0.51, in_moderate(-88, 88), std::tanh(a)) \
    ROW(FunctionAll, Erf, half, half, C, 0.51, in_moderate(-88, 88), std::erf(a)) \
    ROW(FunctionTmp, Erfc, float, float, C, 0.51, in_moderate(-8, 8), std::erfc(a)) \
    ROW(Function, Lgamma, half, half, C, 0.51, in_positive(0.01, 2000), std::lgamma(a)) \
    ROW(FunctionTmp, Digamma, float, float, C, 0.51, in_positive(0.01, 60000), digamma(a)) \
    ROW(Function, Log, half, half, C, 0.51, in_positive(0, 65504), std::log(a)) \
    ROW(FunctionAll, Log2, float, float, C, 0.51, in_positive(0, 65504), std::log2(a)) \
    ROW(FunctionTmp, Log10, half, half, C, 0.51, in_positive(0, 65504), std::log10(a)) \
    ROW(Function, Floor, float, float, C, exact, any, whole(a, Rounding::down)) \
    ROW(FunctionTmp, Ceil, half, half, C, exact, any, whole(a, Rounding::up)) \
    ROW(FunctionAll, Round, float, float, C, exact, any, whole(a, Rounding::nearest_even)) \
    ROW(Function, Rint, half, half, C, exact, any, whole(a, Rounding::nearest_even)) \
    ROW(FunctionTmp, Trunc, float, float, C, exact, any, whole(a, Rounding::towards_zero)) \
    ROW(Function, Frac, float, float, C, 0, in_moderate(-1e9, 1e9), a - std::trunc(a)) \
    ROW(FunctionTmp, Sign, half, half, C, 0, in_moderate(-65504, 65504), a > 0 ? 1 : a < 0 ? -1 : 0) \
    ROW(Function2, Power, float, float, C, 0.51, in_positive(0.001, 30), std::pow(a, b)) \
    ROW(Function2All, Hypot, half, half, C, 0.51, any, std::hypot(a, b)) \
    ROW(Function2Tmp, Fmod, float, float, C, exact, any, remainder_in_float(a, b)) \
    ROW(Function2, Xor, int16_t, int16_t, C, exact, any, Real(bits_of(a) ^ bits_of(b))) \
    ROW(Function2Tmp, GeGLU, float, float, C, 2.5, in_moderate(-9, 9), a * gate(b, 0.0713548163L * (b * b * b + 22.36386L * b))) \
    ROW(Function2All, ReGlu, half, half, C, 0.51, in_moderate(-65504, 65504), a * rectified(b)) \
    ROW(FunctionTmp, Gelu, float, float, C, 2.5, in_moderate(-9, 9), gate(a, 1.595769122L * (a + 0.044715L * a * a * a))) \
    ROW(Function, FasterGelu, half, half, C, 0.51, in_moderate(-9, 9), gate(a, 1.702L * a)) \
    ROW(FunctionTmp, FasterGeluV2, float, float, C, 0.51, in_moderate(-1e9, 1e9), parabola(a)) \
    ROW(FunctionAll, Sigmoid, float, float, C, 2.5, in_moderate(-80, 80), gate(1, a)) \
    ROW(Function, Silu, half, half, C, 0.51, in_moderate(-9, 9), gate(a, a)) \
    ROW(CountScalar, Swish, float, float, C, 2.5, in_moderate(-20, 20), gate(a, a * b)) \
    ROW(Function2Scalar, SwiGLU, half, half, C, 0.51, in_moderate(-9, 9), a * gate(b, f32(scalar) * b)) \
    ROW(FunctionScalar, ClampMax, half, half, C, 0, any, a > b ? b : a) \
    ROW(FunctionScalar, ClampMin, float, float, C, 0, any, a < b ? b : a) \
    ROW(Function2, BitwiseAnd, int32_t, int32_t, C, exact, any, Real(bits_of(a) & bits_of(b))) \
    ROW(Function2, BitwiseOr, int16_t, int16_t, C, exact, any, Real(bits_of(a) | bits_of(b))) \
    ROW(Function2, BitwiseXor, uint8_t, uint8_t, C, exact, any, Real(bits_of(a) ^ bits_of(b))) \
    ROW(Function, BitwiseNot, int32_t, int32_t, C, exact, any, -a - 1) \
    ROW(Function2, LogicalAnd, uint8_t, float, C, exact, any, truth(a != 0 && b != 0)) \
    ROW(Function2, LogicalOr, uint8_t, int16_t, C, exact, any, truth(a != 0 || b != 0)) \
    ROW(Function2, LogicalXor, uint8_t, uint8_t, C, exact, any, truth((a != 0) != (b != 0))) \
    ROW(Function, LogicalNot, uint8_t, half, C, exact, any, truth(a == 0)) \
    ROW(FunctionScalar, LogicalAnds, uint8_t, int32_t, C, exact, any, truth(a != 0 && b != 0)) \
    ROW(FunctionScalar, LogicalOrs, uint8_t, uint8_t, C, exact, any, truth(a != 0 || b != 0)) \
    ROW(Function, IsFinite, half, half, C, exact, any, truth(std::isfinite(a))) \
    ROW(Function, IsInf, uint8_t, float, C, exact, any, truth(std::isinf(a))) \
    ROW(FunctionTmp, IsNan, uint8_t, half, C, exact, any, truth(std::isnan(a)))
// clang-format on

#define ROW_STRUCT(Kind, Name, D, S, forms, units, domain, result)                                             \
    struct Kind##_##Name##_##D##_##S {                                                                         \
        template <int = 0>                                                                                     \
        __aicore__ __attribute__((noinline)) static void run([[maybe_unused]] const Step& step) {              \
            CALL_##Kind(Name, D, S, forms)                                                                     \
        }                                                                                                      \
        static Real value([[maybe_unused]] Real a, [[maybe_unused]] Real b, [[maybe_unused]] Real c) {         \
            [[maybe_unused]] const Real scalar = c;                                                            \
            return result;                                                                                     \
        }                                                                                                      \
        static constexpr Row row = {#Name, type_of<D>, type_of<S>, SHAPE_##Kind, forms, units, domain, value}; \
    };
RANDOM_ELEMENTWISE(ROW_STRUCT)
#undef ROW_STRUCT

inline double some_scalar(Random& random, Type type) {
    if (!is_floating(type)) {
        const Real low = std::fmax(lowest_integer(type), -200.0L), high = std::fmin(highest_integer(type), 200.0L);
        return static_cast<double>(std::floor(low + static_cast<Real>(random.real()) * (high - low)));
    }
    const double value = random.chance(15)   ? 0
                         : random.chance(20) ? 1e30 * (random.real() - 0.5)
                                             : 8 * random.real() - 4;
    return static_cast<double>(rounded(type, static_cast<Real>(value)));
}

inline void plan_row(const Row& row, Random& random, Step& step) {
    const uint32_t widest = std::max(size_of(row.to), size_of(row.from));
    step.form = counted;
    if ((row.forms & (L | B)) != 0 && random.chance(55)) step.form = (row.forms & B) == 0 ? leading_lanes : mask_bits;
    step.scalar = row.scalar ? some_scalar(random, row.from) : 0;
    if (row.scalar && row.sources == 2) step.scalar = 2 * random.real() - 1;
    const bool alias = row.aliases && row.to == row.from && random.chance(20);
    if (step.form == counted) {
        step.count = some_count(random, slot_bytes / widest);
        step.at[0] = place(random, row.to, step.count * size_of(row.to));
        for (uint32_t i = 1; i <= row.sources; ++i)
            step.at[i] = place(random, row.from, step.count * size_of(row.from), {step.at[0]});
    } else {
        const uint32_t lanes = 256 / widest;
        plan_mask(random, step, lanes);
        plan_strided(random, step, 0, row.to, lanes, true, {});
        for (uint32_t i = 1; i <= row.sources; ++i) plan_strided(random, step, i, row.from, lanes, false, {step.at[0]});
    }
    if (alias) step.at[1] = step.at[0];
}

inline void interpret_row(const Row& row, Expected& expected, const Step& step) {
    const auto inside = [&](Real x) {
        return row.domain.pool == pools || (x >= Real(row.domain.low) && x <= Real(row.domain.high));
    };
    const auto element = [&](uint32_t, const uint32_t* at) {
        const Real a = expected.read(row.from, at[1]);
        const Real b = row.sources == 2 ? expected.read(row.from, at[2]) : Real(step.scalar);
        const Real c = row.updates ? expected.read(row.to, at[0]) : Real(step.scalar);
        if (!inside(a) || (row.sources == 2 && !inside(b))) return expected.any(row.to, at[0]);
        const Real value = row.value(a, b, c);
        if (row.units < 0)
            expected.write(row.to, at[0], value);
        else
            expected.near(row.to, at[0], value,
                          row.units * unit_at(row.to, value) + (row.units > 2 ? 16 * unit_at(row.to, 0) : 0));
    };
    if (row.sources == 2)
        for_each_element(step, {row.to, row.from, row.from}, element);
    else
        for_each_element(step, {row.to, row.from}, element);
}

}  // namespace programs

#endif
