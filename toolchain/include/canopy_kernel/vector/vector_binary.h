// SPDX-License-Identifier: Apache-2.0
// Vector operations with two sources of the destination's type: arithmetic, extremes and bits.
#ifndef CANOPY_KERNEL_VECTOR_BINARY_H
#define CANOPY_KERNEL_VECTOR_BINARY_H

#include "canopy_kernel/vector/algorithms.h"
#include "canopy_kernel/vector/elementwise.h"

namespace canopy::kernel {

struct AddOperation {
    template <class T>
    static constexpr bool supports = is_arithmetic<T>;
    template <class T>
    T operator()(T a, T b) const {
        return static_cast<T>(static_cast<Modular<T>>(a) + static_cast<Modular<T>>(b));
    }
};

struct SubOperation {
    template <class T>
    static constexpr bool supports = is_arithmetic<T>;
    template <class T>
    T operator()(T a, T b) const {
        return static_cast<T>(static_cast<Modular<T>>(a) - static_cast<Modular<T>>(b));
    }
};

struct MulOperation {
    template <class T>
    static constexpr bool supports = is_arithmetic<T>;
    template <class T>
    T operator()(T a, T b) const {
        return static_cast<T>(static_cast<Modular<T>>(a) * static_cast<Modular<T>>(b));
    }
};

// Integers: division by zero gives all ones; the one quotient that overflows gives the dividend.
struct DivOperation {
    template <class T>
    static constexpr bool supports = is_any_of<T, half, float> ||
                                     (any_type_chip && (is_integer<T> || is_same<T, bfloat16_t>));
    template <class T>
    T operator()(T a, T b) const {
        if constexpr (is_floating<T>) {
            return a / b;
        } else if constexpr (is_unsigned_integer<T>) {
            const T quotient = static_cast<T>(a / (b == 0 ? T(1) : b));
            return b == 0 ? static_cast<T>(~T(0)) : quotient;
        } else {
            const bool special = b == 0 || b == T(-1);
            const T quotient = static_cast<T>(a / (special ? T(1) : b));
            const T negated = static_cast<T>(Modular<T>(0) - static_cast<Modular<T>>(a));
            return b == 0 ? T(-1) : b == T(-1) ? negated : quotient;
        }
    }
};

struct MaxOperation {
    template <class T>
    static constexpr bool supports = is_arithmetic<T>;
    template <class T>
    T operator()(T a, T b) const {
        return math::maximum(a, b);
    }
};

struct MinOperation {
    template <class T>
    static constexpr bool supports = is_arithmetic<T>;
    template <class T>
    T operator()(T a, T b) const {
        return math::minimum(a, b);
    }
};

struct AndOperation {
    template <class T>
    static constexpr bool supports = is_bitwise<T>;
    template <class T>
    T operator()(T a, T b) const {
        return static_cast<T>(a & b);
    }
};

struct OrOperation {
    template <class T>
    static constexpr bool supports = is_bitwise<T>;
    template <class T>
    T operator()(T a, T b) const {
        return static_cast<T>(a | b);
    }
};

template <class T>
inline constexpr bool is_rectified = is_any_of<T, half, float, int16_t> ||
                                     (any_type_chip && (is_signed_integer<T> || is_same<T, bfloat16_t>));

template <class T>
constexpr T rectify(T x) {
    return x <= T(0) ? T(0) : x;
}

struct AddReluOperation {
    template <class T>
    static constexpr bool supports = is_rectified<T>;
    template <class T>
    T operator()(T a, T b) const {
        return rectify(AddOperation{}(a, b));
    }
};

struct SubReluOperation {
    template <class T>
    static constexpr bool supports = is_rectified<T>;
    template <class T>
    T operator()(T a, T b) const {
        return rectify(SubOperation{}(a, b));
    }
};

template <bool set, class Operation, class D, class A, class B, class Mask>
inline void binary_masked(const char* name, const LocalTensor<D>& dst, const LocalTensor<A>& src0,
                          const LocalTensor<B>& src1, Mask mask, uint8_t repeats, const BinaryRepeatParams& strides,
                          const Operation& operation, Where where) {
    const Selection selection = select<set>(lanes<D, A, B>, mask, repeats);
    const auto to = target(dst, strides.dstBlkStride, strides.dstRepStride);
    const auto left = source(src0, strides.src0BlkStride, strides.src0RepStride);
    const auto right = source(src1, strides.src1BlkStride, strides.src1RepStride);
    const Instruction instruction(PIPE_V, name, where);
    check_strided(dst, to, selection, name, "dst", where);
    check_strided(src0, left, selection, name, "src0", where);
    check_strided(src1, right, selection, name, "src1", where);
    instruction.tell();
    compute_strided(operation, selection, to, left, right);
}

template <class Operation, class D, class A, class B>
inline void binary_counted(const char* name, const LocalTensor<D>& dst, const LocalTensor<A>& src0,
                           const LocalTensor<B>& src1, int32_t count, const Operation& operation, Where where) {
    const Instruction instruction(PIPE_V, name, where);
    check_count(dst, count, name, "dst", where);
    check_count(src0, count, name, "src0", where);
    check_count(src1, count, name, "src1", where);
    instruction.tell();
    compute_count(operation, count, dst, src0, src1);
}

}  // namespace canopy::kernel

namespace AscendC {

#define CANOPY_BINARY(Name)                                                                                            \
    template <class T, const auto&... config>                                                                          \
    inline void Name(const LocalTensor<T>& dst, const LocalTensor<T>& src0, const LocalTensor<T>& src1,                \
                     const int32_t& count, CANOPY_WHERE) {                                                             \
        using Operation = canopy::kernel::Name##Operation;                                                             \
        static_assert(Operation::supports<T>, #Name ": this element type is not supported on this chip");              \
        canopy::kernel::binary_counted(#Name, dst, src0, src1, count, Operation{}, where);                             \
    }                                                                                                                  \
    template <class T, bool isSetMask = true, const auto&... config>                                                   \
    inline void Name(const LocalTensor<T>& dst, const LocalTensor<T>& src0, const LocalTensor<T>& src1,                \
                     const uint64_t mask[], const uint8_t repeatTime, const BinaryRepeatParams& repeatParams,          \
                     CANOPY_WHERE) {                                                                                   \
        using Operation = canopy::kernel::Name##Operation;                                                             \
        static_assert(Operation::supports<T>, #Name ": this element type is not supported on this chip");              \
        canopy::kernel::binary_masked<isSetMask>(#Name, dst, src0, src1, mask, repeatTime, repeatParams, Operation{},  \
                                                 where);                                                               \
    }                                                                                                                  \
    template <class T, bool isSetMask = true, const auto&... config>                                                   \
    inline void Name(const LocalTensor<T>& dst, const LocalTensor<T>& src0, const LocalTensor<T>& src1, uint64_t mask, \
                     const uint8_t repeatTime, const BinaryRepeatParams& repeatParams, CANOPY_WHERE) {                 \
        using Operation = canopy::kernel::Name##Operation;                                                             \
        static_assert(Operation::supports<T>, #Name ": this element type is not supported on this chip");              \
        canopy::kernel::binary_masked<isSetMask>(#Name, dst, src0, src1, mask, repeatTime, repeatParams, Operation{},  \
                                                 where);                                                               \
    }

CANOPY_BINARY(Add)
CANOPY_BINARY(Sub)
CANOPY_BINARY(Mul)
CANOPY_BINARY(Div)
CANOPY_BINARY(Max)
CANOPY_BINARY(Min)
CANOPY_BINARY(And)
CANOPY_BINARY(Or)
CANOPY_BINARY(AddRelu)
CANOPY_BINARY(SubRelu)

#undef CANOPY_BINARY

}  // namespace AscendC

#endif
