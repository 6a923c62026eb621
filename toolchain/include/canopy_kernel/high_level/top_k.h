// SPDX-License-Identifier: Apache-2.0
// TopK: the k largest or smallest elements of each row with their indices, in order. Equal elements keep their order;
// NaN comes first in both directions.
#ifndef CANOPY_KERNEL_HIGH_LEVEL_TOP_K_H
#define CANOPY_KERNEL_HIGH_LEVEL_TOP_K_H

#include <kernel_tiling/kernel_tiling.h>
#include <kernel_tiling/vector_configs.h>

#include "canopy_kernel/high_level/sort_records.h"
#include "canopy_kernel/high_level/work_space.h"

namespace AscendC {

// Rows of `inner` elements, of which the program filled `n`.
struct TopKInfo {
    int32_t outter = 1;
    int32_t inner;
    int32_t n;
};

constexpr TopKConfig defaultTopKConfig = {TopKAlgo::MERGE_SORT, TopKOrder::UNSET, true};

}  // namespace AscendC

namespace canopy::kernel {

using AscendC::TopKInfo;
using AscendC::TopKMode;

inline constexpr uint32_t longest_row = 4096;
inline constexpr uint32_t row_of_few = 32;

template <class Key>
struct SelectionScratch {
    Key keys[longest_row];
    Key minima[longest_row / 8];
    Keyed<Key> chosen[longest_row];
    Keyed<Key> work[longest_row];
};

// Too large for a block's stack. A selection never gives up its thread.
template <class Key>
inline SelectionScratch<Key>& selection_scratch() {
    static thread_local SelectionScratch<Key> scratch;
    return scratch;
}

template <class Key>
inline uint32_t count_up_to(const Key* keys, uint32_t count, Key bound) {
    uint32_t found = 0;
    CANOPY_VECTOR_LOOP
    for (uint32_t i = 0; i < count; ++i) found += keys[i] <= bound ? 1 : 0;
    return found;
}

template <class Key>
struct Bound {
    Key key;
    uint32_t count;  // of the keys up to it
};

// A key that at least k keys do not exceed: with at most `spare` more of them, or else the k-th key itself. It is
// between `low` and `high`, which is such a key.
template <class Key>
inline Bound<Key> bisect(const Key* keys, uint32_t count, uint32_t k, uint32_t spare, Key low, Key high) {
    Bound<Key> bound{high, count_up_to(keys, count, high)};
    while (bound.count > k + spare && low < bound.key) {
        const Key middle = (low & bound.key) + ((low ^ bound.key) >> 1);  // rounded down, without overflow
        const uint32_t found = count_up_to(keys, count, middle);
        if (found >= k)
            bound = {middle, found};
        else
            low = middle + 1;
    }
    return bound;
}

template <class Key>
inline Bound<Key> selection_bound(SelectionScratch<Key>& scratch, uint32_t count, uint32_t k) {
    const Key* keys = scratch.keys;
    const uint32_t spare = 16 + k / 8;
    Key low = keys[0], high = keys[0];
    if (count >= 512 && k <= count / 64) {
        // Of eight keys keep the smallest. If k of these are within a bound, so are k keys, and few more.
        const uint32_t groups = count / 8;
        Key* minima = scratch.minima;
        CANOPY_VECTOR_LOOP
        for (uint32_t i = 0; i < groups; ++i) {
            Key smallest = keys[i];
            for (uint32_t j = 1; j < 8; ++j) smallest = smaller(smallest, keys[j * groups + i]);
            minima[i] = smallest;
        }
        low = high = minima[0];
        CANOPY_VECTOR_LOOP
        for (uint32_t i = 0; i < groups; ++i) {
            low = minima[i] < low ? minima[i] : low;
            high = minima[i] > high ? minima[i] : high;
        }
        high = bisect(minima, groups, k, k / 4, low, high).key;
        for (uint32_t i = 8 * groups; i < count; ++i) low = smaller(low, keys[i]);
    } else {
        CANOPY_VECTOR_LOOP
        for (uint32_t i = 0; i < count; ++i) {
            low = keys[i] < low ? keys[i] : low;
            high = keys[i] > high ? keys[i] : high;
        }
    }
    return bisect(keys, count, k, spare, low, high);
}

// Collects the keys up to the bound in ascending order of position; of those equal to it, only `equal`.
template <class Key>
inline uint32_t collect_ties(const Key* keys, uint32_t count, Key bound, uint32_t equal, Keyed<Key>* chosen) {
    uint32_t found = 0;
    for (uint32_t i = 0; i < count; ++i) {
        if (keys[i] > bound || (keys[i] == bound && equal == 0)) continue;
        if (keys[i] == bound) --equal;
        chosen[found++] = {keys[i], i};
    }
    return found;
}

template <class Key>
inline uint32_t collect(const Key* keys, uint32_t count, Key bound, Keyed<Key>* chosen) {
    constexpr uint32_t stretch = 32;
    uint32_t found = 0;
    for (uint32_t first = 0; first < count; first += stretch) {
        const uint32_t end = smaller(first + stretch, count);
        if (end - first == stretch) {
            Key smallest = keys[first];
            CANOPY_VECTOR_LOOP
            for (uint32_t i = 0; i < stretch; ++i) smallest = keys[first + i] < smallest ? keys[first + i] : smallest;
            if (smallest > bound) continue;
        }
        for (uint32_t i = first; i < end; ++i) {
            chosen[found] = {keys[i], i};
            found += keys[i] <= bound ? 1 : 0;
        }
    }
    return found;
}

// The records of the k first keys, in order if `sorted`.
template <class Key>
inline const Keyed<Key>* select_first(SelectionScratch<Key>& scratch, uint32_t count, uint32_t k, bool sorted) {
    const Key* keys = scratch.keys;
    Keyed<Key>* chosen = scratch.chosen;
    uint32_t found = count;
    if (count <= 64 || k > count / 2) {
        for (uint32_t i = 0; i < count; ++i) chosen[i] = {keys[i], i};
    } else {
        const Bound<Key> bound = selection_bound(scratch, count, k);
        if (bound.count > 2 * k + 64) {
            const uint32_t ahead = bound.key == first_key<Key> ? 0 : count_up_to(keys, count, Key(bound.key - 1));
            found = collect_ties(keys, count, bound.key, k - ahead, chosen);
        } else {
            found = collect(keys, count, bound.key, chosen);
        }
    }
    return sorted || found != k ? sort_records(chosen, scratch.work, found) : chosen;
}

// Distances between the results of rows: of values, and of indices.
struct TopKPitch {
    uint64_t values, indices;
};

template <class T>
inline void check_top_k(const TopKInfo& info, int32_t k, TopKMode mode, bool with_finish, bool with_index,
                        Where where) {
    // The row length bounds the scratch memory, so it is checked in every build.
    if (info.inner < 1 || info.inner > static_cast<int32_t>(longest_row))
        fail(where, "TopK: inner is %d; rows have 32 to %u elements", info.inner, longest_row);
    if (k < 1 || k > info.inner) fail(where, "TopK: k is %d; it must be between 1 and inner (%d)", k, info.inner);
    if constexpr (checked) {
        check_limit("TopK", "outter", info.outter, 1, INT32_MAX, where);
        check_limit("TopK", "n", info.n, k, info.inner, where);
        if (mode == TopKMode::TOPK_NSMALL) {
            if (info.inner != static_cast<int32_t>(row_of_few))
                fail(where, "TopK: inner is %d; in mode TOPK_NSMALL rows have 32 elements", info.inner);
            if (with_finish) fail(where, "TopK: mode TOPK_NSMALL takes no finish tensor");
        } else {
            if (info.inner % 32 != 0) fail(where, "TopK: inner is %d; it must be a multiple of 32", info.inner);
            if (__NPU_ARCH__ == 2002 && is_same<T, half> && !with_index && info.inner > 2048)
                fail(where, "TopK: inner is %d; half rows without source indices have at most 2048 elements",
                     info.inner);
        }
    }
}

template <bool with_index, bool with_finish, TopKMode mode, class T>
inline void top_k(const LocalTensor<T>& values, const LocalTensor<int32_t>& indices, const LocalTensor<T>& src,
                  const LocalTensor<int32_t>& src_index, const LocalTensor<bool>& finish, int32_t k,
                  const TopKInfo& info, bool largest, bool sorted, Where where) {
    static_assert(is_any_of<T, half, float> || (any_type_chip && is_sortable<T>),
                  "TopK: elements are half or float (3510: integers and bfloat16_t too)");
    if (on_cube_core()) return;
    check_top_k<T>(info, k, mode, with_finish, with_index, where);
    constexpr bool dense = mode == TopKMode::TOPK_NSMALL;
    const auto wanted = static_cast<uint32_t>(k), inner = static_cast<uint32_t>(info.inner);
    const auto rows = static_cast<uint64_t>(info.outter);
    const TopKPitch pitch = {dense ? wanted : round_up(uint64_t{wanted}, elements_in<T>(block_bytes)),
                             dense ? wanted : round_up(uint64_t{wanted}, uint64_t{8})};
    const Instruction instruction(PIPE_V, "TopK", where, CANOPY_CHECK_USE);
    check_vector_operand("TopK", "the values", values, ((rows - 1) * pitch.values + wanted) * sizeof(T), where,
                         CANOPY_CHECK_WRITE);
    check_vector_operand("TopK", "the indices", indices, ((rows - 1) * pitch.indices + wanted) * 4, where,
                         CANOPY_CHECK_WRITE);
    if constexpr (is_checking_variant)
        instruction.reads("src", src, src.GetPhyAddr(),
                          {static_cast<uint32_t>(info.n) * sizeof(T), inner * sizeof(T), static_cast<uint32_t>(rows)});
    else
        check_vector_operand("TopK", "the source", src, rows * inner * sizeof(T), where);
    if constexpr (with_index)
        check_vector_operand("TopK", "the source indices", src_index, (dense ? rows : 1) * inner * 4, where);
    if constexpr (with_finish) check_vector_operand("TopK", "the finish tensor", finish, rows, where);

    auto& scratch = selection_scratch<SortKey<T>>();
    for (uint64_t r = 0; r < rows; ++r) {
        const T* row = src.GetPhyAddr() + r * inner;
        if (largest)
            make_keys<true, true>(row, inner, scratch.keys);
        else
            make_keys<false, true>(row, inner, scratch.keys);
        const auto* first = select_first(scratch, inner, wanted, sorted);
        T* value = values.GetPhyAddr() + r * pitch.values;
        int32_t* index = indices.GetPhyAddr() + r * pitch.indices;
        for (uint32_t i = 0; i < wanted; ++i) {
            const uint32_t at = first[i].position;
            value[i] = row[at];
            if constexpr (with_index)
                index[i] = src_index.GetPhyAddr()[dense ? r * inner + at : at];
            else
                index[i] = static_cast<int32_t>(at);
        }
        if constexpr (with_finish)
            if (finish.GetPhyAddr()[r])
                for (uint32_t i = 0; i < wanted; ++i) index[i] = info.n;
    }
}

constexpr bool takes_largest(const AscendC::TopKConfig& config, bool is_largest) {
    using AscendC::TopKOrder;
    return config.order == TopKOrder::UNSET ? is_largest : config.order == TopKOrder::LARGEST;
}

}  // namespace canopy::kernel

namespace AscendC {

// The tiling has nothing that is needed here.
template <typename T, bool isInitIndex = false, bool isHasfinish = false, bool isReuseSrc = false,
          enum TopKMode topkMode = TopKMode::TOPK_NORMAL, const TopKConfig& config = defaultTopKConfig>
inline void TopK(const LocalTensor<T>& dstValueLocal, const LocalTensor<int32_t>& dstIndexLocal,
                 const LocalTensor<T>& srcLocal, const LocalTensor<int32_t>& srcIndexLocal,
                 const LocalTensor<bool>& finishLocal, const int32_t k, const TopkTiling& tilling,
                 const TopKInfo& topKInfo, const bool isLargest = true, CANOPY_WHERE) {
    static_cast<void>(tilling);
    canopy::kernel::top_k<isInitIndex, isHasfinish, topkMode>(
        dstValueLocal, dstIndexLocal, srcLocal, srcIndexLocal, finishLocal, k, topKInfo,
        canopy::kernel::takes_largest(config, isLargest), config.sorted, where);
}

template <typename T, bool isInitIndex = false, bool isHasfinish = false, bool isReuseSrc = false,
          enum TopKMode topkMode = TopKMode::TOPK_NORMAL, const TopKConfig& config = defaultTopKConfig>
inline void TopK(const LocalTensor<T>& dstValueLocal, const LocalTensor<int32_t>& dstIndexLocal,
                 const LocalTensor<T>& srcLocal, const LocalTensor<int32_t>& srcIndexLocal,
                 const LocalTensor<bool>& finishLocal, const LocalTensor<uint8_t>& tmpLocal, const int32_t k,
                 const TopkTiling& tilling, const TopKInfo& topKInfo, const bool isLargest = true, CANOPY_WHERE) {
    const canopy::kernel::WorkSpace work("TopK", tmpLocal, where, dstValueLocal, dstIndexLocal, srcLocal);
    TopK<T, isInitIndex, isHasfinish, isReuseSrc, topkMode, config>(
        dstValueLocal, dstIndexLocal, srcLocal, srcIndexLocal, finishLocal, k, tilling, topKInfo, isLargest, where);
}

}  // namespace AscendC

#endif
