// SPDX-License-Identifier: Apache-2.0
// The public names of the reductions of reduce.h, and the registers that hold their results.
#ifndef CANOPY_KERNEL_REDUCE_NAMES_H
#define CANOPY_KERNEL_REDUCE_NAMES_H

#include "canopy_kernel/vector/reduce.h"

namespace canopy::kernel {

// Whether the count forms of reductions to one result use the scalar unit, and keep what repeats give in a work space.
inline constexpr bool reduces_in_steps = __NPU_ARCH__ == 2201 || coupled;

// The work space of a reduction to one result, in the checking variant; `results` of each repeat are kept there.
template <class T>
inline void name_work_space(const LocalTensor<T>& work, int64_t repeats, uint64_t results, bool with_index) {
    if constexpr (is_checking_variant && reduces_in_steps) {
        if (repeats <= 0) return;
        constexpr uint64_t per_block = block_bytes / sizeof(T);
        uint64_t kept = static_cast<uint64_t>(repeats) * results, elements = round_up(kept, per_block);
        // An index takes further rounds over the results of the one before.
        while (with_index && kept > results) {
            kept = (kept + lanes<T> - 1) / lanes<T> * results;
            elements += round_up(kept, per_block);
        }
        add_operand(CANOPY_CHECK_WRITE, "the work space", work, elements * sizeof(T));
    }
}

// The same for `count` elements.
template <class T>
inline void name_work_space_of(const Instruction& reduction, const LocalTensor<T>& work, int64_t count,
                               uint64_t results, bool with_index) {
    if (reduces_in_steps) reduction.set(CANOPY_CHECK_RETURNS_SCALAR);
    name_work_space(work, (count + lanes<T> - 1) / lanes<T>, results, with_index);
}

}  // namespace canopy::kernel

namespace AscendC {

// One result for a whole tensor. The work space is not used here.
template <typename T, bool isSetMask = true>
inline void ReduceSum(const LocalTensor<T>& dst, const LocalTensor<T>& src, const LocalTensor<T>& sharedTmpBuffer,
                      const int32_t count, canopy::kernel::Where where = canopy::kernel::here()) {
    using namespace canopy::kernel;
    const Instruction instruction(PIPE_V, "ReduceSum", where, CANOPY_CHECK_USE);
    name_work_space_of(instruction, sharedTmpBuffer, count, 1, false);
    reduce_sum("ReduceSum", dst, src, select_total(lanes<T>, count < 0 ? 0 : static_cast<uint64_t>(count)),
               DEFAULT_REPEAT_STRIDE, where);
}

template <typename T, bool isSetMask = true>
inline void ReduceSum(const LocalTensor<T>& dst, const LocalTensor<T>& src, const LocalTensor<T>& sharedTmpBuffer,
                      const int32_t mask, const int32_t repeatTime, const int32_t srcRepStride,
                      canopy::kernel::Where where = canopy::kernel::here()) {
    using namespace canopy::kernel;
    const Instruction instruction(PIPE_V, "ReduceSum", where, CANOPY_CHECK_USE);
    name_work_space(sharedTmpBuffer, repeatTime, 1, false);
    reduce_sum("ReduceSum", dst, src,
               select<isSetMask>(lanes<T>, static_cast<uint64_t>(mask), static_cast<uint64_t>(repeatTime)),
               srcRepStride, where);
}

template <typename T, bool isSetMask = true>
inline void ReduceSum(const LocalTensor<T>& dst, const LocalTensor<T>& src, const LocalTensor<T>& sharedTmpBuffer,
                      const uint64_t mask[], const int32_t repeatTime, const int32_t srcRepStride,
                      canopy::kernel::Where where = canopy::kernel::here()) {
    using namespace canopy::kernel;
    const Instruction instruction(PIPE_V, "ReduceSum", where, CANOPY_CHECK_USE);
    name_work_space(sharedTmpBuffer, repeatTime, 1, false);
    reduce_sum("ReduceSum", dst, src, select<isSetMask>(lanes<T>, mask, static_cast<uint64_t>(repeatTime)),
               srcRepStride, where);
}

template <typename T>
inline void ReduceMax(const LocalTensor<T>& dst, const LocalTensor<T>& src, const LocalTensor<T>& sharedTmpBuffer,
                      const int32_t count, bool calIndex = false,
                      canopy::kernel::Where where = canopy::kernel::here()) {
    using namespace canopy::kernel;
    const Instruction instruction(PIPE_V, "ReduceMax", where, CANOPY_CHECK_USE);
    name_work_space_of(instruction, sharedTmpBuffer, count, 2, calIndex);
    reduce_extreme<true>("ReduceMax", dst, src, select_total(lanes<T>, count < 0 ? 0 : static_cast<uint64_t>(count)),
                         DEFAULT_REPEAT_STRIDE, calIndex, where);
}

template <typename T>
inline void ReduceMax(const LocalTensor<T>& dst, const LocalTensor<T>& src, const LocalTensor<T>& sharedTmpBuffer,
                      const int32_t mask, const int32_t repeatTime, const int32_t srcRepStride, bool calIndex = false,
                      canopy::kernel::Where where = canopy::kernel::here()) {
    using namespace canopy::kernel;
    const Instruction instruction(PIPE_V, "ReduceMax", where, CANOPY_CHECK_USE);
    name_work_space(sharedTmpBuffer, repeatTime, 2, calIndex);
    reduce_extreme<true>("ReduceMax", dst, src,
                         select<true>(lanes<T>, static_cast<uint64_t>(mask), static_cast<uint64_t>(repeatTime)),
                         srcRepStride, calIndex, where);
}

template <typename T>
inline void ReduceMax(const LocalTensor<T>& dst, const LocalTensor<T>& src, const LocalTensor<T>& sharedTmpBuffer,
                      const uint64_t mask[], const int32_t repeatTime, const int32_t srcRepStride,
                      bool calIndex = false, canopy::kernel::Where where = canopy::kernel::here()) {
    using namespace canopy::kernel;
    const Instruction instruction(PIPE_V, "ReduceMax", where, CANOPY_CHECK_USE);
    name_work_space(sharedTmpBuffer, repeatTime, 2, calIndex);
    reduce_extreme<true>("ReduceMax", dst, src, select<true>(lanes<T>, mask, static_cast<uint64_t>(repeatTime)),
                         srcRepStride, calIndex, where);
}

template <typename T>
inline void ReduceMin(const LocalTensor<T>& dst, const LocalTensor<T>& src, const LocalTensor<T>& sharedTmpBuffer,
                      const int32_t count, bool calIndex = false,
                      canopy::kernel::Where where = canopy::kernel::here()) {
    using namespace canopy::kernel;
    const Instruction instruction(PIPE_V, "ReduceMin", where, CANOPY_CHECK_USE);
    name_work_space_of(instruction, sharedTmpBuffer, count, 2, calIndex);
    reduce_extreme<false>("ReduceMin", dst, src, select_total(lanes<T>, count < 0 ? 0 : static_cast<uint64_t>(count)),
                          DEFAULT_REPEAT_STRIDE, calIndex, where);
}

template <typename T>
inline void ReduceMin(const LocalTensor<T>& dst, const LocalTensor<T>& src, const LocalTensor<T>& sharedTmpBuffer,
                      const int32_t mask, const int32_t repeatTime, const int32_t srcRepStride, bool calIndex = false,
                      canopy::kernel::Where where = canopy::kernel::here()) {
    using namespace canopy::kernel;
    const Instruction instruction(PIPE_V, "ReduceMin", where, CANOPY_CHECK_USE);
    name_work_space(sharedTmpBuffer, repeatTime, 2, calIndex);
    reduce_extreme<false>("ReduceMin", dst, src,
                          select<true>(lanes<T>, static_cast<uint64_t>(mask), static_cast<uint64_t>(repeatTime)),
                          srcRepStride, calIndex, where);
}

template <typename T>
inline void ReduceMin(const LocalTensor<T>& dst, const LocalTensor<T>& src, const LocalTensor<T>& sharedTmpBuffer,
                      const uint64_t mask[], const int32_t repeatTime, const int32_t srcRepStride,
                      bool calIndex = false, canopy::kernel::Where where = canopy::kernel::here()) {
    using namespace canopy::kernel;
    const Instruction instruction(PIPE_V, "ReduceMin", where, CANOPY_CHECK_USE);
    name_work_space(sharedTmpBuffer, repeatTime, 2, calIndex);
    reduce_extreme<false>("ReduceMin", dst, src, select<true>(lanes<T>, mask, static_cast<uint64_t>(repeatTime)),
                          srcRepStride, calIndex, where);
}

// One result for each repeat.
template <typename T, bool isSetMask = true>
inline void WholeReduceSum(const LocalTensor<T>& dst, const LocalTensor<T>& src, const int32_t mask,
                           const int32_t repeatTime, const int32_t dstRepStride, const int32_t srcBlkStride,
                           const int32_t srcRepStride, canopy::kernel::Where where = canopy::kernel::here()) {
    using namespace canopy::kernel;
    sum_repeats("WholeReduceSum", dst, src,
                select<isSetMask>(lanes<T>, static_cast<uint64_t>(mask), static_cast<uint64_t>(repeatTime)),
                dstRepStride, srcBlkStride, srcRepStride, where);
}

template <typename T, bool isSetMask = true>
inline void WholeReduceSum(const LocalTensor<T>& dst, const LocalTensor<T>& src, const uint64_t mask[],
                           const int32_t repeatTime, const int32_t dstRepStride, const int32_t srcBlkStride,
                           const int32_t srcRepStride, canopy::kernel::Where where = canopy::kernel::here()) {
    using namespace canopy::kernel;
    sum_repeats("WholeReduceSum", dst, src, select<isSetMask>(lanes<T>, mask, static_cast<uint64_t>(repeatTime)),
                dstRepStride, srcBlkStride, srcRepStride, where);
}

template <typename T, bool isSetMask = true>
inline void WholeReduceMax(const LocalTensor<T>& dst, const LocalTensor<T>& src, const int32_t mask,
                           const int32_t repeatTime, const int32_t dstRepStride, const int32_t srcBlkStride,
                           const int32_t srcRepStride, ReduceOrder order = ReduceOrder::ORDER_VALUE_INDEX,
                           canopy::kernel::Where where = canopy::kernel::here()) {
    using namespace canopy::kernel;
    extremes_of_repeats<true>(
        "WholeReduceMax", dst, src,
        select<isSetMask>(lanes<T>, static_cast<uint64_t>(mask), static_cast<uint64_t>(repeatTime)), dstRepStride,
        srcBlkStride, srcRepStride, order, where);
}

template <typename T, bool isSetMask = true>
inline void WholeReduceMax(const LocalTensor<T>& dst, const LocalTensor<T>& src, const uint64_t mask[],
                           const int32_t repeatTime, const int32_t dstRepStride, const int32_t srcBlkStride,
                           const int32_t srcRepStride, ReduceOrder order = ReduceOrder::ORDER_VALUE_INDEX,
                           canopy::kernel::Where where = canopy::kernel::here()) {
    using namespace canopy::kernel;
    extremes_of_repeats<true>("WholeReduceMax", dst, src,
                              select<isSetMask>(lanes<T>, mask, static_cast<uint64_t>(repeatTime)), dstRepStride,
                              srcBlkStride, srcRepStride, order, where);
}

template <typename T, bool isSetMask = true>
inline void WholeReduceMin(const LocalTensor<T>& dst, const LocalTensor<T>& src, const int32_t mask,
                           const int32_t repeatTime, const int32_t dstRepStride, const int32_t srcBlkStride,
                           const int32_t srcRepStride, ReduceOrder order = ReduceOrder::ORDER_VALUE_INDEX,
                           canopy::kernel::Where where = canopy::kernel::here()) {
    using namespace canopy::kernel;
    extremes_of_repeats<false>(
        "WholeReduceMin", dst, src,
        select<isSetMask>(lanes<T>, static_cast<uint64_t>(mask), static_cast<uint64_t>(repeatTime)), dstRepStride,
        srcBlkStride, srcRepStride, order, where);
}

template <typename T, bool isSetMask = true>
inline void WholeReduceMin(const LocalTensor<T>& dst, const LocalTensor<T>& src, const uint64_t mask[],
                           const int32_t repeatTime, const int32_t dstRepStride, const int32_t srcBlkStride,
                           const int32_t srcRepStride, ReduceOrder order = ReduceOrder::ORDER_VALUE_INDEX,
                           canopy::kernel::Where where = canopy::kernel::here()) {
    using namespace canopy::kernel;
    extremes_of_repeats<false>("WholeReduceMin", dst, src,
                               select<isSetMask>(lanes<T>, mask, static_cast<uint64_t>(repeatTime)), dstRepStride,
                               srcBlkStride, srcRepStride, order, where);
}

template <typename T, bool isSetMask = true>
inline void RepeatReduceSum(const LocalTensor<T>& dst, const LocalTensor<T>& src, const int32_t repeatTime,
                            const int32_t mask, const int32_t dstBlkStride, const int32_t srcBlkStride,
                            const int32_t dstRepStride, const int32_t srcRepStride,
                            canopy::kernel::Where where = canopy::kernel::here()) {
    using namespace canopy::kernel;
    static_cast<void>(dstBlkStride);
    sum_repeats("RepeatReduceSum", dst, src,
                select<isSetMask>(lanes<T>, static_cast<uint64_t>(mask), static_cast<uint64_t>(repeatTime)),
                dstRepStride, srcBlkStride, srcRepStride, where);
}

template <typename T, bool isSetMask = true>
inline void RepeatReduceSum(const LocalTensor<T>& dst, const LocalTensor<T>& src, const int32_t repeatTime,
                            const uint64_t mask[], const int32_t dstBlkStride, const int32_t srcBlkStride,
                            const int32_t dstRepStride, const int32_t srcRepStride,
                            canopy::kernel::Where where = canopy::kernel::here()) {
    using namespace canopy::kernel;
    static_cast<void>(dstBlkStride);
    sum_repeats("RepeatReduceSum", dst, src, select<isSetMask>(lanes<T>, mask, static_cast<uint64_t>(repeatTime)),
                dstRepStride, srcBlkStride, srcRepStride, where);
}

// One result for each block of 32 bytes; the stride of the destination counts eight results.
template <typename T, bool isSetMask = true>
inline void BlockReduceSum(const LocalTensor<T>& dst, const LocalTensor<T>& src, const int32_t repeatTime,
                           const int32_t mask, const int32_t dstRepStride, const int32_t srcBlkStride,
                           const int32_t srcRepStride, canopy::kernel::Where where = canopy::kernel::here()) {
    using namespace canopy::kernel;
    reduce_blocks<ReduceType::SUM>(
        "BlockReduceSum", dst, src,
        select<isSetMask>(lanes<T>, static_cast<uint64_t>(mask), static_cast<uint64_t>(repeatTime)), dstRepStride,
        srcBlkStride, srcRepStride, where);
}

template <typename T, bool isSetMask = true>
inline void BlockReduceSum(const LocalTensor<T>& dst, const LocalTensor<T>& src, const int32_t repeatTime,
                           const uint64_t mask[], const int32_t dstRepStride, const int32_t srcBlkStride,
                           const int32_t srcRepStride, canopy::kernel::Where where = canopy::kernel::here()) {
    using namespace canopy::kernel;
    reduce_blocks<ReduceType::SUM>("BlockReduceSum", dst, src,
                                   select<isSetMask>(lanes<T>, mask, static_cast<uint64_t>(repeatTime)), dstRepStride,
                                   srcBlkStride, srcRepStride, where);
}

template <typename T, bool isSetMask = true>
inline void BlockReduceMax(const LocalTensor<T>& dst, const LocalTensor<T>& src, const int32_t repeatTime,
                           const int32_t mask, const int32_t dstRepStride, const int32_t srcBlkStride,
                           const int32_t srcRepStride, canopy::kernel::Where where = canopy::kernel::here()) {
    using namespace canopy::kernel;
    reduce_blocks<ReduceType::MAX>(
        "BlockReduceMax", dst, src,
        select<isSetMask>(lanes<T>, static_cast<uint64_t>(mask), static_cast<uint64_t>(repeatTime)), dstRepStride,
        srcBlkStride, srcRepStride, where);
}

template <typename T, bool isSetMask = true>
inline void BlockReduceMax(const LocalTensor<T>& dst, const LocalTensor<T>& src, const int32_t repeatTime,
                           const uint64_t mask[], const int32_t dstRepStride, const int32_t srcBlkStride,
                           const int32_t srcRepStride, canopy::kernel::Where where = canopy::kernel::here()) {
    using namespace canopy::kernel;
    reduce_blocks<ReduceType::MAX>("BlockReduceMax", dst, src,
                                   select<isSetMask>(lanes<T>, mask, static_cast<uint64_t>(repeatTime)), dstRepStride,
                                   srcBlkStride, srcRepStride, where);
}

template <typename T, bool isSetMask = true>
inline void BlockReduceMin(const LocalTensor<T>& dst, const LocalTensor<T>& src, const int32_t repeatTime,
                           const int32_t mask, const int32_t dstRepStride, const int32_t srcBlkStride,
                           const int32_t srcRepStride, canopy::kernel::Where where = canopy::kernel::here()) {
    using namespace canopy::kernel;
    reduce_blocks<ReduceType::MIN>(
        "BlockReduceMin", dst, src,
        select<isSetMask>(lanes<T>, static_cast<uint64_t>(mask), static_cast<uint64_t>(repeatTime)), dstRepStride,
        srcBlkStride, srcRepStride, where);
}

template <typename T, bool isSetMask = true>
inline void BlockReduceMin(const LocalTensor<T>& dst, const LocalTensor<T>& src, const int32_t repeatTime,
                           const uint64_t mask[], const int32_t dstRepStride, const int32_t srcBlkStride,
                           const int32_t srcRepStride, canopy::kernel::Where where = canopy::kernel::here()) {
    using namespace canopy::kernel;
    reduce_blocks<ReduceType::MIN>("BlockReduceMin", dst, src,
                                   select<isSetMask>(lanes<T>, mask, static_cast<uint64_t>(repeatTime)), dstRepStride,
                                   srcBlkStride, srcRepStride, where);
}

// The sums of neighbours; the stride of the destination counts 128 bytes.
template <typename T, bool isSetMask = true>
inline void PairReduceSum(const LocalTensor<T>& dst, const LocalTensor<T>& src, const int32_t repeatTime,
                          const int32_t mask, const int32_t dstRepStride, const int32_t srcBlkStride,
                          const int32_t srcRepStride, canopy::kernel::Where where = canopy::kernel::here()) {
    using namespace canopy::kernel;
    reduce_pairs("PairReduceSum", dst, src,
                 select<isSetMask>(lanes<T>, static_cast<uint64_t>(mask), static_cast<uint64_t>(repeatTime)),
                 dstRepStride, srcBlkStride, srcRepStride, where);
}

template <typename T, bool isSetMask = true>
inline void PairReduceSum(const LocalTensor<T>& dst, const LocalTensor<T>& src, const int32_t repeatTime,
                          const uint64_t mask[], const int32_t dstRepStride, const int32_t srcBlkStride,
                          const int32_t srcRepStride, canopy::kernel::Where where = canopy::kernel::here()) {
    using namespace canopy::kernel;
    reduce_pairs("PairReduceSum", dst, src, select<isSetMask>(lanes<T>, mask, static_cast<uint64_t>(repeatTime)),
                 dstRepStride, srcBlkStride, srcRepStride, where);
}

// Newer names of the functions above, with the kind of reduction as a template argument.
template <ReduceType reduceType, typename T, bool isSetMask = true>
inline void ReduceRepeat(const LocalTensor<T>& dst, const LocalTensor<T>& src, const int32_t mask,
                         const int32_t repeatTime, const int32_t dstRepStride, const int32_t srcBlkStride,
                         const int32_t srcRepStride, ReduceOrder order = ReduceOrder::ORDER_VALUE_INDEX,
                         canopy::kernel::Where where = canopy::kernel::here()) {
    using namespace canopy::kernel;
    const Selection chosen =
        select<isSetMask>(lanes<T>, static_cast<uint64_t>(mask), static_cast<uint64_t>(repeatTime));
    if constexpr (reduceType == ReduceType::SUM)
        sum_repeats("ReduceRepeat", dst, src, chosen, dstRepStride, srcBlkStride, srcRepStride, where);
    else
        extremes_of_repeats<reduceType == ReduceType::MAX>("ReduceRepeat", dst, src, chosen, dstRepStride, srcBlkStride,
                                                           srcRepStride, order, where);
}

template <ReduceType reduceType, typename T, bool isSetMask = true>
inline void ReduceRepeat(const LocalTensor<T>& dst, const LocalTensor<T>& src, const uint64_t mask[],
                         const int32_t repeatTime, const int32_t dstRepStride, const int32_t srcBlkStride,
                         const int32_t srcRepStride, ReduceOrder order = ReduceOrder::ORDER_VALUE_INDEX,
                         canopy::kernel::Where where = canopy::kernel::here()) {
    using namespace canopy::kernel;
    const Selection chosen = select<isSetMask>(lanes<T>, mask, static_cast<uint64_t>(repeatTime));
    if constexpr (reduceType == ReduceType::SUM)
        sum_repeats("ReduceRepeat", dst, src, chosen, dstRepStride, srcBlkStride, srcRepStride, where);
    else
        extremes_of_repeats<reduceType == ReduceType::MAX>("ReduceRepeat", dst, src, chosen, dstRepStride, srcBlkStride,
                                                           srcRepStride, order, where);
}

template <ReduceType reduceType, typename T, bool isSetMask = true>
inline void ReduceDataBlock(const LocalTensor<T>& dst, const LocalTensor<T>& src, const int32_t repeatTime,
                            const int32_t mask, const int32_t dstRepStride, const int32_t srcBlkStride,
                            const int32_t srcRepStride, canopy::kernel::Where where = canopy::kernel::here()) {
    using namespace canopy::kernel;
    reduce_blocks<reduceType>(
        "ReduceDataBlock", dst, src,
        select<isSetMask>(lanes<T>, static_cast<uint64_t>(mask), static_cast<uint64_t>(repeatTime)), dstRepStride,
        srcBlkStride, srcRepStride, where);
}

template <ReduceType reduceType, typename T, bool isSetMask = true>
inline void ReduceDataBlock(const LocalTensor<T>& dst, const LocalTensor<T>& src, const int32_t repeatTime,
                            const uint64_t mask[], const int32_t dstRepStride, const int32_t srcBlkStride,
                            const int32_t srcRepStride, canopy::kernel::Where where = canopy::kernel::here()) {
    using namespace canopy::kernel;
    reduce_blocks<reduceType>("ReduceDataBlock", dst, src,
                              select<isSetMask>(lanes<T>, mask, static_cast<uint64_t>(repeatTime)), dstRepStride,
                              srcBlkStride, srcRepStride, where);
}

template <ReduceType reduceType = ReduceType::SUM, typename T, bool isSetMask = true>
inline void ReducePairElem(const LocalTensor<T>& dst, const LocalTensor<T>& src, const int32_t repeatTime,
                           const int32_t mask, const int32_t dstRepStride, const int32_t srcBlkStride,
                           const int32_t srcRepStride, canopy::kernel::Where where = canopy::kernel::here()) {
    using namespace canopy::kernel;
    static_assert(reduceType == ReduceType::SUM, "ReducePairElem: neighbours can only be summed");
    reduce_pairs("ReducePairElem", dst, src,
                 select<isSetMask>(lanes<T>, static_cast<uint64_t>(mask), static_cast<uint64_t>(repeatTime)),
                 dstRepStride, srcBlkStride, srcRepStride, where);
}

template <ReduceType reduceType = ReduceType::SUM, typename T, bool isSetMask = true>
inline void ReducePairElem(const LocalTensor<T>& dst, const LocalTensor<T>& src, const int32_t repeatTime,
                           const uint64_t mask[], const int32_t dstRepStride, const int32_t srcBlkStride,
                           const int32_t srcRepStride, canopy::kernel::Where where = canopy::kernel::here()) {
    using namespace canopy::kernel;
    static_assert(reduceType == ReduceType::SUM, "ReducePairElem: neighbours can only be summed");
    reduce_pairs("ReducePairElem", dst, src, select<isSetMask>(lanes<T>, mask, static_cast<uint64_t>(repeatTime)),
                 dstRepStride, srcBlkStride, srcRepStride, where);
}

// The result of the last ReduceSum.
template <typename T>
inline T GetReduceRepeatSumSpr() {
    const int64_t bits = canopy::kernel::core_state().reduced_sum;
    T value;
    __builtin_memcpy(&value, &bits, sizeof value);
    return value;
}
template <typename T>
inline T GetAccVal() {
    return GetReduceRepeatSumSpr<T>();
}

// The result of the last ReduceMax, ReduceMin, WholeReduceMax or WholeReduceMin; an index is returned as bits of T.
template <typename T>
inline void GetReduceRepeatMaxMinSpr(T& maxMinValue, T& maxMinIndex) {
    static_assert(sizeof(T) <= 4, "GetReduceRepeatMaxMinSpr: the register holds elements of up to four bytes");
    const auto& state = canopy::kernel::core_state();
    __builtin_memcpy(&maxMinValue, &state.reduced_value[0], sizeof(T));
    __builtin_memcpy(&maxMinIndex, &state.reduced_value[1], sizeof(T));
}
template <typename T>
inline void GetReduceRepeatMaxMinSpr(T& maxMinValue) {
    T index;
    GetReduceRepeatMaxMinSpr(maxMinValue, index);
}
template <typename T>
inline void GetReduceMaxMinCount(T& maxMinValue, T& maxMinIndex) {
    GetReduceRepeatMaxMinSpr(maxMinValue, maxMinIndex);
}
template <typename T>
inline void GetReduceMaxMinCount(T& maxMinValue) {
    GetReduceRepeatMaxMinSpr(maxMinValue);
}

}  // namespace AscendC

#endif
