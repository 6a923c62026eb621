// SPDX-License-Identifier: Apache-2.0
// Pad and UnPad: rows with a few more or a few less columns.
#ifndef CANOPY_KERNEL_HIGH_LEVEL_PAD_H
#define CANOPY_KERNEL_HIGH_LEVEL_PAD_H

#include <kernel_tiling/kernel_tiling.h>

#include "canopy_kernel/copy/copy.h"
#include "canopy_kernel/high_level/work_space.h"
#include "canopy_kernel/vector/vector_fill.h"

namespace AscendC {

struct PadParams {
    PadParams() = default;
    PadParams(const uint16_t leftPadIn, const uint16_t rightPadIn, const int32_t padValueIn)
        : leftPad(leftPadIn), rightPad(rightPadIn), padValue(padValueIn) {}

    uint16_t leftPad = 0;
    uint16_t rightPad = 0;
    int32_t padValue = 0;
};

// Only the right side is removed.
struct UnPadParams {
    UnPadParams() = default;
    UnPadParams(const uint16_t leftPadIn, const uint16_t rightPadIn) : leftPad(leftPadIn), rightPad(rightPadIn) {}

    uint16_t leftPad = 0;
    uint16_t rightPad = 0;
};

}  // namespace AscendC

namespace canopy::kernel {

template <class T>
inline constexpr uint32_t in_block = static_cast<uint32_t>(elements_in<T>(block_bytes));

template <class T>
inline void pad(const LocalTensor<T>& dst, const LocalTensor<T>& src, const AscendC::PadParams& params,
                const PadTiling& tiling, Where where) {
    static_assert(sizeof(T) == 2 || sizeof(T) == 4, "Pad: elements have 16 or 32 bits");
    if (on_cube_core()) return;
    const uint64_t height = tiling.srcHeight, width = tiling.srcWidth;
    const uint32_t left = params.leftPad, right = params.rightPad;
    const bool aligned = width % in_block<T> == 0;
    const uint64_t pitch = aligned ? width : left + width + right;
    if constexpr (checked) {
        if (height == 0 || width == 0) fail(where, "Pad: the tiling has an empty shape");
        check_limit("Pad", "leftPad", left, 0, in_block<T> - 1, where);
        check_limit("Pad", "rightPad", right, 0, in_block<T> - 1, where);
        if (!aligned) check_whole_blocks<T>("Pad", "leftPad + width + rightPad", pitch, where);
        if (aligned && (left != 0 || right == 0 || tiling.srcOriWidth + right > width))
            fail(where, "Pad: a row of %llu elements, %u of them data, cannot be padded by %u and %u", printable(width),
                 tiling.srcOriWidth, left, right);
    }
    const Instruction instruction(PIPE_V, "Pad", where, CANOPY_CHECK_FILL);
    check_vector_operand("Pad", "the source", src, height * width * sizeof(T), where);
    check_vector_operand("Pad", "the destination", dst, height * pitch * sizeof(T), where);
    const T value = element_of<T>(params.padValue);
    const uint64_t data = aligned ? tiling.srcOriWidth : width;
    for (uint64_t row = 0; row < height; ++row) {
        T* to = dst.GetPhyAddr() + row * pitch;
        fill_run(left, to, value);
        move_bytes(to + left, src.GetPhyAddr() + row * width, width * sizeof(T));
        fill_run(right, to + left + data, value);
    }
}

template <class T>
inline void unpad(const LocalTensor<T>& dst, const LocalTensor<T>& src, const AscendC::UnPadParams& params,
                  const UnPadTiling& tiling, Where where) {
    static_assert(sizeof(T) == 2 || sizeof(T) == 4, "UnPad: elements have 16 or 32 bits");
    if (on_cube_core()) return;
    const uint64_t height = tiling.srcHeight, width = tiling.srcWidth;
    if constexpr (checked) {
        if (height == 0 || width == 0) fail(where, "UnPad: the tiling has an empty shape");
        check_whole_blocks<T>("UnPad", "the width", width, where);
        check_limit("UnPad", "rightPad", params.rightPad, 1, in_block<T> - 1, where);
    }
    const uint64_t kept = width - smaller<uint64_t>(params.rightPad, width);
    const Instruction instruction(PIPE_V, "UnPad", where, CANOPY_CHECK_FILL);
    check_vector_operand("UnPad", "the source", src, height * width * sizeof(T), where);
    check_vector_operand("UnPad", "the destination", dst, height * kept * sizeof(T), where);
    for (uint64_t row = 0; row < height; ++row)
        move_bytes(dst.GetPhyAddr() + row * kept, src.GetPhyAddr() + row * width, kept * sizeof(T));
}

}  // namespace canopy::kernel

namespace AscendC {

template <typename T>
inline void Pad(const LocalTensor<T>& dstTensor, const LocalTensor<T>& srcTensor, const PadParams& padParams,
                const PadTiling& tiling, CANOPY_WHERE) {
    canopy::kernel::pad(dstTensor, srcTensor, padParams, tiling, where);
}
template <typename T>
inline void Pad(const LocalTensor<T>& dstTensor, const LocalTensor<T>& srcTensor, const PadParams& padParams,
                const LocalTensor<uint8_t>& sharedTmpBuffer, const PadTiling& tiling, CANOPY_WHERE) {
    const canopy::kernel::WorkSpace work("Pad", sharedTmpBuffer, where, dstTensor, srcTensor);
    canopy::kernel::pad(dstTensor, srcTensor, padParams, tiling, where);
}

template <typename T>
inline void UnPad(const LocalTensor<T>& dstTensor, const LocalTensor<T>& srcTensor, const UnPadParams& unPadParams,
                  const UnPadTiling& tiling, CANOPY_WHERE) {
    canopy::kernel::unpad(dstTensor, srcTensor, unPadParams, tiling, where);
}
template <typename T>
inline void UnPad(const LocalTensor<T>& dstTensor, const LocalTensor<T>& srcTensor, const UnPadParams& unPadParams,
                  const LocalTensor<uint8_t>& sharedTmpBuffer, const UnPadTiling& tiling, CANOPY_WHERE) {
    const canopy::kernel::WorkSpace work("UnPad", sharedTmpBuffer, where, dstTensor, srcTensor);
    canopy::kernel::unpad(dstTensor, srcTensor, unPadParams, tiling, where);
}

}  // namespace AscendC

#endif
