// SPDX-License-Identifier: Apache-2.0
// Vector operations with one source: absolute value, exponential, logarithm, roots, complement and rectification.
#ifndef CANOPY_KERNEL_VECTOR_UNARY_H
#define CANOPY_KERNEL_VECTOR_UNARY_H

#include "canopy_kernel/vector/algorithms.h"
#include "canopy_kernel/vector/elementwise.h"

namespace canopy::kernel {

template <class T>
inline constexpr bool is_transcendental = is_any_of<T, half, float> || (any_type_chip && is_same<T, bfloat16_t>);

struct AbsOperation {
    template <class T>
    static constexpr bool supports = is_any_of<T, half, float> ||
                                     (any_type_chip && (is_signed_integer<T> || is_same<T, bfloat16_t>));
    template <class T>
    T operator()(T x) const {
        if constexpr (is_same<T, float>)
            return math::absolute(x);
        else
            return static_cast<T>(x < 0 ? Modular<T>(0) - static_cast<Modular<T>>(x) : static_cast<Modular<T>>(x));
    }
    int16_t on_bits(int16_t x) const { return static_cast<int16_t>(x & 0x7fff); }
};

struct NegOperation {
    template <class T>
    static constexpr bool supports = is_classic<T> ||
                                     (any_type_chip && (is_signed_integer<T> || is_same<T, bfloat16_t>));
    template <class T>
    T operator()(T x) const {
        if constexpr (is_same<T, float>)
            return -x;
        else
            return static_cast<T>(Modular<T>(0) - static_cast<Modular<T>>(x));
    }
    int16_t on_bits(int16_t x) const { return static_cast<int16_t>(x ^ 0x8000); }
};

struct ExpOperation {
    template <class T>
    static constexpr bool supports = is_transcendental<T>;
    float operator()(float x) const { return math::exp(x); }
};

// e^floor(x) times the first terms of the series of the rest, up to the power `level`; level 0 is e^x.
template <uint8_t level>
struct ExpSeriesOperation {
    float operator()(float x) const {
        if constexpr (level == 0) {
            return math::exp(x);
        } else {
            const float whole = math::floor(x);
            const double rest = static_cast<double>(x - whole);
            double sum = 1.0;
#pragma clang loop unroll(full)
            for (int power = level; power > 0; --power) sum = sum * (rest * (1.0 / power)) + 1.0;
            const auto value = static_cast<float>(sum * math::exp_to_double(whole));
            return math::absolute(x) == __builtin_inff() ? math::exp(x) : value;
        }
    }
};

struct LnOperation {
    template <class T>
    static constexpr bool supports = is_transcendental<T>;
    float operator()(float x) const { return math::log(x); }
};

struct SqrtOperation {
    template <class T>
    static constexpr bool supports = is_transcendental<T>;
    float operator()(float x) const { return math::square_root(x); }
};

struct RsqrtOperation {
    template <class T>
    static constexpr bool supports = is_transcendental<T>;
    float operator()(float x) const { return 1.0f / math::square_root(x); }
};

struct ReciprocalOperation {
    template <class T>
    static constexpr bool supports = is_transcendental<T>;
    float operator()(float x) const { return 1.0f / x; }
};

struct NotOperation {
    template <class T>
    static constexpr bool supports = is_bitwise<T>;
    template <class T>
    T operator()(T x) const {
        return static_cast<T>(~x);
    }
};

struct ReluOperation {
    template <class T>
    static constexpr bool supports = is_any_of<T, half, float, int32_t> ||
                                     (any_type_chip && (is_signed_integer<T> || is_same<T, bfloat16_t>));
    template <class T>
    T operator()(T x) const {
        return x <= T(0) ? T(0) : x;  // a NaN stays NaN
    }
    // The numbers up to -0 are the smallest integers, down to -infinity; negative NaN follow.
    int16_t on_bits(int16_t x) const { return x <= static_cast<int16_t>(0xfc00) ? int16_t{0} : x; }
};

// `numbers` are operands of which only the first element is used if they are tensors.
template <bool set, class Operation, class T, class Mask, class... Numbers>
inline void unary_masked(const char* name, const LocalTensor<T>& dst, const LocalTensor<T>& src, Mask mask,
                         uint8_t repeats, const UnaryRepeatParams& strides, const Operation& operation, Where where,
                         const Numbers&... numbers) {
    const Selection selection = select<set>(lanes<T>, mask, repeats);
    const auto to = target(dst, strides.dstBlkStride, strides.dstRepStride);
    const auto from = source(src, strides.srcBlkStride, strides.srcRepStride);
    const Instruction instruction(PIPE_V, name, where);
    check_strided(dst, to, selection, name, "dst", where);
    check_strided(src, from, selection, name, "src", where);
    (name_number(numbers), ...);
    instruction.tell();
    compute_strided(operation, selection, to, from);
}

template <class Operation, class T, class... Numbers>
inline void unary_counted(const char* name, const LocalTensor<T>& dst, const LocalTensor<T>& src, int32_t count,
                          const Operation& operation, Where where, const Numbers&... numbers) {
    const Instruction instruction(PIPE_V, name, where);
    check_count(dst, count, name, "dst", where);
    check_count(src, count, name, "src", where);
    (name_number(numbers), ...);
    instruction.tell();
    compute_count(operation, count, dst, src);
}

}  // namespace canopy::kernel

namespace AscendC {

// The three forms of an operation: a count of elements; the bits of a mask; a number of leading lanes. Configuration
// objects that choose a hardware algorithm are accepted, but there is only one algorithm here.
#define CANOPY_UNARY(Name)                                                                                            \
    template <class T, const auto&... config>                                                                         \
    inline void Name(const LocalTensor<T>& dst, const LocalTensor<T>& src, const int32_t& count, CANOPY_WHERE) {      \
        using Operation = canopy::kernel::Name##Operation;                                                            \
        static_assert(Operation::supports<T>, #Name ": this element type is not supported on this chip");             \
        canopy::kernel::unary_counted(#Name, dst, src, count, Operation{}, where);                                    \
    }                                                                                                                 \
    template <class T, bool isSetMask = true, const auto&... config>                                                  \
    inline void Name(const LocalTensor<T>& dst, const LocalTensor<T>& src, const uint64_t mask[],                     \
                     const uint8_t repeatTime, const UnaryRepeatParams& repeatParams, CANOPY_WHERE) {                 \
        using Operation = canopy::kernel::Name##Operation;                                                            \
        static_assert(Operation::supports<T>, #Name ": this element type is not supported on this chip");             \
        canopy::kernel::unary_masked<isSetMask>(#Name, dst, src, mask, repeatTime, repeatParams, Operation{}, where); \
    }                                                                                                                 \
    template <class T, bool isSetMask = true, const auto&... config>                                                  \
    inline void Name(const LocalTensor<T>& dst, const LocalTensor<T>& src, uint64_t mask, const uint8_t repeatTime,   \
                     const UnaryRepeatParams& repeatParams, CANOPY_WHERE) {                                           \
        using Operation = canopy::kernel::Name##Operation;                                                            \
        static_assert(Operation::supports<T>, #Name ": this element type is not supported on this chip");             \
        canopy::kernel::unary_masked<isSetMask>(#Name, dst, src, mask, repeatTime, repeatParams, Operation{}, where); \
    }

CANOPY_UNARY(Abs)
CANOPY_UNARY(Neg)
CANOPY_UNARY(Exp)
CANOPY_UNARY(Ln)
CANOPY_UNARY(Sqrt)
CANOPY_UNARY(Rsqrt)
CANOPY_UNARY(Reciprocal)
CANOPY_UNARY(Not)
CANOPY_UNARY(Relu)

#undef CANOPY_UNARY

// Exp with a limited number of terms.
template <typename T, uint8_t taylorExpandLevel, bool isReuseSource = false>
inline void Exp(const LocalTensor<T>& dstLocal, const LocalTensor<T>& srcLocal, const uint32_t calCount, CANOPY_WHERE) {
    using Operation = canopy::kernel::ExpSeriesOperation<taylorExpandLevel>;
    static_assert(canopy::kernel::is_any_of<T, half, float>, "Exp: the elements are half or float");
    canopy::kernel::unary_counted("Exp", dstLocal, srcLocal, static_cast<int32_t>(calCount), Operation{}, where);
}
template <typename T, uint8_t taylorExpandLevel, bool isReuseSource = false>
inline void Exp(const LocalTensor<T>& dstLocal, const LocalTensor<T>& srcLocal,
                const LocalTensor<uint8_t>& sharedTmpBuffer, const uint32_t calCount, CANOPY_WHERE) {
    static_cast<void>(sharedTmpBuffer);
    Exp<T, taylorExpandLevel, isReuseSource>(dstLocal, srcLocal, calCount, where);
}

}  // namespace AscendC

#endif
