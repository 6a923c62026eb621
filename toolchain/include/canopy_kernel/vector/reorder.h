// SPDX-License-Identifier: Apache-2.0
// Spreading and shuffling elements inside the unified buffer: Brcb, Interleave and DeInterleave.
#ifndef CANOPY_KERNEL_REORDER_H
#define CANOPY_KERNEL_REORDER_H

#include "canopy_kernel/core/check.h"

namespace AscendC {

struct BrcbRepeatParams {
    BrcbRepeatParams() = default;
    BrcbRepeatParams(const uint16_t dstBlkStrideIn, const uint16_t dstRepStrideIn)
        : dstBlkStride(dstBlkStrideIn), dstRepStride(dstRepStrideIn) {}

    uint32_t blockNumber = DEFAULT_BLK_NUM;
    uint16_t dstBlkStride = DEFAULT_BLK_STRIDE;
    uint16_t dstRepStride = DEFAULT_REPEAT_STRIDE;
};

// Eight elements per repeat; each fills a block of 32 bytes.
template <typename T>
inline void Brcb(const LocalTensor<T>& dst, const LocalTensor<T>& src0, const uint8_t repeatTime,
                 const BrcbRepeatParams& repeatParams, canopy::kernel::Where where = canopy::kernel::here()) {
    using namespace canopy::kernel;
    static_assert(sizeof(T) == 2 || sizeof(T) == 4 || (__NPU_ARCH__ >= 3003 && packing<T> == 1),
                  "Brcb: elements have 16 or 32 bits (on 3510 also 8 or 64)");
    if (repeatTime == 0) return;
    constexpr uint32_t per_block = block_bytes / sizeof(T);
    const auto to = target(dst, repeatParams.dstBlkStride, repeatParams.dstRepStride);
    const Instruction instruction(PIPE_V, "Brcb", where, CANOPY_CHECK_FILL);
    check_strided(dst, to, select_leading(lanes<T>, lanes<T>, repeatTime), "Brcb", "the destination", where);
    check_vector_operand("Brcb", "the source", src0, repeatTime * 8u * sizeof(T), where);
    instruction.tell();
    const T* from = src0.GetPhyAddr();
    for (uint32_t r = 0; r < repeatTime; ++r)
        for (uint32_t block = 0; block < 8; ++block) {
            const T value = from[r * 8 + block];
            T* at = to.at(r, block * per_block);
            for (uint32_t i = 0; i < per_block; ++i) at[i] = value;
        }
}

// Interleaves src0 and src1; the first half of the result goes to dst0, the rest to dst1.
template <typename T>
inline void Interleave(const LocalTensor<T>& dst0, const LocalTensor<T>& dst1, const LocalTensor<T>& src0,
                       const LocalTensor<T>& src1, const int32_t count,
                       canopy::kernel::Where where = canopy::kernel::here()) {
    using namespace canopy::kernel;
    static_assert(packing<T> == 1, "Interleave: elements of less than a byte are not supported");
    const Instruction instruction(PIPE_V, "Interleave", where, CANOPY_CHECK_FILL);
    check_count(dst0, count, "Interleave", "the first destination", where, CANOPY_CHECK_WRITE);
    check_count(dst1, count, "Interleave", "the second destination", where, CANOPY_CHECK_WRITE);
    check_count(src0, count, "Interleave", "the first source", where);
    check_count(src1, count, "Interleave", "the second source", where);
    instruction.tell();
    if (count % 2 != 0) fail(where, "Interleave: %d elements; their number must be even", count);
    const T *even = src0.GetPhyAddr(), *odd = src1.GetPhyAddr();
    for (int32_t i = 0; i < count; ++i) {
        T* to = i < count / 2 ? dst0.GetPhyAddr() + 2 * i : dst1.GetPhyAddr() + 2 * i - count;
        to[0] = even[i];
        to[1] = odd[i];
    }
}

// The inverse: the even elements of src0 followed by src1 go to dst0, the odd ones to dst1.
template <typename T>
inline void DeInterleave(const LocalTensor<T>& dst0, const LocalTensor<T>& dst1, const LocalTensor<T>& src0,
                         const LocalTensor<T>& src1, const int32_t count,
                         canopy::kernel::Where where = canopy::kernel::here()) {
    using namespace canopy::kernel;
    static_assert(packing<T> == 1, "DeInterleave: elements of less than a byte are not supported");
    const Instruction instruction(PIPE_V, "DeInterleave", where, CANOPY_CHECK_FILL);
    check_count(dst0, count, "DeInterleave", "the first destination", where, CANOPY_CHECK_WRITE);
    check_count(dst1, count, "DeInterleave", "the second destination", where, CANOPY_CHECK_WRITE);
    check_count(src0, count, "DeInterleave", "the first source", where);
    check_count(src1, count, "DeInterleave", "the second source", where);
    instruction.tell();
    if (count % 2 != 0) fail(where, "DeInterleave: %d elements; their number must be even", count);
    T *even = dst0.GetPhyAddr(), *odd = dst1.GetPhyAddr();
    for (int32_t i = 0; i < count; ++i) {
        const T* from = i < count / 2 ? src0.GetPhyAddr() + 2 * i : src1.GetPhyAddr() + 2 * i - count;
        even[i] = from[0];
        odd[i] = from[1];
    }
}

// The same from one tensor of srcCount elements.
template <typename T>
inline void DeInterleave(const LocalTensor<T>& dst0, const LocalTensor<T>& dst1, const LocalTensor<T>& src,
                         const int32_t srcCount, canopy::kernel::Where where = canopy::kernel::here()) {
    using namespace canopy::kernel;
    static_assert(packing<T> == 1, "DeInterleave: elements of less than a byte are not supported");
    const Instruction instruction(PIPE_V, "DeInterleave", where, CANOPY_CHECK_FILL);
    check_count(dst0, srcCount / 2, "DeInterleave", "the first destination", where, CANOPY_CHECK_WRITE);
    check_count(dst1, srcCount / 2, "DeInterleave", "the second destination", where, CANOPY_CHECK_WRITE);
    check_count(src, srcCount, "DeInterleave", "the source", where);
    instruction.tell();
    if (srcCount % 2 != 0) fail(where, "DeInterleave: %d elements; their number must be even", srcCount);
    for (int32_t i = 0; i < srcCount / 2; ++i) {
        dst0.GetPhyAddr()[i] = src.GetPhyAddr()[2 * i];
        dst1.GetPhyAddr()[i] = src.GetPhyAddr()[2 * i + 1];
    }
}

}  // namespace AscendC

#endif
