// SPDX-License-Identifier: Apache-2.0
// Activation functions of neural networks and their gated forms. All but two are x / (1 + e^-y). An error of y counts
// once for each unit of y in the result, so y is computed in double for float, and in float for the shorter formats.
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

// y of the form of Gelu with the hyperbolic tangent.
template <class E>
inline E gelu_exponent(E x) {
    return static_cast<E>(1.595769122) * (x + static_cast<E>(0.044715) * (x * x * x));
}
template <class E>
inline E geglu_exponent(E x) {
    return static_cast<E>(0.0713548163) * (x * x * x + static_cast<E>(22.36386) * x);
}

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
template <class E>
struct GeluOperation {
    float operator()(float x) const { return gate(x, gelu_exponent(static_cast<E>(x))); }
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
template <class E>
struct GeGLUOperation {
    template <class T>
    static constexpr bool supports = is_real<T>;
    float operator()(float a, float b) const { return a * gate(b, geglu_exponent(static_cast<E>(b))); }
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
CANOPY_BINARY_FORMS(GeGLU, GeGLUOperation<canopy::kernel::Exponent<T>>{}, check_nothing)
CANOPY_BINARY_FORMS(ReGlu, ReGluOperation{}, check_same_size)

#define CANOPY_GELU(Name)                                                                                       \
    template <typename T, bool highPrecision = false, bool highPerformance = false>                             \
    inline void Name(const LocalTensor<T>& dstLocal, const LocalTensor<T>& srcLocal,                            \
                     const LocalTensor<uint8_t>& sharedTmpBuffer, const uint32_t dataSize, CANOPY_WHERE) {      \
        using namespace canopy::kernel;                                                                         \
        static_assert(is_real<T>, #Name ": this element type is not supported");                                \
        apply(#Name, Name##Operation<Exponent<T>>{}, dataSize, &sharedTmpBuffer, where, named("dst", dstLocal), \
              named("src", srcLocal));                                                                          \
    }                                                                                                           \
    template <typename T, bool highPrecision = false, bool highPerformance = false>                             \
    inline void Name(const LocalTensor<T>& dstLocal, const LocalTensor<T>& srcLocal, const uint32_t dataSize,   \
                     CANOPY_WHERE) {                                                                            \
        using namespace canopy::kernel;                                                                         \
        static_assert(is_real<T>, #Name ": this element type is not supported");                                \
        apply(#Name, Name##Operation<Exponent<T>>{}, dataSize, nullptr, where, named("dst", dstLocal),          \
              named("src", srcLocal));                                                                          \
    }

CANOPY_GELU(Gelu)
CANOPY_GELU(FasterGelu)
CANOPY_GELU(FasterGeluV2)

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
