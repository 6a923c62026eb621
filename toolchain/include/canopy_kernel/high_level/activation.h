// SPDX-License-Identifier: Apache-2.0
// Activation functions of neural networks and their gated forms. All but two are x / (1 + e^-y). An error of y counts
// once for each unit of y in the result, so y is computed in double, or as the sum of two floats, for float, and in
// float for the shorter formats.
#ifndef CANOPY_KERNEL_HIGH_LEVEL_ACTIVATION_H
#define CANOPY_KERNEL_HIGH_LEVEL_ACTIVATION_H

#include "canopy_kernel/core/functions.h"
#include "canopy_kernel/high_level/operands.h"

namespace canopy::kernel {

template <class T>
using Exponent = choose<is_same<T, float>, double, float>;

inline float exp_of(float x) { return math::exp(x); }
inline float exp_of(double x) { return math::exp_of_wide(x); }

// x / (1 + e^-y)
template <class E>
inline float gate(float x, E y) {
    return x / (1.0f + exp_of(-y));
}

// x / (1 + e^-y), where y = linear x + cubic x^3 with the constants of Gelu or nearly those. The exponent to base 2 is
// the sum of two floats: the first constant is short, so that its difference to the rounded sum is exact.
template <const double& linear, const double& cubic>
inline float cubic_gate(float x) {
    using math::fused;
    constexpr double first = -linear * math::log2_of_e, third = -cubic * math::log2_of_e;
    constexpr auto c1 = static_cast<float>(static_cast<int32_t>(first * 0x1p16)) * 0x1p-16f;
    constexpr auto c1_low = static_cast<float>(first - static_cast<double>(c1));
    constexpr auto c3 = static_cast<float>(third), c3_low = static_cast<float>(third - static_cast<double>(c3));
    // Beyond these limits the power of 2 is infinity, or nothing beside 1.
    float a = x < -10.07f ? -10.07f : x;
    a = a > 9.97f ? 9.97f : a;
    const float square = a * a, square_low = fused(a, a, -square);
    const float factor = fused(c3, square, c1);
    const float factor_low = fused(c3, square, c1 - factor) + fused(c3, square_low, fused(c3_low, square, c1_low));
    const float exponent = a * factor, exponent_low = fused(a, factor_low, fused(a, factor, -exponent));
    return x / (1.0f + math::exp2_of_sum(exponent, exponent_low));
}

inline constexpr double gelu_linear = 1.595769122, gelu_cubic = 1.595769122 * 0.044715;
inline constexpr double geglu_linear = 0.0713548163 * 22.36386, geglu_cubic = 0.0713548163;

struct SigmoidOperation {
    template <class T>
    static constexpr bool supports = is_real<T>;
    float operator()(float x) const { return gate(1.0f, x); }
};
struct SiluOperation {
    float operator()(float x) const { return gate(x, x); }
};
template <class E>
struct SwishOperation {
    E beta;
    float operator()(float x) const { return gate(x, beta * static_cast<E>(x)); }
};
struct GeluOperation {
    float operator()(float x) const { return cubic_gate<gelu_linear, gelu_cubic>(x); }
};
template <class E>
struct FasterGeluOperation {
    float operator()(float x) const { return gate(x, static_cast<E>(1.702) * static_cast<E>(x)); }
};
// A parabola instead of the error function, which ends at |x| = 1.769 / 0.7071.
template <class E>
struct FasterGeluV2Operation {
    float operator()(float x) const {
        const E wide = static_cast<E>(x);
        const E reach = static_cast<E>(0.7071) * (wide < 0 ? -wide : wide);
        const E distance = (reach > static_cast<E>(1.769) ? static_cast<E>(1.769) : reach) - static_cast<E>(1.769);
        const E below = static_cast<E>(0.1444) * (distance * distance);
        // The share of x that is left; at a negative x it would cancel if it were computed from its counterpart.
        const E share = wide < 0 ? below : static_cast<E>(1) - below;
        return static_cast<float>(wide * share);
    }
};
struct GeGLUOperation {
    template <class T>
    static constexpr bool supports = is_real<T>;
    float operator()(float a, float b) const { return a * cubic_gate<geglu_linear, geglu_cubic>(b); }
};
template <class E>
struct SwiGLUOperation {
    E beta;
    float operator()(float a, float b) const { return a * gate(b, beta * static_cast<E>(b)); }
};
struct ReGluOperation {
    template <class T>
    static constexpr bool supports = is_real<T>;
    float operator()(float a, float b) const { return a * (b <= 0.0f ? 0.0f : b); }
};

}  // namespace canopy::kernel

namespace AscendC {

CANOPY_UNARY_FORMS(Sigmoid, SigmoidOperation{})
CANOPY_BINARY_FORMS(GeGLU, GeGLUOperation{}, check_nothing)
CANOPY_BINARY_FORMS(ReGlu, ReGluOperation{}, check_same_size)

#define CANOPY_GELU(Name, ...)                                                                                 \
    template <typename T, bool highPrecision = false, bool highPerformance = false>                            \
    inline void Name(const LocalTensor<T>& dstLocal, const LocalTensor<T>& srcLocal,                           \
                     const LocalTensor<uint8_t>& sharedTmpBuffer, const uint32_t dataSize, CANOPY_WHERE) {     \
        using namespace canopy::kernel;                                                                        \
        static_assert(is_real<T>, #Name ": this element type is not supported");                               \
        apply(#Name, Name##Operation __VA_ARGS__{}, dataSize, &sharedTmpBuffer, where, named("dst", dstLocal), \
              named("src", srcLocal));                                                                         \
    }                                                                                                          \
    template <typename T, bool highPrecision = false, bool highPerformance = false>                            \
    inline void Name(const LocalTensor<T>& dstLocal, const LocalTensor<T>& srcLocal, const uint32_t dataSize,  \
                     CANOPY_WHERE) {                                                                           \
        using namespace canopy::kernel;                                                                        \
        static_assert(is_real<T>, #Name ": this element type is not supported");                               \
        apply(#Name, Name##Operation __VA_ARGS__{}, dataSize, nullptr, where, named("dst", dstLocal),          \
              named("src", srcLocal));                                                                         \
    }

CANOPY_GELU(Gelu)
CANOPY_GELU(FasterGelu, <Exponent<T>>)
CANOPY_GELU(FasterGeluV2, <Exponent<T>>)

#undef CANOPY_GELU

template <typename T, bool isReuseSource = false>
inline void Silu(const LocalTensor<T>& dstLocal, const LocalTensor<T>& srcLocal, uint32_t dataSize, CANOPY_WHERE) {
    using namespace canopy::kernel;
    static_assert(is_real<T>, "Silu: this element type is not supported");
    apply("Silu", SiluOperation{}, dataSize, nullptr, where, named("dst", dstLocal), named("src", srcLocal));
}

template <typename T, bool isReuseSource = false>
inline void Swish(const LocalTensor<T>& dstLocal, const LocalTensor<T>& srcLocal, uint32_t dataSize,
                  const canopy::kernel::plain<T> scalarValue, CANOPY_WHERE) {
    using namespace canopy::kernel;
    static_assert(is_real<T>, "Swish: this element type is not supported");
    using E = Exponent<T>;
    apply("Swish", SwishOperation<E>{static_cast<E>(widen(scalarValue))}, dataSize, nullptr, where,
          named("dst", dstLocal), named("src", srcLocal));
}

#define CANOPY_SWIGLU(parameters, count, scratch)                                                             \
    template <typename T, bool isReuseSource = false>                                                         \
    inline void SwiGLU(const LocalTensor<T>& dstTensor, const LocalTensor<T>& srcTensor0,                     \
                       const LocalTensor<T>& srcTensor1, const float& scalarValue parameters, CANOPY_WHERE) { \
        using namespace canopy::kernel;                                                                       \
        static_assert(is_real<T>, "SwiGLU: this element type is not supported");                              \
        using E = Exponent<T>;                                                                                \
        apply("SwiGLU", SwiGLUOperation<E>{static_cast<E>(scalarValue)}, count, scratch, where,               \
              named("dst", dstTensor), named("src0", srcTensor0), named("src1", srcTensor1));                 \
    }
#define CANOPY_COMMA ,

CANOPY_SWIGLU(, srcTensor0.GetSize(), nullptr)
CANOPY_SWIGLU(CANOPY_COMMA const LocalTensor<uint8_t>& sharedTmpBuffer, srcTensor0.GetSize(), &sharedTmpBuffer)
CANOPY_SWIGLU(CANOPY_COMMA const uint32_t calCount, calCount, nullptr)
CANOPY_SWIGLU(CANOPY_COMMA const LocalTensor<uint8_t>& sharedTmpBuffer CANOPY_COMMA const uint32_t calCount, calCount,
              &sharedTmpBuffer)

#undef CANOPY_COMMA
#undef CANOPY_SWIGLU

}  // namespace AscendC

#endif
