// SPDX-License-Identifier: Apache-2.0
// Vector operations that fuse two steps: products added to the destination, and functions of a difference.
// A result of a 16-bit type is rounded once; products and sums of floats are rounded separately.
#ifndef CANOPY_KERNEL_VECTOR_TERNARY_H
#define CANOPY_KERNEL_VECTOR_TERNARY_H

#include "canopy_kernel/vector/vector_scalar.h"

namespace canopy::kernel {

template <class T>
inline constexpr bool is_fusable = is_any_of<T, half, float> || (any_type_chip && is_arithmetic<T>);

// Operands of one type, or half sources with a float destination.
template <class D, class S>
inline constexpr bool are_fusable = (is_same<D, S> && is_fusable<D>) || (is_same<D, float> && is_same<S, half>);

struct MulAddDstOperation {
    template <class D, class S>
    static constexpr bool supports = are_fusable<D, S>;
    template <class D, class S>
    D operator()(D old, S a, S b) const {
        return AddOperation{}(MulOperation{}(static_cast<D>(a), static_cast<D>(b)), old);
    }
};

struct FusedMulAddOperation {
    template <class D, class S>
    static constexpr bool supports = is_same<D, S>&& is_fusable<D>;
    template <class D>
    D operator()(D old, D a, D b) const {
        return AddOperation{}(MulOperation{}(a, old), b);
    }
};

struct FusedMulAddReluOperation {
    template <class D, class S>
    static constexpr bool supports = is_same<D, S>&& is_any_of<D, half, float>;
    template <class D>
    D operator()(D old, D a, D b) const {
        return rectify(FusedMulAddOperation{}(old, a, b));
    }
};

struct FusedExpSubOperation {
    template <class D, class S>
    static constexpr bool supports = is_any_of<D, half, float>&& is_any_of<S, half, float>;
    float operator()(float a, float b) const { return math::exp(a - b); }
};

struct FusedAbsSubOperation {
    template <class D, class S>
    static constexpr bool supports = is_same<D, S>&& is_any_of<D, half, float>;
    float operator()(float a, float b) const { return math::absolute(a - b); }
};

template <class W>
struct AxpyOperation {
    W factor;
    template <class S>
    W operator()(W old, S x) const {
        return AddOperation{}(MulOperation{}(static_cast<W>(x), factor), old);
    }
};

// The destination is also a source.
template <bool set, class Operation, class D, class A, class B, class Mask>
inline void updating_masked(const char* name, const LocalTensor<D>& dst, const LocalTensor<A>& src0,
                            const LocalTensor<B>& src1, Mask mask, uint8_t repeats, const BinaryRepeatParams& strides,
                            const Operation& operation, Where where) {
    const Selection selection = select<set>(lanes<D, A, B>, mask, repeats);
    const auto to = target(dst, strides.dstBlkStride, strides.dstRepStride);
    const auto left = source(src0, strides.src0BlkStride, strides.src0RepStride);
    const auto right = source(src1, strides.src1BlkStride, strides.src1RepStride);
    const Instruction instruction(PIPE_V, name, where);
    check_strided(dst, to, selection, name, "dst", where, CANOPY_CHECK_READ_WRITE);
    check_strided(src0, left, selection, name, "src0", where);
    check_strided(src1, right, selection, name, "src1", where);
    instruction.tell();
    const uint32_t blocks = strides.dstBlkStride == 0 ? 1 : strides.dstBlkStride;
    compute_strided(operation, selection, to, source(dst, blocks, strides.dstRepStride), left, right);
}

template <class Operation, class D, class A, class B>
inline void updating_counted(const char* name, const LocalTensor<D>& dst, const LocalTensor<A>& src0,
                             const LocalTensor<B>& src1, int32_t count, const Operation& operation, Where where) {
    const Instruction instruction(PIPE_V, name, where);
    check_count(dst, count, name, "dst", where, CANOPY_CHECK_READ_WRITE);
    check_count(src0, count, name, "src0", where);
    check_count(src1, count, name, "src1", where);
    instruction.tell();
    compute_count(operation, count, dst, dst, src0, src1);
}

template <bool set, class D, class S, class Mask>
inline void axpy_masked(const LocalTensor<D>& dst, const LocalTensor<S>& src, Wide<D> factor, Mask mask,
                        uint8_t repeats, const UnaryRepeatParams& strides, Where where) {
    const Selection selection = select<set>(lanes<D, S>, mask, repeats);
    const auto to = target(dst, strides.dstBlkStride, strides.dstRepStride);
    const auto from = source(src, strides.srcBlkStride, strides.srcRepStride);
    const Instruction instruction(PIPE_V, "Axpy", where);
    check_strided(dst, to, selection, "Axpy", "dst", where, CANOPY_CHECK_READ_WRITE);
    check_strided(src, from, selection, "Axpy", "src", where);
    instruction.tell();
    const uint32_t blocks = strides.dstBlkStride == 0 ? 1 : strides.dstBlkStride;
    compute_strided(AxpyOperation<Wide<D>>{factor}, selection, to, source(dst, blocks, strides.dstRepStride), from);
}

}  // namespace canopy::kernel

namespace AscendC {

#define CANOPY_TERNARY(Name, engine)                                                                                   \
    template <class T, class U, const auto&... config>                                                                 \
    inline void Name(const LocalTensor<T>& dst, const LocalTensor<U>& src0, const LocalTensor<U>& src1,                \
                     const int32_t& count, CANOPY_WHERE) {                                                             \
        using Operation = canopy::kernel::Name##Operation;                                                             \
        static_assert(Operation::supports<T, U>, #Name ": these element types are not supported on this chip");        \
        canopy::kernel::engine##_counted(#Name, dst, src0, src1, count, Operation{}, where);                           \
    }                                                                                                                  \
    template <class T, class U, bool isSetMask = true, const auto&... config>                                          \
    inline void Name(const LocalTensor<T>& dst, const LocalTensor<U>& src0, const LocalTensor<U>& src1,                \
                     const uint64_t mask[], const uint8_t repeatTime, const BinaryRepeatParams& repeatParams,          \
                     CANOPY_WHERE) {                                                                                   \
        using Operation = canopy::kernel::Name##Operation;                                                             \
        static_assert(Operation::supports<T, U>, #Name ": these element types are not supported on this chip");        \
        canopy::kernel::engine##_masked<isSetMask>(#Name, dst, src0, src1, mask, repeatTime, repeatParams,             \
                                                   Operation{}, where);                                                \
    }                                                                                                                  \
    template <class T, class U, bool isSetMask = true, const auto&... config>                                          \
    inline void Name(const LocalTensor<T>& dst, const LocalTensor<U>& src0, const LocalTensor<U>& src1, uint64_t mask, \
                     const uint8_t repeatTime, const BinaryRepeatParams& repeatParams, CANOPY_WHERE) {                 \
        using Operation = canopy::kernel::Name##Operation;                                                             \
        static_assert(Operation::supports<T, U>, #Name ": these element types are not supported on this chip");        \
        canopy::kernel::engine##_masked<isSetMask>(#Name, dst, src0, src1, mask, repeatTime, repeatParams,             \
                                                   Operation{}, where);                                                \
    }

// The operations whose three tensors have one type take <T, isSetMask>.
#define CANOPY_TERNARY_OF_ONE_TYPE(Name, engine)                                                                       \
    template <class T, const auto&... config>                                                                          \
    inline void Name(const LocalTensor<T>& dst, const LocalTensor<T>& src0, const LocalTensor<T>& src1,                \
                     const int32_t& count, CANOPY_WHERE) {                                                             \
        using Operation = canopy::kernel::Name##Operation;                                                             \
        static_assert(Operation::supports<T, T>, #Name ": this element type is not supported on this chip");           \
        canopy::kernel::engine##_counted(#Name, dst, src0, src1, count, Operation{}, where);                           \
    }                                                                                                                  \
    template <class T, bool isSetMask = true, const auto&... config>                                                   \
    inline void Name(const LocalTensor<T>& dst, const LocalTensor<T>& src0, const LocalTensor<T>& src1,                \
                     const uint64_t mask[], const uint8_t repeatTime, const BinaryRepeatParams& repeatParams,          \
                     CANOPY_WHERE) {                                                                                   \
        using Operation = canopy::kernel::Name##Operation;                                                             \
        static_assert(Operation::supports<T, T>, #Name ": this element type is not supported on this chip");           \
        canopy::kernel::engine##_masked<isSetMask>(#Name, dst, src0, src1, mask, repeatTime, repeatParams,             \
                                                   Operation{}, where);                                                \
    }                                                                                                                  \
    template <class T, bool isSetMask = true, const auto&... config>                                                   \
    inline void Name(const LocalTensor<T>& dst, const LocalTensor<T>& src0, const LocalTensor<T>& src1, uint64_t mask, \
                     const uint8_t repeatTime, const BinaryRepeatParams& repeatParams, CANOPY_WHERE) {                 \
        using Operation = canopy::kernel::Name##Operation;                                                             \
        static_assert(Operation::supports<T, T>, #Name ": this element type is not supported on this chip");           \
        canopy::kernel::engine##_masked<isSetMask>(#Name, dst, src0, src1, mask, repeatTime, repeatParams,             \
                                                   Operation{}, where);                                                \
    }

CANOPY_TERNARY(MulAddDst, updating)                    // dst = src0 * src1 + dst
CANOPY_TERNARY_OF_ONE_TYPE(FusedMulAdd, updating)      // dst = src0 * dst + src1
CANOPY_TERNARY_OF_ONE_TYPE(FusedMulAddRelu, updating)  // dst = max(src0 * dst + src1, 0)
CANOPY_TERNARY(FusedExpSub, binary)                    // dst = e^(src0 - src1)
CANOPY_TERNARY_OF_ONE_TYPE(FusedAbsSub, binary)        // dst = |src0 - src1|

#undef CANOPY_TERNARY
#undef CANOPY_TERNARY_OF_ONE_TYPE

// dst = src * scalarValue + dst
template <class T, class U, class S>
inline void Axpy(const LocalTensor<T>& dst, const LocalTensor<U>& src, const S& scalarValue, const int32_t& count,
                 CANOPY_WHERE) {
    static_assert(canopy::kernel::are_fusable<T, U>, "Axpy: these element types are not supported on this chip");
    using Wide = canopy::kernel::Wide<T>;
    const canopy::kernel::AxpyOperation<Wide> operation{static_cast<Wide>(canopy::kernel::scalar_of<U>(scalarValue))};
    const canopy::kernel::Instruction instruction(PIPE_V, "Axpy", where);
    canopy::kernel::check_count(dst, count, "Axpy", "dst", where, CANOPY_CHECK_READ_WRITE);
    canopy::kernel::check_count(src, count, "Axpy", "src", where);
    instruction.tell();
    canopy::kernel::compute_count(operation, count, dst, dst, src);
}

template <class T, class U, bool isSetMask = true, class S>
inline void Axpy(const LocalTensor<T>& dst, const LocalTensor<U>& src, const S& scalarValue, const uint64_t mask[],
                 const uint8_t repeatTime, const UnaryRepeatParams& repeatParams, CANOPY_WHERE) {
    static_assert(canopy::kernel::are_fusable<T, U>, "Axpy: these element types are not supported on this chip");
    canopy::kernel::axpy_masked<isSetMask>(dst, src, canopy::kernel::scalar_of<U>(scalarValue), mask, repeatTime,
                                           repeatParams, where);
}

template <class T, class U, bool isSetMask = true, class S>
inline void Axpy(const LocalTensor<T>& dst, const LocalTensor<U>& src, const S& scalarValue, uint64_t mask,
                 const uint8_t repeatTime, const UnaryRepeatParams& repeatParams, CANOPY_WHERE) {
    static_assert(canopy::kernel::are_fusable<T, U>, "Axpy: these element types are not supported on this chip");
    canopy::kernel::axpy_masked<isSetMask>(dst, src, canopy::kernel::scalar_of<U>(scalarValue), mask, repeatTime,
                                           repeatParams, where);
}

// The form with a buffer for intermediate values, which is not used here.
template <class T, class U, bool isReuseSource = false>
inline void Axpy(const LocalTensor<T>& dstTensor, const LocalTensor<U>& srcTensor,
                 const canopy::kernel::plain<U> scalarValue, const LocalTensor<uint8_t>& sharedTmpBuffer,
                 const uint32_t calCount, CANOPY_WHERE) {
    static_cast<void>(sharedTmpBuffer);
    Axpy<T, U>(dstTensor, srcTensor, scalarValue, static_cast<int32_t>(calCount), where);
}

}  // namespace AscendC

#endif
