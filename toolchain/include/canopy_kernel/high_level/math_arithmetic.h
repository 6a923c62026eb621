// SPDX-License-Identifier: Apache-2.0
// Arithmetic on two and three operands: powers, remainders, clamping, a product and a sum rounded once.
#ifndef CANOPY_KERNEL_MATH_ARITHMETIC_H
#define CANOPY_KERNEL_MATH_ARITHMETIC_H

#include "canopy_kernel/core/functions.h"
#include "canopy_kernel/high_level/operands.h"

namespace AscendC {

enum class PowerAlgo { INTRINSIC = 0, DOUBLE_FLOAT_TECH = 1 };
struct PowerConfig {
    PowerAlgo algo = PowerAlgo::INTRINSIC;
};
inline constexpr PowerConfig defaultPowerConfig = {PowerAlgo::INTRINSIC};

// NORMAL rounds the quotient, the product and the difference; ITERATION_COMPENSATION is exact.
enum class FmodAlgo { NORMAL = 0, ITERATION_COMPENSATION = 1 };
inline constexpr uint32_t FMOD_ITERATION_NUM_MAX = 11;
struct FmodConfig {
    FmodAlgo algo = FmodAlgo::NORMAL;
    uint32_t iterationNum = FMOD_ITERATION_NUM_MAX;
};
inline constexpr FmodConfig DEFAULT_FMOD_CONFIG = {FmodAlgo::NORMAL, FMOD_ITERATION_NUM_MAX};

struct FmaConfig {
    bool isReuseSource;
};
inline constexpr FmaConfig DEFAULT_FMA_CONFIG = {false};
struct ClampConfig {
    bool isReuseSource;
};
inline constexpr ClampConfig DEFAULT_CLAMP_CONFIG = {false};

}  // namespace AscendC

namespace canopy::kernel {

struct PowerOperation {
    template <class T>
    static constexpr bool supports = is_any_of<T, half, float, int32_t> || (any_type_chip && is_arithmetic<T>);
    template <class T>
    T operator()(T x, T y) const {
        if constexpr (is_floating<T>)
            return math::power(x, y);
        else
            return math::integer_power(x, y);
    }
};
template <class W>
struct PowerWithExponent {
    W exponent;
    W operator()(W x) const { return PowerOperation{}(x, exponent); }
};
template <class W>
struct PowerOfBase {
    W base;
    W operator()(W y) const { return PowerOperation{}(base, y); }
};

// Zero steps: as written.
template <uint32_t steps>
struct FmodOperation {
    template <class T>
    static constexpr bool supports = is_real<T>;
    static_assert(steps <= AscendC::FMOD_ITERATION_NUM_MAX, "Fmod: iterationNum is at most FMOD_ITERATION_NUM_MAX");
    float operator()(float a, float b) const {
        if constexpr (steps == 0)
            return a - math::truncate(a / b) * b;
        else
            return math::exact_remainder<steps>(a, b);
    }
};

struct HypotOperation {
    template <class T>
    static constexpr bool supports = is_real<T>;
    float operator()(float a, float b) const { return math::hypotenuse(a, b); }
};

struct XorOperation {
    template <class T>
    static constexpr bool supports = is_any_of<T, int16_t, uint16_t> || (any_type_chip && is_integer<T>);
    template <class T>
    T operator()(T a, T b) const {
        return static_cast<T>(a ^ b);
    }
};

template <class T>
struct FmaOperation {
    float operator()(float a, float b, float c) const { return math::multiply_add<T>(a, b, c); }
};

// A NaN stays NaN; if the bounds are crossed, every number becomes the upper one.
struct ClampOperation {
    template <class T>
    static constexpr bool supports = is_half_or_float<T> || (any_type_chip && is_arithmetic<T>);
    template <class T>
    T operator()(T x, T low, T high) const {
        const T raised = x < low ? low : x;
        return raised > high ? high : raised;
    }
};
template <bool upper, class W>
struct OneSidedClamp {
    W bound;
    W operator()(W x) const { return upper ? (x > bound ? bound : x) : (x < bound ? bound : x); }
};

constexpr uint32_t fmod_steps(const AscendC::FmodConfig& config) {
    return config.algo == AscendC::FmodAlgo::NORMAL ? 0 : config.iterationNum;
}

}  // namespace canopy::kernel

namespace AscendC {

CANOPY_BINARY_FORMS(Power, PowerOperation{}, check_nothing, const PowerConfig& config = defaultPowerConfig)
CANOPY_BINARY_FORMS(Hypot, HypotOperation{}, check_nothing)
CANOPY_BINARY_FORMS(Xor, XorOperation{}, check_nothing)
CANOPY_BINARY_FORMS(Fmod, FmodOperation<canopy::kernel::fmod_steps(config)>{}, check_same_size,
                    const FmodConfig& config = DEFAULT_FMOD_CONFIG)

// A scalar exponent or base.
#define CANOPY_POWER_FORMS(First, Second, source, operation)                                                           \
    template <typename T, bool isReuseSource = false, const PowerConfig& config = defaultPowerConfig>                  \
    inline void Power(const LocalTensor<T>& dstTensor, First src0, Second src1,                                        \
                      const LocalTensor<uint8_t>& sharedTmpBuffer, uint32_t calCount, CANOPY_WHERE) {                  \
        using namespace canopy::kernel;                                                                                \
        static_assert(PowerOperation::supports<T>, "Power: this element type is not supported");                       \
        apply("Power", operation, calCount, &sharedTmpBuffer, where, named("dst", dstTensor), named(#source, source)); \
    }                                                                                                                  \
    template <typename T, bool isReuseSource = false, const PowerConfig& config = defaultPowerConfig>                  \
    inline void Power(const LocalTensor<T>& dstTensor, First src0, Second src1,                                        \
                      const LocalTensor<uint8_t>& sharedTmpBuffer, CANOPY_WHERE) {                                     \
        using namespace canopy::kernel;                                                                                \
        static_assert(PowerOperation::supports<T>, "Power: this element type is not supported");                       \
        apply("Power", operation, source.GetSize(), &sharedTmpBuffer, where, named("dst", dstTensor),                  \
              named(#source, source));                                                                                 \
    }                                                                                                                  \
    template <typename T, bool isReuseSource = false, const PowerConfig& config = defaultPowerConfig>                  \
    inline void Power(const LocalTensor<T>& dstTensor, First src0, Second src1, uint32_t calCount, CANOPY_WHERE) {     \
        using namespace canopy::kernel;                                                                                \
        static_assert(PowerOperation::supports<T>, "Power: this element type is not supported");                       \
        apply("Power", operation, calCount, nullptr, where, named("dst", dstTensor), named(#source, source));          \
    }                                                                                                                  \
    template <typename T, bool isReuseSource = false, const PowerConfig& config = defaultPowerConfig>                  \
    inline void Power(const LocalTensor<T>& dstTensor, First src0, Second src1, CANOPY_WHERE) {                        \
        using namespace canopy::kernel;                                                                                \
        static_assert(PowerOperation::supports<T>, "Power: this element type is not supported");                       \
        apply("Power", operation, source.GetSize(), nullptr, where, named("dst", dstTensor), named(#source, source));  \
    }

CANOPY_POWER_FORMS(const LocalTensor<T>&, const canopy::kernel::plain<T>&, src0,
                   PowerWithExponent<Wide<T>>{widen(src1)})
CANOPY_POWER_FORMS(const canopy::kernel::plain<T>&, const LocalTensor<T>&, src1, PowerOfBase<Wide<T>>{widen(src0)})

#undef CANOPY_POWER_FORMS

template <const FmaConfig& config = DEFAULT_FMA_CONFIG, typename T>
inline void Fma(const LocalTensor<T>& dst, const LocalTensor<T>& src0, const LocalTensor<T>& src1,
                const LocalTensor<T>& src2, const LocalTensor<uint8_t>& sharedTmpBuffer, const uint32_t count,
                CANOPY_WHERE) {
    using namespace canopy::kernel;
    static_assert(is_real<T>, "Fma: this element type is not supported");
    apply("Fma", FmaOperation<T>{}, count, &sharedTmpBuffer, where, named("dst", dst), named("src0", src0),
          named("src1", src1), named("src2", src2));
}
template <const FmaConfig& config = DEFAULT_FMA_CONFIG, typename T>
inline void Fma(const LocalTensor<T>& dst, const LocalTensor<T>& src0, const LocalTensor<T>& src1,
                const LocalTensor<T>& src2, const uint32_t count, CANOPY_WHERE) {
    using namespace canopy::kernel;
    static_assert(is_real<T>, "Fma: this element type is not supported");
    apply("Fma", FmaOperation<T>{}, count, nullptr, where, named("dst", dst), named("src0", src0), named("src1", src1),
          named("src2", src2));
}

// dst = min(max(src, min), max); the bounds are numbers or tensors.
template <const ClampConfig& config = DEFAULT_CLAMP_CONFIG, typename T, typename U, typename S>
inline void Clamp(const LocalTensor<T>& dst, const LocalTensor<T>& src, const U& min, const S& max,
                  const uint32_t count, CANOPY_WHERE) {
    using namespace canopy::kernel;
    static_assert(ClampOperation::supports<T>, "Clamp: this element type is not supported");
    apply_mixed("Clamp", ClampOperation{}, count, where, named("dst", dst), named("src", src), mixed<T>("min", min),
                mixed<T>("max", max));
}

#define CANOPY_ONE_SIDED_CLAMP(Name, upper)                                                                           \
    template <typename T, bool isReuseSource = false>                                                                 \
    inline void Name(const LocalTensor<T>& dstTensor, const LocalTensor<T>& srcTensor,                                \
                     const LocalTensor<uint8_t>& sharedTmpBuffer, const canopy::kernel::plain<T> scalar,              \
                     const uint32_t calCount, CANOPY_WHERE) {                                                         \
        using namespace canopy::kernel;                                                                               \
        static_assert(ClampOperation::supports<T>, #Name ": this element type is not supported");                     \
        apply(#Name, OneSidedClamp<upper, Wide<T>>{widen(scalar)}, calCount, &sharedTmpBuffer, where,                 \
              named("dst", dstTensor), named("src", srcTensor));                                                      \
    }                                                                                                                 \
    template <typename T, bool isReuseSource = false>                                                                 \
    inline void Name(const LocalTensor<T>& dstTensor, const LocalTensor<T>& srcTensor,                                \
                     const canopy::kernel::plain<T> scalar, const uint32_t calCount, CANOPY_WHERE) {                  \
        using namespace canopy::kernel;                                                                               \
        static_assert(ClampOperation::supports<T>, #Name ": this element type is not supported");                     \
        apply(#Name, OneSidedClamp<upper, Wide<T>>{widen(scalar)}, calCount, nullptr, where, named("dst", dstTensor), \
              named("src", srcTensor));                                                                               \
    }

CANOPY_ONE_SIDED_CLAMP(ClampMax, true)
CANOPY_ONE_SIDED_CLAMP(ClampMin, false)

#undef CANOPY_ONE_SIDED_CLAMP

}  // namespace AscendC

#endif
