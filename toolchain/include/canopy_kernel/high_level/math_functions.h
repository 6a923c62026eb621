// SPDX-License-Identifier: Apache-2.0
// Functions of one number: angles, hyperbolic functions, logarithms, the error and gamma functions, and rounding.
// Options that choose an algorithm of the hardware are accepted; there is one algorithm here, except where it changes
// the range.
#ifndef CANOPY_KERNEL_MATH_FUNCTIONS_H
#define CANOPY_KERNEL_MATH_FUNCTIONS_H

#include <kernel_tiling/vector_configs.h>

#include "canopy_kernel/core/special_functions.h"
#include "canopy_kernel/high_level/operands.h"

namespace AscendC {

enum class AtanAlgo { TAYLOR_EXPANSION = 0, POLYNOMIAL_APPROXIMATION = 1 };
struct AtanConfig {
    AtanAlgo algo = AtanAlgo::TAYLOR_EXPANSION;
};
inline constexpr AtanConfig defaultAtanConfig = {AtanAlgo::TAYLOR_EXPANSION};

// RADIAN_REDUCTION is exact for every number; the other is for numbers up to 65504.
inline constexpr SinConfig defaultSinConfig{};
inline constexpr CosConfig defaultCosConfig{};
struct SinCosConfig {
    bool isReuseSource;
};
inline constexpr SinCosConfig DEFAULT_SINCOS_CONFIG = {false};

enum class ErfAlgo { PADE_APPROXIMATION = 0, SUBSECTION_POLYNOMIAL_APPROXIMATION = 1 };
struct ErfConfig {
    ErfAlgo algo = ErfAlgo::PADE_APPROXIMATION;
};
inline constexpr ErfConfig defaultErfConfig = {ErfAlgo::PADE_APPROXIMATION};

enum class TanhAlgo { INTRINSIC = 0, SUBSECTION_COMPENSATION = 1 };
struct TanhConfig {
    TanhAlgo algo = TanhAlgo::INTRINSIC;
};
inline constexpr TanhConfig DEFAULT_TANH_CONFIG = {TanhAlgo::INTRINSIC};

struct RintConfig {
    bool isReuseSource;
};
inline constexpr RintConfig DEFAULT_RINT_CONFIG = {false};

}  // namespace AscendC

namespace canopy::kernel {

#define CANOPY_REAL_FUNCTION(Name, expression)                 \
    struct Name##Operation {                                   \
        template <class T>                                     \
        static constexpr bool supports = is_real<T>;           \
        float operator()(float x) const { return expression; } \
    };

CANOPY_REAL_FUNCTION(Acos, math::acos(x))
CANOPY_REAL_FUNCTION(Acosh, math::acosh(x))
CANOPY_REAL_FUNCTION(Asin, math::asin(x))
CANOPY_REAL_FUNCTION(Asinh, math::asinh(x))
CANOPY_REAL_FUNCTION(Atan, math::atan(x))
CANOPY_REAL_FUNCTION(Atanh, math::atanh(x))
CANOPY_REAL_FUNCTION(Cosh, math::cosh(x))
CANOPY_REAL_FUNCTION(Sinh, math::sinh(x))
CANOPY_REAL_FUNCTION(Tan, math::tan(x))
CANOPY_REAL_FUNCTION(Tanh, math::tanh(x))
CANOPY_REAL_FUNCTION(Erf, math::erf(x))
CANOPY_REAL_FUNCTION(Erfc, math::erfc(x))
CANOPY_REAL_FUNCTION(Lgamma, math::log_gamma(x))
CANOPY_REAL_FUNCTION(Digamma, math::digamma(x))
CANOPY_REAL_FUNCTION(Log, math::log(x))
CANOPY_REAL_FUNCTION(Log2, math::log2(x))
CANOPY_REAL_FUNCTION(Log10, math::log10(x))
CANOPY_REAL_FUNCTION(Floor, math::floor(x))
CANOPY_REAL_FUNCTION(Ceil, math::ceil(x))
CANOPY_REAL_FUNCTION(Round, math::nearest_even(x))
CANOPY_REAL_FUNCTION(Trunc, math::truncate(x))
CANOPY_REAL_FUNCTION(Frac, x - math::truncate(x))
CANOPY_REAL_FUNCTION(Sign, (x > 0.0f ? 1.0f : (x < 0.0f ? -1.0f : 0.0f)))

#undef CANOPY_REAL_FUNCTION

// The sine, or the cosine with `added` = 1.
template <bool any_size, uint64_t added>
struct SineOperation {
    template <class T>
    static constexpr bool supports = is_real<T>;
    float operator()(float x) const {
        if constexpr (any_size)
            return math::sine_of(math::reduce_any_angle(x), added);
        else
            return math::sine_of(math::reduce_angle(static_cast<double>(x)), added);
    }
};

}  // namespace canopy::kernel

namespace AscendC {

CANOPY_UNARY_FORMS(Acos, AcosOperation{})
CANOPY_UNARY_FORMS(Acosh, AcoshOperation{})
CANOPY_UNARY_FORMS(Asin, AsinOperation{})
CANOPY_UNARY_FORMS(Asinh, AsinhOperation{})
CANOPY_UNARY_FORMS(Atan, AtanOperation{}, const AtanConfig& config = defaultAtanConfig)
CANOPY_UNARY_FORMS(Atanh, AtanhOperation{})
CANOPY_UNARY_FORMS(Sin, (SineOperation<config.algo == SinAlgo::RADIAN_REDUCTION, 0>{}),
                   const SinConfig& config = defaultSinConfig)
CANOPY_UNARY_FORMS(Cos, (SineOperation<config.algo == CosAlgo::RADIAN_REDUCTION, 1>{}),
                   const CosConfig& config = defaultCosConfig)
CANOPY_UNARY_FORMS(Tan, TanOperation{})
CANOPY_UNARY_FORMS(Sinh, SinhOperation{})
CANOPY_UNARY_FORMS(Cosh, CoshOperation{})
CANOPY_UNARY_FORMS(Tanh, TanhOperation{}, const TanhConfig& config = DEFAULT_TANH_CONFIG)
CANOPY_UNARY_FORMS(Erf, ErfOperation{}, const ErfConfig& config = defaultErfConfig)
CANOPY_UNARY_FORMS(Erfc, ErfcOperation{})
CANOPY_UNARY_FORMS(Lgamma, LgammaOperation{})
CANOPY_UNARY_FORMS(Digamma, DigammaOperation{})
CANOPY_UNARY_FORMS(Log, LogOperation{})
CANOPY_UNARY_FORMS(Log2, Log2Operation{})
CANOPY_UNARY_FORMS(Log10, Log10Operation{})
CANOPY_UNARY_FORMS(Floor, FloorOperation{})
CANOPY_UNARY_FORMS(Ceil, CeilOperation{})
CANOPY_UNARY_FORMS(Round, RoundOperation{})  // ties to even, like Rint
CANOPY_UNARY_FORMS(Trunc, TruncOperation{})
CANOPY_UNARY_FORMS(Frac, FracOperation{})
CANOPY_UNARY_FORMS(Sign, SignOperation{})

template <const RintConfig& config = DEFAULT_RINT_CONFIG, typename T>
inline void Rint(const LocalTensor<T>& dst, const LocalTensor<T>& src, const LocalTensor<uint8_t>& sharedTmpBuffer,
                 const uint32_t count, CANOPY_WHERE) {
    using namespace canopy::kernel;
    static_assert(RoundOperation::supports<T>, "Rint: this element type is not supported");
    apply("Rint", RoundOperation{}, count, &sharedTmpBuffer, where, named("dst", dst), named("src", src));
}
template <const RintConfig& config = DEFAULT_RINT_CONFIG, typename T>
inline void Rint(const LocalTensor<T>& dst, const LocalTensor<T>& src, const uint32_t count, CANOPY_WHERE) {
    using namespace canopy::kernel;
    static_assert(RoundOperation::supports<T>, "Rint: this element type is not supported");
    apply("Rint", RoundOperation{}, count, nullptr, where, named("dst", dst), named("src", src));
}

// dst0 = sin(src), dst1 = cos(src). dst0 may be the source, so the cosine comes first.
template <const SinCosConfig& config = DEFAULT_SINCOS_CONFIG, typename T>
inline void SinCos(const LocalTensor<T>& dst0, const LocalTensor<T>& dst1, const LocalTensor<T>& src,
                   const LocalTensor<uint8_t>& sharedTmpBuffer, const uint32_t count, CANOPY_WHERE) {
    using namespace canopy::kernel;
    static_assert(is_real<T>, "SinCos: this element type is not supported");
    if (on_cube_core()) return;
    const Instruction instruction(PIPE_V, "SinCos", where);
    check_operands("SinCos", count, where, named("dst0", dst0));
    if constexpr (is_checking_variant) check_operands("SinCos", count, where, named("dst1", dst1), named("src", src));
    check_scratch("SinCos", &sharedTmpBuffer, where, named("dst0", dst0));
    apply("SinCos", SineOperation<true, 1>{}, count, &sharedTmpBuffer, where, named("dst1", dst1), named("src", src));
    apply("SinCos", SineOperation<true, 0>{}, count, nullptr, where, named("dst0", dst0), named("src", src));
}
template <const SinCosConfig& config = DEFAULT_SINCOS_CONFIG, typename T>
inline void SinCos(const LocalTensor<T>& dst0, const LocalTensor<T>& dst1, const LocalTensor<T>& src,
                   const uint32_t count, CANOPY_WHERE) {
    using namespace canopy::kernel;
    static_assert(is_real<T>, "SinCos: this element type is not supported");
    if (on_cube_core()) return;
    const Instruction instruction(PIPE_V, "SinCos", where);
    check_operands("SinCos", count, where, named("dst0", dst0));
    if constexpr (is_checking_variant) check_operands("SinCos", count, where, named("dst1", dst1), named("src", src));
    apply("SinCos", SineOperation<true, 1>{}, count, nullptr, where, named("dst1", dst1), named("src", src));
    apply("SinCos", SineOperation<true, 0>{}, count, nullptr, where, named("dst0", dst0), named("src", src));
}

}  // namespace AscendC

#endif
