// SPDX-License-Identifier: Apache-2.0
// Sorting a whole tensor: Concat prepares scores for Sort, Sort orders them largest first together with their indices,
// Extract separates scores and indices again. A sorted element is a pair of 8 bytes.
#ifndef CANOPY_KERNEL_SORT_H
#define CANOPY_KERNEL_SORT_H

#include "canopy_kernel/vector/merge_sort.h"

namespace canopy::kernel {

// Pairs as 64-bit numbers; merges neighbouring sorted stretches of `length` pairs until one is left.
template <class T>
inline void merge_stretches(uint64_t* pairs, uint64_t* work, uint64_t count, uint64_t length) {
    const auto key = [](uint64_t pair) {
        T score;
        __builtin_memcpy(&score, &pair, sizeof score);
        return score_key(score);
    };
    uint64_t *from = pairs, *to = work;
    for (; length < count; length *= 2) {
        for (uint64_t first = 0; first < count; first += 2 * length) {
            const uint64_t middle = smaller(first + length, count), end = smaller(first + 2 * length, count);
            uint64_t a = first, b = middle;
            for (uint64_t i = first; i < end; ++i)
                to[i] = b == end || (a < middle && key(from[a]) >= key(from[b])) ? from[a++] : from[b++];
        }
        uint64_t* const other = from;
        from = to;
        to = other;
    }
    if (from != pairs) __builtin_memcpy(pairs, from, count * sizeof *pairs);
}

template <class T>
inline constexpr uint32_t elements_of_pair = pair_bytes / sizeof(T);

}  // namespace canopy::kernel

namespace AscendC {

// Elements of T that `elemCount` sorted elements take.
template <typename T>
inline uint32_t GetSortLen(const uint32_t elemCount) {
    return elemCount * canopy::kernel::elements_of_pair<T>;
}

// Where sorted element `elemOffset` starts, in elements of T.
template <typename T>
inline uint32_t GetSortOffset(const uint32_t elemOffset) {
    return elemOffset * canopy::kernel::elements_of_pair<T>;
}

// Scores need no preparation on chips that sort pairs: the result is the source itself.
template <typename T>
inline void Concat(LocalTensor<T>& concat, const LocalTensor<T>& src, const LocalTensor<T>& tmp,
                   const int32_t repeatTime, canopy::kernel::Where where = canopy::kernel::here()) {
    static_assert(!canopy::kernel::coupled, "Concat: this chip sorts proposals; use ProposalConcat and RpSort16");
    static_cast<void>(tmp);
    canopy::kernel::check_limit("Concat", "repeatTime", repeatTime, 0, 255, where);
    concat = src;
}

// 32 elements per repeat; sorts each 32 separately, or all of them (isFullSort).
template <typename T, bool isFullSort>
inline void Sort(const LocalTensor<T>& dst, const LocalTensor<T>& concat, const LocalTensor<uint32_t>& index,
                 const LocalTensor<T>& tmp, const int32_t repeatTime,
                 canopy::kernel::Where where = canopy::kernel::here()) {
    using namespace canopy::kernel;
    static_assert(!coupled, "Sort: this chip sorts proposals; use RpSort16 and MrgSort4");
    if (repeatTime <= 0) return;
    const auto count = static_cast<uint64_t>(repeatTime) * 32;
    const Instruction instruction(PIPE_V, "Sort", where, CANOPY_CHECK_FILL);
    instruction.writes("the destination", dst, count * pair_bytes);
    instruction.reads("the scores", concat, count * sizeof(T));
    instruction.reads("the indices", index, count * sizeof(uint32_t));
    Sort32(dst, concat, index, repeatTime, where);
    if constexpr (isFullSort) {
        if (count == 32) return;
        check_vector_operand("Sort", "the work space", tmp, count * pair_bytes, where, CANOPY_CHECK_WRITE);
        merge_stretches<T>(reinterpret_cast<uint64_t*>(dst.GetPhyAddr()), reinterpret_cast<uint64_t*>(tmp.GetPhyAddr()),
                           count, 32);
    }
}

// 32 sorted elements per repeat.
template <typename T>
inline void Extract(const LocalTensor<T>& dstValue, const LocalTensor<uint32_t>& dstIndex, const LocalTensor<T>& sorted,
                    const int32_t repeatTime, canopy::kernel::Where where = canopy::kernel::here()) {
    using namespace canopy::kernel;
    static_assert(!coupled, "Extract: this chip sorts proposals; use ProposalExtract");
    static_assert(is_any_of<T, half, float>, "Extract: scores are half or float");
    const int64_t count = int64_t{repeatTime} * 32;
    const Instruction instruction(PIPE_V, "Extract", where, CANOPY_CHECK_FILL);
    check_count(dstValue, count, "Extract", "the values", where, CANOPY_CHECK_WRITE);
    check_count(dstIndex, count, "Extract", "the indices", where, CANOPY_CHECK_WRITE);
    check_count(sorted, count * elements_of_pair<T>, "Extract", "the sorted elements", where);
    const auto* pair = reinterpret_cast<const unsigned char*>(sorted.GetPhyAddr());
    for (int64_t i = 0; i < count; ++i, pair += pair_bytes) {
        __builtin_memcpy(dstValue.GetPhyAddr() + i, pair, sizeof(T));
        __builtin_memcpy(dstIndex.GetPhyAddr() + i, pair + 4, sizeof(uint32_t));
    }
}

}  // namespace AscendC

#endif
