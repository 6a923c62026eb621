// SPDX-License-Identifier: Apache-2.0
// Operations with a mask for each element: DropOut, with a byte or a bit, and Select between a tensor and a number,
// with a mask element of any integer type.
#ifndef CANOPY_KERNEL_HIGH_LEVEL_DROP_OUT_H
#define CANOPY_KERNEL_HIGH_LEVEL_DROP_OUT_H

#include "canopy_kernel/high_level/work_space.h"
#include "canopy_kernel/vector/vector_select.h"

namespace AscendC {

struct DropOutShapeInfo {
    uint32_t firstAxis = 0;
    uint32_t srcLastAxis = 0;
    uint32_t maskLastAxis = 0;  // in bytes
};

struct SelectWithBytesMaskShapeInfo {
    uint32_t firstAxis = 0;
    uint32_t srcLastAxis = 0;
    uint32_t maskLastAxis = 0;  // in mask elements
};

}  // namespace AscendC

namespace canopy::kernel {

using AscendC::DropOutShapeInfo;

// Numbers of the interface. Rows of the mask have the length of the source's rows, or their own.
enum class DropOutMode : uint32_t { inferred, padded_bytes, bytes, bits, padded_bits };

inline DropOutMode inferred_mode(const DropOutShapeInfo& info) {
    if (info.srcLastAxis < info.maskLastAxis) return DropOutMode::padded_bytes;
    if (info.srcLastAxis == info.maskLastAxis) return DropOutMode::bytes;
    if (info.srcLastAxis == uint64_t{info.maskLastAxis} * 8) return DropOutMode::bits;
    return DropOutMode::padded_bits;
}

struct KeepOperation {
    float factor;
    float operator()(float x, uint8_t keep) const { return keep != 0 ? x * factor : 0.0f; }
};

// Eight bits, lowest first, as eight bytes that are 0 or not.
inline uint64_t bytes_of_bits(uint8_t bits) { return (bits * 0x0101010101010101ull) & 0x8040201008040201ull; }

template <class T>
inline void drop_by_bits(uint64_t count, T* d, const T* s, const uint8_t* bits, const KeepOperation& keep) {
    constexpr uint64_t stretch = 512;
    uint64_t spread[stretch / 8];
    for (uint64_t first = 0; first < count; first += stretch) {
        const uint64_t length = smaller(stretch, count - first);
        for (uint64_t i = 0; i < (length + 7) / 8; ++i) spread[i] = bytes_of_bits(bits[first / 8 + i]);
        compute(length, keep, d + first, s + first, reinterpret_cast<const uint8_t*>(spread));
    }
}

template <class T>
inline void drop_out(const LocalTensor<T>& dst, const LocalTensor<T>& src, const LocalTensor<uint8_t>& mask,
                     float keep_probability, const DropOutShapeInfo& info, uint32_t wanted_mode, Where where) {
    static_assert(is_vector_float<T>, "DropOut: elements are half, bfloat16_t or float");
    if (on_cube_core()) return;
    const auto mode = wanted_mode == 0 ? inferred_mode(info) : static_cast<DropOutMode>(wanted_mode);
    const uint64_t rows = info.firstAxis, columns = info.srcLastAxis, count = rows * columns;
    const bool padded = mode == DropOutMode::padded_bytes || mode == DropOutMode::padded_bits;
    const bool bits = mode == DropOutMode::bits || mode == DropOutMode::padded_bits;
    if constexpr (checked) {
        if (!(keep_probability > 0.0f && keep_probability < 1.0f))
            fail(where, "DropOut: keepProb is %g; it must be between 0 and 1", static_cast<double>(keep_probability));
        if (count == 0 || info.maskLastAxis == 0) fail(where, "DropOut: the shape has no elements");
        if (padded && info.maskLastAxis % 2 != 0)
            fail(where, "DropOut: maskLastAxis is %u; it must be even in this mode", info.maskLastAxis);
        if (padded && uint64_t{info.maskLastAxis} * (bits ? 8 : 1) < columns)
            fail(where, "DropOut: maskLastAxis is %u; too small for rows of %u elements", info.maskLastAxis,
                 info.srcLastAxis);
    }
    const Instruction instruction(PIPE_V, "DropOut", where);
    check_count(dst, static_cast<int64_t>(count), "DropOut", "the destination", where);
    check_count(src, static_cast<int64_t>(count), "DropOut", "the source", where);
    check_vector_operand("DropOut", "the mask", mask,
                         padded ? rows * info.maskLastAxis
                         : bits ? (count + 7) / 8
                                : count,
                         where);
    const KeepOperation keep{1.0f / keep_probability};
    const uint64_t runs = padded ? rows : 1, length = padded ? columns : count;
    for (uint64_t run = 0; run < runs; ++run) {
        T* d = dst.GetPhyAddr() + run * length;
        const T* s = src.GetPhyAddr() + run * length;
        const uint8_t* m = mask.GetPhyAddr() + run * info.maskLastAxis;
        if (bits)
            drop_by_bits(length, d, s, m, keep);
        else
            compute(length, keep, d, s, m);
    }
}

// A mask element 0 selects the first source, any other the second; one of them is a number.
template <class W, bool number_first>
struct SelectByElement {
    W number;
    template <class M>
    W operator()(W x, M mask) const {
        return (mask == 0) == number_first ? number : x;
    }
};

template <bool number_first, class T, class U>
inline void select_by_elements(const LocalTensor<T>& dst, const LocalTensor<T>& src, T number,
                               const LocalTensor<U>& mask, const AscendC::SelectWithBytesMaskShapeInfo& info,
                               Where where) {
    static_assert(is_any_of<T, half, float> || (any_type_chip && is_same<T, bfloat16_t>),
                  "Select with a byte mask: elements are half or float (3510: also bfloat16_t)");
    static_assert(is_any_of<U, bool, uint8_t, int8_t, uint16_t, int16_t, uint32_t, int32_t>,
                  "Select with a byte mask: the mask is bool or an integer of up to 32 bits");
    if (on_cube_core()) return;
    const uint64_t rows = info.firstAxis, columns = info.srcLastAxis, pitch = info.maskLastAxis;
    if constexpr (checked) {
        check_whole_blocks<T>("Select", "srcLastAxis", columns, where);
        check_whole_blocks<U>("Select", "maskLastAxis", pitch, where);
        if (pitch % 16 != 0 || pitch < columns)
            fail(where, "Select: maskLastAxis is %u; it must be a multiple of 16 and at least srcLastAxis (%u)",
                 info.maskLastAxis, info.srcLastAxis);
        if (rows * columns != src.GetSize() || rows * columns != dst.GetSize() || rows * pitch != mask.GetSize())
            fail(where, "Select: %u rows of %u elements (mask: %u) are not the sizes of the tensors (%u, %u, mask: %u)",
                 info.firstAxis, info.srcLastAxis, info.maskLastAxis, dst.GetSize(), src.GetSize(), mask.GetSize());
        check_place(dst, "Select", "the destination", where);
        check_place(src, "Select", "the source", where);
        check_place(mask, "Select", "the mask", where);
    }
    const Instruction instruction(PIPE_V, "Select", where);
    if constexpr (is_checking_variant) {
        instruction.writes("dst", dst, rows * columns * sizeof(T));
        instruction.reads("src", src, rows * columns * sizeof(T));
        instruction.reads("mask", mask, mask.GetPhyAddr(),
                          {columns * sizeof(U), pitch * sizeof(U), static_cast<uint32_t>(rows)});
    }
    using M = choose<is_same<U, bool>, uint8_t, U>;
    const SelectByElement<Wide<T>, number_first> select{widen(number)};
    for (uint64_t row = 0; row < rows; ++row)
        compute(columns, select, dst.GetPhyAddr() + row * columns,
                static_cast<const T*>(src.GetPhyAddr() + row * columns),
                reinterpret_cast<const M*>(mask.GetPhyAddr() + row * pitch));
}

}  // namespace canopy::kernel

namespace AscendC {

// Kept elements are divided by keepProb, the others become 0. dropOutMode 1 and 2: a byte for each element; 3 and 4: a
// bit; rows of the mask are padded in 1 and 4; 0: the shape decides.
template <typename T, bool isInitBitMode = false, uint32_t dropOutMode = 0>
inline void DropOut(const LocalTensor<T>& dstLocal, const LocalTensor<T>& srcLocal,
                    const LocalTensor<uint8_t>& maskLocal, const float keepProb, const DropOutShapeInfo& info,
                    CANOPY_WHERE) {
    static_assert(dropOutMode <= 4, "DropOut: the modes are 0 to 4");
    canopy::kernel::drop_out(dstLocal, srcLocal, maskLocal, keepProb, info, dropOutMode, where);
}
template <typename T, bool isInitBitMode = false, uint32_t dropOutMode = 0>
inline void DropOut(const LocalTensor<T>& dstLocal, const LocalTensor<T>& srcLocal,
                    const LocalTensor<uint8_t>& maskLocal, const LocalTensor<uint8_t>& sharedTmpBuffer,
                    const float keepProb, const DropOutShapeInfo& info, CANOPY_WHERE) {
    const canopy::kernel::WorkSpace work("DropOut", sharedTmpBuffer, where, dstLocal, srcLocal, maskLocal);
    DropOut<T, isInitBitMode, dropOutMode>(dstLocal, srcLocal, maskLocal, keepProb, info, where);
}

#define CANOPY_SELECT_BYTES(Name)                                                                                  \
    template <typename T, typename U, bool isReuseMask = true>                                                     \
    inline void Name(const LocalTensor<T>& dst, const LocalTensor<T>& src0, canopy::kernel::only_if<true, T> src1, \
                     const LocalTensor<U>& mask, const LocalTensor<uint8_t>& sharedTmpBuffer,                      \
                     const SelectWithBytesMaskShapeInfo& info, CANOPY_WHERE) {                                     \
        const canopy::kernel::WorkSpace work(#Name, sharedTmpBuffer, where, dst, src0, mask);                      \
        canopy::kernel::select_by_elements<false>(dst, src0, src1, mask, info, where);                             \
    }                                                                                                              \
    template <typename T, typename U, bool isReuseMask = true>                                                     \
    inline void Name(const LocalTensor<T>& dst, canopy::kernel::only_if<true, T> src0, const LocalTensor<T>& src1, \
                     const LocalTensor<U>& mask, const LocalTensor<uint8_t>& sharedTmpBuffer,                      \
                     const SelectWithBytesMaskShapeInfo& info, CANOPY_WHERE) {                                     \
        const canopy::kernel::WorkSpace work(#Name, sharedTmpBuffer, where, dst, src1, mask);                      \
        canopy::kernel::select_by_elements<true>(dst, src1, src0, mask, info, where);                              \
    }
CANOPY_SELECT_BYTES(Select)
CANOPY_SELECT_BYTES(SelectWithBytesMask)
#undef CANOPY_SELECT_BYTES

}  // namespace AscendC

#endif
