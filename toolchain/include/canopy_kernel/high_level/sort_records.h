// SPDX-License-Identifier: Apache-2.0
// The order of elements as keys: integers of which the smaller one comes first. Records of a key and a position are
// sorted by key; equal keys keep their order. Used by Sort and TopK.
#ifndef CANOPY_KERNEL_HIGH_LEVEL_SORT_RECORDS_H
#define CANOPY_KERNEL_HIGH_LEVEL_SORT_RECORDS_H

#include "canopy_kernel/vector/elementwise.h"

namespace canopy::kernel {

template <class T>
inline constexpr bool is_sortable = is_vector_float<T> || is_integer<T>;

template <class T>
using SortKey = choose<sizeof(T) == 8, int64_t, int32_t>;

template <class Key>
inline constexpr Key first_key = sizeof(Key) == 8 ? INT64_MIN : INT32_MIN;

// Both zeros have the same key. NaN comes first or last.
template <bool descending, bool nan_first, class T>
inline SortKey<T> sort_key(T value, [[maybe_unused]] uint32_t zero) {
    if constexpr (is_floating<T>) {
        const float number = widen(value, zero) + 0.0f;
        const auto bits = bits_as<int32_t>(number);
        const int32_t ordered = bits ^ ((bits >> 31) & 0x7fffffff);
        const int32_t key = descending ? ~ordered : ordered;
        return number == number ? key : nan_first ? INT32_MIN : INT32_MAX;
    } else {
        using Key = SortKey<T>;
        const Key ordered = is_unsigned_integer<T> && sizeof(T) == sizeof(Key)
                                ? static_cast<Key>(static_cast<Key>(value) ^ first_key<Key>)
                                : static_cast<Key>(value);
        return descending ? static_cast<Key>(~ordered) : ordered;
    }
}

template <bool descending, bool nan_first, class T>
inline void make_keys(const T* values, uint32_t count, SortKey<T>* keys) {
    [[maybe_unused]] const uint32_t zero = opaque_zero();
    if constexpr (is_same<T, half>) {
        CANOPY_HALF_LOOP
        for (uint32_t i = 0; i < count; ++i) keys[i] = sort_key<descending, nan_first>(values[i], zero);
    } else {
        CANOPY_VECTOR_LOOP
        for (uint32_t i = 0; i < count; ++i) keys[i] = sort_key<descending, nan_first>(values[i], zero);
    }
}

template <class Key>
struct Keyed {
    Key key;
    uint32_t position;
};

// Puts each record where the number of records ahead of it says.
template <class Key>
inline void sort_few(const Keyed<Key>* records, Keyed<Key>* sorted, uint32_t count) {
    constexpr uint32_t most = 64;
    Key keys[most];
    for (uint32_t i = 0; i < count; ++i) keys[i] = records[i].key;
    for (uint32_t i = 0; i < count; ++i) {
        const Key key = keys[i];
        uint32_t ahead = 0;
        for (uint32_t j = 0; j < count; ++j) ahead += keys[j] < key ? 1 : 0;
        for (uint32_t j = 0; j < i; ++j) ahead += keys[j] == key ? 1 : 0;
        sorted[ahead] = records[i];
    }
}

// One pass for each byte of the keys, lowest first. Returns where the sorted records are: either of the two buffers.
template <class Key>
inline Keyed<Key>* sort_records(Keyed<Key>* records, Keyed<Key>* work, uint32_t count) {
    if (count <= 64) {
        sort_few(records, work, count);
        return work;
    }
    constexpr uint32_t digits = sizeof(Key);
    constexpr uint32_t sign = 128;  // of the highest byte: negative keys come first
    uint32_t counts[digits][256] = {};
    for (uint32_t i = 0; i < count; ++i)
        for (uint32_t d = 0; d < digits; ++d) ++counts[d][(records[i].key >> (8 * d)) & 255];
    for (uint32_t d = 0; d < digits; ++d) {
        const uint32_t flip = d + 1 == digits ? sign : 0;
        if (counts[d][(records[0].key >> (8 * d)) & 255] == count) continue;
        uint32_t before = 0;
        for (uint32_t value = 0; value < 256; ++value) {
            uint32_t& at = counts[d][value ^ flip];
            const uint32_t here = at;
            at = before;
            before += here;
        }
        for (uint32_t i = 0; i < count; ++i) work[counts[d][(records[i].key >> (8 * d)) & 255]++] = records[i];
        Keyed<Key>* const other = records;
        records = work;
        work = other;
    }
    return records;
}

}  // namespace canopy::kernel

#endif
