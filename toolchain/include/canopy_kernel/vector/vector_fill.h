// SPDX-License-Identifier: Apache-2.0
// Vector operations without a source tensor: filling with one number, and ascending numbers.
#ifndef CANOPY_KERNEL_VECTOR_FILL_H
#define CANOPY_KERNEL_VECTOR_FILL_H

#include "canopy_kernel/vector/elementwise.h"

namespace canopy::kernel {

template <class T>
inline constexpr bool is_fillable = is_any_of<T, half, bfloat16_t, float, int16_t, uint16_t, int32_t, uint32_t> ||
                                    (any_type_chip && (is_integer<T> || sizeof(T) == 1));

template <class T>
inline constexpr bool is_countable = is_any_of<T, half, float, int16_t, int32_t> ||
                                     (any_type_chip && (is_integer<T> || is_same<T, bfloat16_t>));

template <class T, class S>
inline T element_of(const S& value) {
    if constexpr (is_same<T, S>)
        return value;
    else if constexpr (is_floating<T> || is_integer<T>)
        return narrow<T>(scalar_of<T>(value));
    else
        return static_cast<T>(value);
}

struct FillRule {
    template <class T>
    static T element(const T& value, const NoElement*, const NoElement*, const NoElement*, uint32_t) {
        return value;
    }
};

template <class T>
inline void fill_run(uint64_t count, T* d, T value) {
    if constexpr (is_tracing_variant) return trace_compute<FillRule>(count, value, d);
    for_each_lane<false>(count, [&](uint64_t i) CANOPY_ALWAYS { d[i] = value; });
}

template <bool set, class T, class Mask>
inline void fill_masked(const LocalTensor<T>& dst, T value, Mask mask, uint8_t repeats, uint32_t block_stride,
                        uint32_t repeat_stride, Where where) {
    const Selection selection = select<set>(lanes<T>, mask, repeats);
    const auto to = target(dst, block_stride, repeat_stride);
    const Instruction instruction(PIPE_V, "Duplicate", where, CANOPY_CHECK_FILL);
    check_strided(dst, to, selection, "Duplicate", "dst", where);
    instruction.tell();
    write_runs(
        selection, [value](uint64_t count, T* d) { fill_run(count, d, value); }, to);
}

// first, first + 1, ...: element k of the whole call, in the wide type.
template <class T>
inline T counted_value(Wide<T> first, uint64_t k) {
    if constexpr (is_floating<T>)
        return narrow<T>(first + static_cast<float>(static_cast<int32_t>(k)));
    else
        return static_cast<T>(static_cast<Modular<T>>(first) + static_cast<Modular<T>>(k));
}

template <class T>
inline void index_run(uint64_t count, T* d, Wide<T> first, uint64_t from) {
    for_each_lane<false>(count, [&](uint64_t i) CANOPY_ALWAYS { d[i] = counted_value<T>(first, from + i); });
}

template <bool set, class T, class Mask>
inline void index_masked(const LocalTensor<T>& dst, Wide<T> first, Mask mask, uint8_t repeats, uint32_t block_stride,
                         uint32_t repeat_stride, Where where) {
    const Selection selection = select<set>(lanes<T>, mask, repeats);
    const auto to = target(dst, block_stride, repeat_stride);
    const Instruction instruction(PIPE_V, "CreateVecIndex", where, CANOPY_CHECK_FILL);
    check_strided(dst, to, selection, "CreateVecIndex", "dst", where);
    instruction.tell();
    write_runs(
        selection, [first](uint64_t count, T* d, uint64_t from) { index_run(count, d, first, from); }, to,
        LaneIndex{selection.width});
}

}  // namespace canopy::kernel

namespace AscendC {

template <class T, class S, class = canopy::kernel::only_if<!canopy::kernel::is_same<S, LocalTensor<T>>>>
inline void Duplicate(const LocalTensor<T>& dst, const S& scalarValue, const int32_t& count, CANOPY_WHERE) {
    static_assert(canopy::kernel::is_fillable<T>, "Duplicate: this element type is not supported on this chip");
    const canopy::kernel::Instruction instruction(PIPE_V, "Duplicate", where, CANOPY_CHECK_FILL);
    canopy::kernel::check_count(dst, count, "Duplicate", "dst", where);
    instruction.tell();
    const T value = canopy::kernel::element_of<T>(scalarValue);
    if (count > 0) canopy::kernel::fill_run(static_cast<uint64_t>(count), dst.GetPhyAddr(), value);
}

// Fills with the first element of src.
template <class T>
inline void Duplicate(const LocalTensor<T>& dst, const LocalTensor<T>& src, const int32_t& count, CANOPY_WHERE) {
    const canopy::kernel::Instruction instruction(PIPE_V, "Duplicate", where, CANOPY_CHECK_USE);
    canopy::kernel::name_counted("dst", dst, count);
    canopy::kernel::name_counted("src", src, 1);
    instruction.tell();
    Duplicate(dst, src.GetValue(0), count, where);
}

template <class T, bool isSetMask = true, class S>
inline void Duplicate(const LocalTensor<T>& dst, const S& scalarValue, const uint64_t mask[], const uint8_t repeatTime,
                      const uint16_t dstBlockStride, const uint8_t dstRepeatStride, CANOPY_WHERE) {
    static_assert(canopy::kernel::is_fillable<T>, "Duplicate: this element type is not supported on this chip");
    canopy::kernel::fill_masked<isSetMask>(dst, canopy::kernel::element_of<T>(scalarValue), mask, repeatTime,
                                           dstBlockStride, dstRepeatStride, where);
}

template <class T, bool isSetMask = true, class S>
inline void Duplicate(const LocalTensor<T>& dst, const S& scalarValue, uint64_t mask, const uint8_t repeatTime,
                      const uint16_t dstBlockStride, const uint8_t dstRepeatStride, CANOPY_WHERE) {
    static_assert(canopy::kernel::is_fillable<T>, "Duplicate: this element type is not supported on this chip");
    canopy::kernel::fill_masked<isSetMask>(dst, canopy::kernel::element_of<T>(scalarValue), mask, repeatTime,
                                           dstBlockStride, dstRepeatStride, where);
}

// firstValue, firstValue + 1, ...
template <class T, class S>
inline void CreateVecIndex(const LocalTensor<T>& dst, const S& firstValue, const uint32_t count, CANOPY_WHERE) {
    static_assert(canopy::kernel::is_countable<T>, "CreateVecIndex: this element type is not supported on this chip");
    const canopy::kernel::Instruction instruction(PIPE_V, "CreateVecIndex", where, CANOPY_CHECK_FILL);
    canopy::kernel::check_count(dst, count, "CreateVecIndex", "dst", where);
    instruction.tell();
    canopy::kernel::index_run(count, dst.GetPhyAddr(), canopy::kernel::scalar_of<T>(firstValue), 0);
}

template <class T, bool isSetMask = true, class S>
inline void CreateVecIndex(const LocalTensor<T>& dst, const S& firstValue, const uint64_t mask[],
                           const uint8_t repeatTime, const uint16_t dstBlkStride, const uint8_t dstRepStride,
                           CANOPY_WHERE) {
    static_assert(canopy::kernel::is_countable<T>, "CreateVecIndex: this element type is not supported on this chip");
    canopy::kernel::index_masked<isSetMask>(dst, canopy::kernel::scalar_of<T>(firstValue), mask, repeatTime,
                                            dstBlkStride, dstRepStride, where);
}

template <class T, bool isSetMask = true, class S>
inline void CreateVecIndex(const LocalTensor<T>& dst, const S& firstValue, uint64_t mask, const uint8_t repeatTime,
                           const uint16_t dstBlkStride, const uint8_t dstRepStride, CANOPY_WHERE) {
    static_assert(canopy::kernel::is_countable<T>, "CreateVecIndex: this element type is not supported on this chip");
    canopy::kernel::index_masked<isSetMask>(dst, canopy::kernel::scalar_of<T>(firstValue), mask, repeatTime,
                                            dstBlkStride, dstRepStride, where);
}

}  // namespace AscendC

#endif
