// SPDX-License-Identifier: Apache-2.0
// The better of two vectors lane by lane, and eight vectors of eight lanes folded to one result each, all at once.
#ifndef CANOPY_KERNEL_FOLD_H
#define CANOPY_KERNEL_FOLD_H

#include "canopy_kernel/core/lanes.h"

namespace canopy::kernel {

template <bool largest, class V>
inline void keep_better(V& champions, const V& challengers) {
    if constexpr (largest)
        champions = challengers > champions ? challengers : champions;
    else
        champions = challengers < champions ? challengers : champions;
}

// The later of two if it is better, or if the earlier one is NaN.
template <bool largest, class V>
inline V better_of(const V& earlier, const V& later) {
    const auto better = largest ? later > earlier : later < earlier;
    return (better | (earlier != earlier)) ? later : earlier;
}
// The later of two numbers if it is better.
template <bool largest, class V>
inline V better_number(const V& earlier, const V& later) {
    V best = earlier;
    keep_better<largest>(best, later);
    return best;
}

// Eight lanes of each of eight vectors become one lane: lane i of the result is that of v[i]. The first folds halves,
// the second neighbours, so that of equal values the first one is kept.
template <class V, class Combine>
inline V fold_eight(const V (&v)[8], const Combine& combine) {
    V four[4], two[2];
    for (uint32_t i = 0; i < 4; ++i)
        four[i] = combine(__builtin_shufflevector(v[2 * i], v[2 * i + 1], 0, 1, 2, 3, 8, 9, 10, 11),
                          __builtin_shufflevector(v[2 * i], v[2 * i + 1], 4, 5, 6, 7, 12, 13, 14, 15));
    for (uint32_t i = 0; i < 2; ++i)
        two[i] = combine(__builtin_shufflevector(four[2 * i], four[2 * i + 1], 0, 1, 8, 9, 4, 5, 12, 13),
                         __builtin_shufflevector(four[2 * i], four[2 * i + 1], 2, 3, 10, 11, 6, 7, 14, 15));
    const V one = combine(__builtin_shufflevector(two[0], two[1], 0, 2, 8, 10, 4, 6, 12, 14),
                          __builtin_shufflevector(two[0], two[1], 1, 3, 9, 11, 5, 7, 13, 15));
    return __builtin_shufflevector(one, one, 0, 4, 1, 5, 2, 6, 3, 7);
}
template <class V, class Combine>
inline V fold_eight_in_order(const V (&v)[8], const Combine& combine) {
    V four[4], two[2];
    for (uint32_t i = 0; i < 4; ++i)
        four[i] = combine(__builtin_shufflevector(v[2 * i], v[2 * i + 1], 0, 2, 8, 10, 4, 6, 12, 14),
                          __builtin_shufflevector(v[2 * i], v[2 * i + 1], 1, 3, 9, 11, 5, 7, 13, 15));
    for (uint32_t i = 0; i < 2; ++i)
        two[i] = combine(__builtin_shufflevector(four[2 * i], four[2 * i + 1], 0, 2, 8, 10, 4, 6, 12, 14),
                         __builtin_shufflevector(four[2 * i], four[2 * i + 1], 1, 3, 9, 11, 5, 7, 13, 15));
    return combine(__builtin_shufflevector(two[0], two[1], 0, 1, 2, 3, 8, 9, 10, 11),
                   __builtin_shufflevector(two[0], two[1], 4, 5, 6, 7, 12, 13, 14, 15));
}

template <class V, uint32_t count>
inline bool any_nan(const V (&v)[count]) {
    auto found = v[0] != v[0];
    for (uint32_t i = 1; i < count; ++i) found |= v[i] != v[i];
    return __builtin_reduce_or(found) != 0;
}

}  // namespace canopy::kernel

#endif
