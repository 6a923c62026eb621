// SPDX-License-Identifier: Apache-2.0
// Select: takes elements of one source where a bit is set and of the other where it is not. The bits come from a
// tensor, one per element of the call, or are the same for every repeat.
#ifndef CANOPY_KERNEL_VECTOR_SELECT_H
#define CANOPY_KERNEL_VECTOR_SELECT_H

#include "canopy_kernel/core/float8.h"
#include "canopy_kernel/vector/vector_compare.h"
#include "canopy_kernel/vector/vector_fill.h"

namespace AscendC {

enum class SELMODE : uint8_t {
    VSEL_CMPMASK_SPR = 0,     // the bits of one repeat, for every repeat
    VSEL_TENSOR_SCALAR_MODE,  // a tensor and a number
    VSEL_TENSOR_TENSOR_MODE   // two tensors
};

}  // namespace AscendC

namespace canopy::kernel {

using AscendC::SELMODE;

template <class T>
inline constexpr bool is_selectable = is_any_of<T, half, float> ||
                                      (any_type_chip && (is_arithmetic<T> || (is_small_float<T> && packing<T> == 1)));

// A source of a selection, as integers of the element's width.
template <class I>
struct RawElements {
    const I* run;
    I one(uint64_t i) const { return run[i]; }
    eight<I> vector(uint64_t i) const { return load_eight(run + i); }
};
template <class I>
struct RawNumber {
    I value;
    I one(uint64_t) const { return value; }
    eight<I> vector(uint64_t) const { return value; }
};

struct SelectRule {
    template <class I>
    static I element(const NoElement&, const bool* chosen, const I* a, const I* b, uint32_t) {
        return *chosen ? *a : *b;
    }
    template <class I>
    static I element(const I& number, const bool* chosen, const I* a, const NoElement*, uint32_t) {
        return *chosen ? *a : number;
    }
};

template <class I>
inline void trace_selection(uint64_t count, const bool* bits, I* d, const RawElements<I>& a, const RawElements<I>& b) {
    trace_compute<SelectRule>(count, NoElement{}, d, bits, a.run, b.run);
}
template <class I>
inline void trace_selection(uint64_t count, const bool* bits, I* d, const RawElements<I>& a, const RawNumber<I>& b) {
    trace_compute<SelectRule>(count, b.value, d, bits, a.run);
}

// Bit k selects lane k of the call, or bit k modulo `period` if that is not 0.
template <class I, class A, class B>
inline void select_run(uint64_t count, uint64_t first, uint32_t period, const uint8_t* bits, I* d, const A& a,
                       const B& b) {
    if constexpr (is_tracing_variant) {
        require_whole_bytes(first, count);
        if (period != 0 && (count > period || first % period != 0)) trace_refuse("bits that are used again");
        return trace_selection(count, reinterpret_cast<const bool*>(bits + (period == 0 ? first / 8 : 0)), d, a, b);
    }
    const auto bit_of = [period](uint64_t lane) { return period == 0 ? lane : lane % period; };
    uint64_t i = 0;
    for (; i < count && (first + i) % 8 != 0; ++i) d[i] = test_bit(bits, bit_of(first + i)) ? a.one(i) : b.one(i);
    for (; i + 8 <= count; i += 8) {
        const eight<I> chosen = lanes_from<I>(bits[bit_of(first + i) / 8]);
        const eight<I> value = (a.vector(i) & chosen) | (b.vector(i) & ~chosen);
        __builtin_memcpy(d + i, &value, sizeof value);
    }
    for (; i < count; ++i) d[i] = test_bit(bits, bit_of(first + i)) ? a.one(i) : b.one(i);
}

template <class T, class S>
inline integer_like<T> raw_number(const S& value) {
    return bits_as<integer_like<T>>(element_of<T>(value));
}

template <class T>
inline auto* raw(T* address) {
    return reinterpret_cast<choose<is_same<T, plain<T>>, integer_like<plain<T>>, const integer_like<plain<T>>>*>(
        address);
}

template <class U>
inline void check_mask_bits(const LocalTensor<U>& mask, uint64_t bits, Where where) {
    check_vector_operand("Select", "selMask", mask, (bits + 7) / 8, where);
}

// In modes with a mask for the whole call, these chips keep the masks of repeats in the last part of the unified
// buffer.
inline void name_reserved(SELMODE mode) {
    constexpr uint32_t size = 8192;
    if constexpr (is_checking_variant && __NPU_ARCH__ == 2201)
        if (mode != SELMODE::VSEL_CMPMASK_SPR)
            add_memory(CANOPY_CHECK_READ_WRITE, "reserved", Hardware::UB,
                       memory_base(Hardware::UB) + memory_size(Hardware::UB) - size, {size}, 1);
}

template <class T, class U, class B>
inline void select_counted(const LocalTensor<T>& dst, const LocalTensor<U>& mask, const LocalTensor<T>& src0,
                           const B& src1, SELMODE mode, uint32_t count, Where where) {
    using I = integer_like<T>;
    const uint32_t period = mode == SELMODE::VSEL_CMPMASK_SPR ? lanes<T> : 0;
    const Instruction instruction(PIPE_V, "Select", where);
    name_reserved(mode);
    check_count(dst, count, "Select", "dst", where);
    check_count(src0, count, "Select", "src0", where);
    check_mask_bits(mask, period == 0 ? count : smaller(period, count), where);
    const auto* bits = reinterpret_cast<const uint8_t*>(mask.GetPhyAddr());
    const RawElements<I> left{raw(src0.GetPhyAddr())};
    if constexpr (is_tensor<B>) {
        check_count(src1, count, "Select", "src1", where);
        select_run(count, 0, period, bits, raw(dst.GetPhyAddr()), left, RawElements<I>{raw(src1.GetPhyAddr())});
    } else {
        select_run(count, 0, period, bits, raw(dst.GetPhyAddr()), left, RawNumber<I>{raw_number<T>(src1)});
    }
}

template <class T, class B>
inline void select_strided(const LocalTensor<T>& dst, const uint8_t* bits, uint32_t period, const LocalTensor<T>& src0,
                           const B& src1, const Selection& selection, const BinaryRepeatParams& strides, Where where) {
    using I = integer_like<T>;
    const auto to = target(dst, strides.dstBlkStride, strides.dstRepStride);
    const auto left = source(src0, strides.src0BlkStride, strides.src0RepStride);
    check_strided(dst, to, selection, "Select", "dst", where);
    check_strided(src0, left, selection, "Select", "src0", where);
    const LaneIndex index{selection.width};
    if constexpr (is_tensor<B>) {
        const auto right = source(src1, strides.src1BlkStride, strides.src1RepStride);
        check_strided(src1, right, selection, "Select", "src1", where);
        for_each_run(
            selection,
            [bits, period](uint64_t n, uint64_t first, T* d, const T* a, const T* b) {
                select_run(n, first, period, bits, raw(d), RawElements<I>{raw(a)}, RawElements<I>{raw(b)});
            },
            index, to, left, right);
    } else {
        const I number = raw_number<T>(src1);
        for_each_run(
            selection,
            [bits, period, number](uint64_t n, uint64_t first, T* d, const T* a) {
                select_run(n, first, period, bits, raw(d), RawElements<I>{raw(a)}, RawNumber<I>{number});
            },
            index, to, left);
    }
}

}  // namespace canopy::kernel

namespace AscendC {

// src1 is a tensor or a number.
template <class T, class U, class B>
inline void Select(const LocalTensor<T>& dst, const LocalTensor<U>& selMask, const LocalTensor<T>& src0, const B& src1,
                   SELMODE selMode, uint32_t count, CANOPY_WHERE) {
    static_assert(canopy::kernel::is_selectable<T>, "Select: this element type is not supported on this chip");
    canopy::kernel::select_counted(dst, selMask, src0, src1, selMode, count, where);
}

template <class T, class U, bool isSetMask = true, class B, class Mask>
inline void Select(const LocalTensor<T>& dst, const LocalTensor<U>& selMask, const LocalTensor<T>& src0, const B& src1,
                   SELMODE selMode, const Mask mask, uint8_t repeatTime, const BinaryRepeatParams& repeatParams,
                   CANOPY_WHERE) {
    static_assert(canopy::kernel::is_selectable<T>, "Select: this element type is not supported on this chip");
    const auto selection =
        canopy::kernel::select<isSetMask>(canopy::kernel::lanes<T>, canopy::kernel::mask_of(mask), repeatTime);
    const uint32_t period = selMode == SELMODE::VSEL_CMPMASK_SPR ? selection.width : 0;
    const uint64_t used = selection.repeats * selection.width + selection.tail;
    const canopy::kernel::Instruction instruction(PIPE_V, "Select", where);
    canopy::kernel::name_reserved(selMode);
    canopy::kernel::check_mask_bits(selMask, period == 0 ? used : canopy::kernel::smaller<uint64_t>(period, used),
                                    where);
    canopy::kernel::select_strided(dst, reinterpret_cast<const uint8_t*>(selMask.GetPhyAddr()), period, src0, src1,
                                   selection, repeatParams, where);
}

// Selects by the compare mask of the core, in the lanes of the vector mask.
template <class T, SELMODE selMode = SELMODE::VSEL_CMPMASK_SPR>
inline void Select(const LocalTensor<T>& dst, const LocalTensor<T>& src0, const LocalTensor<T>& src1,
                   uint8_t repeatTime, const BinaryRepeatParams& repeatParams, CANOPY_WHERE) {
    static_assert(canopy::kernel::is_selectable<T>, "Select: this element type is not supported on this chip");
    static_assert(selMode == SELMODE::VSEL_CMPMASK_SPR,
                  "Select without a mask tensor reads the compare mask: only VSEL_CMPMASK_SPR is possible");
    constexpr uint32_t width = canopy::kernel::lanes<T>;
    static_assert(width <= 128, "Select: the compare mask has 128 bits");
    const auto selection = canopy::kernel::select<false>(width, uint64_t{0}, repeatTime);
    const auto* bits = reinterpret_cast<const uint8_t*>(canopy::kernel::core_state().compare_mask);
    const canopy::kernel::Instruction instruction(PIPE_V, "Select", where);
    canopy::kernel::select_strided(dst, bits, width, src0, src1, selection, repeatParams, where);
}

}  // namespace AscendC

#endif
