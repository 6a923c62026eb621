// SPDX-License-Identifier: Apache-2.0
// Comparisons: one bit per element, packed from the lowest bit up, into a tensor or into the compare mask of the core.
// A comparison with NaN is false, except "not equal".
#ifndef CANOPY_KERNEL_VECTOR_COMPARE_H
#define CANOPY_KERNEL_VECTOR_COMPARE_H

#include "canopy_kernel/vector/bits.h"
#include "canopy_kernel/vector/vector_scalar.h"

namespace canopy::kernel {

using AscendC::CMPMODE;

template <class T>
inline constexpr bool is_comparable = is_any_of<T, half, float, int32_t> || (any_type_chip && is_arithmetic<T>);

template <CMPMODE mode, class V>
__attribute__((always_inline)) inline auto relate(const V& a, const V& b) {
    if constexpr (mode == CMPMODE::LT)
        return a < b;
    else if constexpr (mode == CMPMODE::GT)
        return a > b;
    else if constexpr (mode == CMPMODE::EQ)
        return a == b;
    else if constexpr (mode == CMPMODE::LE)
        return a <= b;
    else if constexpr (mode == CMPMODE::GE)
        return a >= b;
    else
        return a != b;
}

// One side of a comparison: elements, or one number for all of them.
template <class T>
struct Elements {
    const T* run;
    Wide<T> one(uint64_t i, uint32_t zero) const { return widen(run[i], zero); }
    eight<Wide<T>> vector(uint64_t i, uint32_t zero) const { return widen_eight(run + i, zero); }
};
template <class T>
struct Number {
    Wide<T> value;
    Wide<T> one(uint64_t, uint32_t) const { return value; }
    eight<Wide<T>> vector(uint64_t, uint32_t) const { return value; }
};

template <CMPMODE mode>
struct CompareRule {
    template <class T>
    static bool element(const NoElement&, const T* a, const T* b, const NoElement*, uint32_t zero) {
        return relate<mode>(widen(*a, zero), widen(*b, zero));
    }
    template <class T>
    static bool element(const Wide<T>& number, const T* a, const NoElement*, const NoElement*, uint32_t zero) {
        return relate<mode>(widen(*a, zero), number);
    }
};

template <CMPMODE mode, class T>
inline void trace_comparison(uint64_t count, bool* bits, const Elements<T>& a, const Elements<T>& b) {
    trace_compute<CompareRule<mode>>(count, NoElement{}, bits, a.run, b.run);
}
template <CMPMODE mode, class T>
inline void trace_comparison(uint64_t count, bool* bits, const Elements<T>& a, const Number<T>& b) {
    trace_compute<CompareRule<mode>>(count, b.value, bits, a.run);
}

// Traces support bits only in whole bytes.
inline void require_whole_bytes(uint64_t first, uint64_t count) {
    if ((first | count) % 8 != 0) trace_refuse("bits that fill no whole bytes");
}

// Writes the results to bit `first` and those after it; the bits around them are preserved.
template <CMPMODE mode, class A, class B>
inline void compare_run(uint64_t count, uint64_t first, uint8_t* bits, const A& a, const B& b) {
    if constexpr (is_tracing_variant) {
        require_whole_bytes(first, count);
        return trace_comparison<mode>(count, reinterpret_cast<bool*>(bits + first / 8), a, b);
    }
    const uint32_t zero = opaque_zero();
    uint64_t i = 0;
    for (; i < count && (first + i) % 8 != 0; ++i)
        write_bit(bits, first + i, relate<mode>(a.one(i, zero), b.one(i, zero)));
    uint8_t* whole = bits + (first + i) / 8;
    for (; i + 8 <= count; i += 8) *whole++ = packed_bits(relate<mode>(a.vector(i, zero), b.vector(i, zero)));
    for (; i < count; ++i) write_bit(bits, first + i, relate<mode>(a.one(i, zero), b.one(i, zero)));
}

template <CMPMODE value>
struct Relation {
    static constexpr CMPMODE mode = value;
};

template <class Act>
__attribute__((always_inline)) inline void with_relation(CMPMODE mode, const Act& act) {
    switch (mode) {
        case CMPMODE::LT:
            return act(Relation<CMPMODE::LT>{});
        case CMPMODE::GT:
            return act(Relation<CMPMODE::GT>{});
        case CMPMODE::EQ:
            return act(Relation<CMPMODE::EQ>{});
        case CMPMODE::LE:
            return act(Relation<CMPMODE::LE>{});
        case CMPMODE::GE:
            return act(Relation<CMPMODE::GE>{});
        default:
            return act(Relation<CMPMODE::NE>{});
    }
}

template <class U>
inline void check_bits(const LocalTensor<U>& dst, uint64_t elements, const char* name, Where where) {
    check_vector_operand(name, "dst", dst, (elements + 7) / 8, where);
}

// The same for repeats, in the checking variant.
template <class U>
inline void name_bits(const LocalTensor<U>& dst, const Selection& selection, const char* name, Where where) {
    if constexpr (is_checking_variant)
        check_bits(dst, selection.repeats * selection.width + selection.tail, name, where);
}

inline void check_repeat_multiple(uint64_t bytes, const char* name, Where where) {
    if constexpr (checked || (is_checking_variant && !any_type_chip))
        if (bytes % repeat_bytes != 0)
            refuse("memory.limit", where, "%s: the elements fill %llu bytes, which is not a multiple of 256", name,
                   static_cast<unsigned long long>(bytes));
}

// Two tensors.
template <class U, class T>
__attribute__((always_inline)) inline void compare_counted(const char* name, const LocalTensor<U>& dst,
                                                           const LocalTensor<T>& src0, const LocalTensor<T>& src1,
                                                           CMPMODE mode, uint32_t count, Where where) {
    const Instruction instruction(PIPE_V, name, where, CANOPY_CHECK_FILL);
    check_bits(dst, count, name, where);
    check_count(src0, count, name, "src0", where);
    check_count(src1, count, name, "src1", where);
    check_repeat_multiple(uint64_t{count} * sizeof(T), name, where);
    instruction.tell();
    auto* bits = reinterpret_cast<uint8_t*>(dst.GetPhyAddr());
    with_relation(mode, [&](auto relation) {
        compare_run<decltype(relation)::mode>(count, 0, bits, Elements<T>{src0.GetPhyAddr()},
                                              Elements<T>{src1.GetPhyAddr()});
    });
}

template <class T>
__attribute__((always_inline)) inline void compare_strided(uint8_t* bits, const LocalTensor<T>& src0,
                                                           const LocalTensor<T>& src1, CMPMODE mode,
                                                           const Selection& selection,
                                                           const BinaryRepeatParams& strides, const char* name,
                                                           Where where) {
    const auto left = source(src0, strides.src0BlkStride, strides.src0RepStride);
    const auto right = source(src1, strides.src1BlkStride, strides.src1RepStride);
    check_strided(src0, left, selection, name, "src0", where);
    check_strided(src1, right, selection, name, "src1", where);
    with_relation(mode, [&](auto relation) {
        for_each_run(
            selection,
            [bits](uint64_t n, uint64_t first, const T* a, const T* b) {
                compare_run<decltype(relation)::mode>(n, first, bits, Elements<T>{a}, Elements<T>{b});
            },
            LaneIndex{selection.width}, left, right);
    });
}

// The comparison of a tensor with a number that is equivalent to the number on the left.
constexpr CMPMODE mirrored(CMPMODE mode) {
    switch (mode) {
        case CMPMODE::LT:
            return CMPMODE::GT;
        case CMPMODE::GT:
            return CMPMODE::LT;
        case CMPMODE::LE:
            return CMPMODE::GE;
        case CMPMODE::GE:
            return CMPMODE::LE;
        default:
            return mode;
    }
}

template <class U, class T, class Scalar>
__attribute__((always_inline)) inline void compare_number_counted(const char* name, const LocalTensor<U>& dst,
                                                                  const LocalTensor<T>& src, Wide<T> number,
                                                                  CMPMODE mode, uint32_t count, const Scalar& scalar,
                                                                  Where where) {
    const Instruction instruction(PIPE_V, name, where, CANOPY_CHECK_FILL);
    check_bits(dst, count, name, where);
    check_count(src, count, name, "src0", where);
    name_number(scalar);
    check_repeat_multiple(uint64_t{count} * sizeof(T), name, where);
    instruction.tell();
    auto* bits = reinterpret_cast<uint8_t*>(dst.GetPhyAddr());
    with_relation(mode, [&](auto relation) {
        compare_run<decltype(relation)::mode>(count, 0, bits, Elements<T>{src.GetPhyAddr()}, Number<T>{number});
    });
}

template <bool set, class U, class T, class Mask, class Scalar>
__attribute__((always_inline)) inline void compare_number_masked(const char* name, const LocalTensor<U>& dst,
                                                                 const LocalTensor<T>& src, Wide<T> number,
                                                                 CMPMODE mode, Mask mask, uint8_t repeats,
                                                                 const UnaryRepeatParams& strides, const Scalar& scalar,
                                                                 Where where) {
    const Selection selection = select<set>(lanes<T>, mask, repeats);
    const auto from = source(src, strides.srcBlkStride, strides.srcRepStride);
    const Instruction instruction(PIPE_V, name, where, CANOPY_CHECK_FILL);
    name_bits(dst, selection, name, where);
    check_strided(src, from, selection, name, "src0", where);
    name_number(scalar);
    instruction.tell();
    auto* bits = reinterpret_cast<uint8_t*>(dst.GetPhyAddr());
    with_relation(mode, [&](auto relation) {
        for_each_run(
            selection,
            [bits, number](uint64_t n, uint64_t first, const T* s) {
                compare_run<decltype(relation)::mode>(n, first, bits, Elements<T>{s}, Number<T>{number});
            },
            LaneIndex{selection.width}, from);
    });
}

// The element type of the operand that is a tensor.
template <class A, class B>
struct ElementOf;
template <class T, class B>
struct ElementOf<LocalTensor<T>, B> {
    using type = T;
};
template <class A, class T>
struct ElementOf<A, LocalTensor<T>> {
    using type = T;
};
template <class T, class S>
struct ElementOf<LocalTensor<T>, LocalTensor<S>> {
    using type = T;
};

// act(tensor, number, mode, operand with the number) for the operands of Compares.
template <class A, class B, class Act>
__attribute__((always_inline)) inline void split_comparison(const A& src0, const B& src1, CMPMODE mode,
                                                            int8_t scalar_index, const Act& act) {
    using T = typename ElementOf<A, B>::type;
    if constexpr (!is_tensor<B>) {
        act(src0, number_of<T>(src1), mode, src1);
    } else if constexpr (!is_tensor<A>) {
        act(src1, number_of<T>(src0), mirrored(mode), src0);
    } else {
        if (scalar_index == 0)
            act(src1, number_of<T>(src0), mirrored(mode), src0);
        else
            act(src0, number_of<T>(src1), mode, src1);
    }
}

}  // namespace canopy::kernel

namespace AscendC {

#define CANOPY_INLINE __attribute__((always_inline)) inline

template <class T, class U>
CANOPY_INLINE void Compare(const LocalTensor<U>& dst, const LocalTensor<T>& src0, const LocalTensor<T>& src1,
                           CMPMODE cmpMode, uint32_t count, CANOPY_WHERE) {
    static_assert(canopy::kernel::is_comparable<T>, "Compare: this element type is not supported on this chip");
    canopy::kernel::compare_counted("Compare", dst, src0, src1, cmpMode, count, where);
}

template <class T, class U, bool isSetMask = true, class Mask>
CANOPY_INLINE void Compare(const LocalTensor<U>& dst, const LocalTensor<T>& src0, const LocalTensor<T>& src1,
                           CMPMODE cmpMode, const Mask mask, uint8_t repeatTime, const BinaryRepeatParams& repeatParams,
                           CANOPY_WHERE) {
    static_assert(canopy::kernel::is_comparable<T>, "Compare: this element type is not supported on this chip");
    const auto selection =
        canopy::kernel::select<isSetMask>(canopy::kernel::lanes<T>, canopy::kernel::mask_of(mask), repeatTime);
    const canopy::kernel::Instruction instruction(PIPE_V, "Compare", where, CANOPY_CHECK_FILL);
    canopy::kernel::name_bits(dst, selection, "Compare", where);
    canopy::kernel::compare_strided(reinterpret_cast<uint8_t*>(dst.GetPhyAddr()), src0, src1, cmpMode, selection,
                                    repeatParams, "Compare", where);
}

// One repeat, into the compare mask of the core.
template <class T, bool isSetMask = true, class Mask>
CANOPY_INLINE void Compare(const LocalTensor<T>& src0, const LocalTensor<T>& src1, CMPMODE cmpMode, const Mask mask,
                           const BinaryRepeatParams& repeatParams, CANOPY_WHERE) {
    static_assert(canopy::kernel::is_comparable<T>, "Compare: this element type is not supported on this chip");
    constexpr uint32_t width = canopy::kernel::lanes<T>;
    static_assert(width <= 128, "Compare: the compare mask has 128 bits");
    const auto selection = canopy::kernel::select<isSetMask>(width, canopy::kernel::mask_of(mask), 1);
    auto* bits = reinterpret_cast<uint8_t*>(canopy::kernel::core_state().compare_mask);
    const canopy::kernel::Instruction instruction(PIPE_V, "Compare", where, CANOPY_CHECK_FILL);
    canopy::kernel::compare_strided(bits, src0, src1, cmpMode, selection, repeatParams, "Compare", where);
}

// Comparison with a number. Compares takes the number on either side, as a scalar or as the first element of a tensor.
#define CANOPY_COMPARE_NUMBER(Name)                                                                                    \
    template <class T0 = BinaryDefaultType, class U0 = BinaryDefaultType, bool isSetMask = true,                       \
              const BinaryConfig& config = DEFAULT_BINARY_CONFIG, class U, class A, class B>                           \
    CANOPY_INLINE void Name(const LocalTensor<U>& dst, const A& src0, const B& src1, CMPMODE cmpMode, uint32_t count,  \
                            CANOPY_WHERE) {                                                                            \
        using T = typename canopy::kernel::ElementOf<A, B>::type;                                                      \
        static_assert(canopy::kernel::is_comparable<T>, #Name ": this element type is not supported on this chip");    \
        canopy::kernel::split_comparison(                                                                              \
            src0, src1, cmpMode, config.scalarTensorIndex,                                                             \
            [&](const LocalTensor<T>& src, canopy::kernel::Wide<T> number, CMPMODE mode, const auto& scalar)           \
                CANOPY_ALWAYS {                                                                                        \
                    canopy::kernel::compare_number_counted(#Name, dst, src, number, mode, count, scalar, where);       \
                });                                                                                                    \
    }                                                                                                                  \
    template <class T0 = BinaryDefaultType, class U0 = BinaryDefaultType, bool isSetMask = true,                       \
              const BinaryConfig& config = DEFAULT_BINARY_CONFIG, class U, class A, class B, class Mask>               \
    CANOPY_INLINE void Name(const LocalTensor<U>& dst, const A& src0, const B& src1, CMPMODE cmpMode, const Mask mask, \
                            uint8_t repeatTime, const UnaryRepeatParams& repeatParams, CANOPY_WHERE) {                 \
        using T = typename canopy::kernel::ElementOf<A, B>::type;                                                      \
        static_assert(canopy::kernel::is_comparable<T>, #Name ": this element type is not supported on this chip");    \
        canopy::kernel::split_comparison(src0, src1, cmpMode, config.scalarTensorIndex,                                \
                                         [&](const LocalTensor<T>& src, canopy::kernel::Wide<T> number, CMPMODE mode,  \
                                             const auto& scalar) CANOPY_ALWAYS {                                       \
                                             canopy::kernel::compare_number_masked<isSetMask>(                         \
                                                 #Name, dst, src, number, mode, canopy::kernel::mask_of(mask),         \
                                                 repeatTime, repeatParams, scalar, where);                             \
                                         });                                                                           \
    }

CANOPY_COMPARE_NUMBER(CompareScalar)
CANOPY_COMPARE_NUMBER(Compares)
#undef CANOPY_COMPARE_NUMBER

// The 128 bits written by Compare without a destination.
template <class T>
inline void GetCmpMask(const LocalTensor<T>& dst, CANOPY_WHERE) {
    canopy::kernel::Instruction(PIPE_V, "GetCmpMask", where, CANOPY_CHECK_FILL).writes("dst", dst, 16);
    __builtin_memcpy(dst.GetPhyAddr(), canopy::kernel::core_state().compare_mask, 16);
}
template <class T>
inline void SetCmpMask(const LocalTensor<T>& src, CANOPY_WHERE) {
    canopy::kernel::Instruction(PIPE_V, "SetCmpMask", where).reads("src", src, 16);
    __builtin_memcpy(canopy::kernel::core_state().compare_mask, src.GetPhyAddr(), 16);
}

#undef CANOPY_INLINE

}  // namespace AscendC

#endif
