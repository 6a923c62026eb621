// SPDX-License-Identifier: Apache-2.0
// Sort of a whole tensor by value, smallest or largest first, optionally with indices. Equal elements keep their order;
// NaN is larger than every number.
#ifndef CANOPY_KERNEL_HIGH_LEVEL_SORT_TENSOR_H
#define CANOPY_KERNEL_HIGH_LEVEL_SORT_TENSOR_H

#include <kernel_tiling/vector_configs.h>

#include "canopy_kernel/high_level/sort_records.h"
#include "canopy_kernel/high_level/work_space.h"
#include "canopy_kernel/vector/sort.h"

namespace AscendC {

constexpr SortConfig DEFAULT_SORT_CONFIG = {SortType::RADIX_SORT, false};

}  // namespace AscendC

namespace canopy::kernel {

// The records of the values in order.
template <bool descending, class T>
inline const Keyed<SortKey<T>>* sorted_records(const T* values, uint32_t count) {
    using Key = SortKey<T>;
    const uint64_t bytes = uint64_t{count} * sizeof(Keyed<Key>);
    static const char key = 0;
    core();  // opened
    auto* memory = static_cast<unsigned char*>(block_memory(&key, 2 * bytes));
    auto* records = reinterpret_cast<Keyed<Key>*>(memory);
    auto* work = reinterpret_cast<Keyed<Key>*>(memory + bytes);
    const uint32_t zero = opaque_zero();
    for (uint32_t i = 0; i < count; ++i) records[i] = {sort_key<descending, descending>(values[i], zero), i};
    return sort_records(records, work, count);
}

// Indices come from `source`, or are positions if that is null; a null `indices` means that nobody wants them.
template <bool descending, class T, class U>
inline void sort_tensor(const LocalTensor<T>& dst, const LocalTensor<T>& src, U* indices, const U* source,
                        uint32_t count, Where where) {
    static_assert(is_sortable<T>, "Sort: elements are integers, half, bfloat16_t or float");
    if (on_cube_core() || count == 0) return;
    const Instruction instruction(PIPE_V, "Sort", where, CANOPY_CHECK_USE);
    check_count(dst, count, "Sort", "the destination", where);
    check_count(src, count, "Sort", "the source", where);
    const T* from = src.GetPhyAddr();
    T* to = dst.GetPhyAddr();
    const auto* const sorted = sorted_records<descending>(from, count);
    for (uint32_t i = 0; i < count; ++i) to[i] = from[sorted[i].position];
    if (indices == nullptr) return;
    for (uint32_t i = 0; i < count; ++i)
        indices[i] = source == nullptr ? static_cast<U>(sorted[i].position) : source[sorted[i].position];
}

template <class U>
inline void check_sort_indices(const LocalTensor<U>& indices, const char* operand, uint32_t count, Where where,
                               uint8_t kind = CANOPY_CHECK_READ) {
    static_assert(is_any_of<U, int32_t, uint32_t, int64_t, uint64_t>, "Sort: indices are integers of 32 or 64 bits");
    if constexpr (is_checking_variant) {
        if (!on_cube_core()) add_operand(kind, operand, indices, bytes_of<U>(count));
    } else {
        check_count(indices, count, "Sort", operand, where);
    }
}

}  // namespace canopy::kernel

namespace AscendC {

// Values only.
template <typename T, bool isReuseSource = false, const SortConfig& config = DEFAULT_SORT_CONFIG>
inline void Sort(const LocalTensor<T>& dstTensor, const LocalTensor<T>& srcTensor, const uint32_t calCount,
                 CANOPY_WHERE) {
    canopy::kernel::sort_tensor<config.isDescend, T, uint32_t>(dstTensor, srcTensor, nullptr, nullptr, calCount, where);
}
template <typename T, bool isReuseSource = false, const SortConfig& config = DEFAULT_SORT_CONFIG>
inline void Sort(const LocalTensor<T>& dstTensor, const LocalTensor<T>& srcTensor,
                 const LocalTensor<uint8_t>& sharedTmpBuffer, const uint32_t calCount, CANOPY_WHERE) {
    const canopy::kernel::WorkSpace work("Sort", sharedTmpBuffer, where, dstTensor, srcTensor);
    Sort<T, isReuseSource, config>(dstTensor, srcTensor, calCount, where);
}

// Values and their positions.
template <typename T, bool isReuseSource = false, const SortConfig& config = DEFAULT_SORT_CONFIG>
inline void Sort(const LocalTensor<T>& dstTensor, const LocalTensor<uint32_t>& dstIndexTensor,
                 const LocalTensor<T>& srcTensor, const uint32_t calCount, CANOPY_WHERE) {
    const canopy::kernel::JoinedInstruction instruction(PIPE_V, "Sort", where);
    canopy::kernel::check_sort_indices(dstIndexTensor, "the indices", calCount, where, CANOPY_CHECK_WRITE);
    canopy::kernel::sort_tensor<config.isDescend, T, uint32_t>(dstTensor, srcTensor, dstIndexTensor.GetPhyAddr(),
                                                               nullptr, calCount, where);
}
template <typename T, bool isReuseSource = false, const SortConfig& config = DEFAULT_SORT_CONFIG>
inline void Sort(const LocalTensor<T>& dstTensor, const LocalTensor<uint32_t>& dstIndexTensor,
                 const LocalTensor<T>& srcTensor, const LocalTensor<uint8_t>& sharedTmpBuffer, const uint32_t calCount,
                 CANOPY_WHERE) {
    const canopy::kernel::WorkSpace work("Sort", sharedTmpBuffer, where, dstTensor, dstIndexTensor, srcTensor);
    Sort<T, isReuseSource, config>(dstTensor, dstIndexTensor, srcTensor, calCount, where);
}

// Values and indices given with them.
template <typename T, typename U, bool isReuseSource = false, const SortConfig& config = DEFAULT_SORT_CONFIG>
inline void Sort(const LocalTensor<T>& dstTensor, const LocalTensor<U>& dstIndexTensor, const LocalTensor<T>& srcTensor,
                 const LocalTensor<U>& srcIndexTensor, const uint32_t calCount, CANOPY_WHERE) {
    const canopy::kernel::JoinedInstruction instruction(PIPE_V, "Sort", where);
    canopy::kernel::check_sort_indices(dstIndexTensor, "the indices", calCount, where, CANOPY_CHECK_WRITE);
    canopy::kernel::check_sort_indices(srcIndexTensor, "the source indices", calCount, where);
    canopy::kernel::sort_tensor<config.isDescend, T, U>(dstTensor, srcTensor, dstIndexTensor.GetPhyAddr(),
                                                        srcIndexTensor.GetPhyAddr(), calCount, where);
}
template <typename T, typename U, bool isReuseSource = false, const SortConfig& config = DEFAULT_SORT_CONFIG>
inline void Sort(const LocalTensor<T>& dstTensor, const LocalTensor<U>& dstIndexTensor, const LocalTensor<T>& srcTensor,
                 const LocalTensor<U>& srcIndexTensor, const LocalTensor<uint8_t>& sharedTmpBuffer,
                 const uint32_t calCount, CANOPY_WHERE) {
    const canopy::kernel::WorkSpace work("Sort", sharedTmpBuffer, where, dstTensor, dstIndexTensor, srcTensor,
                                         srcIndexTensor);
    Sort<T, U, isReuseSource, config>(dstTensor, dstIndexTensor, srcTensor, srcIndexTensor, calCount, where);
}

}  // namespace AscendC

#endif
