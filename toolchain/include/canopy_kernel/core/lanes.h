// SPDX-License-Identifier: Apache-2.0
// How the elements of a run become lanes. The operations say what happens to one element, or to a group of lanes; only
// this header says how lanes are made: here by loops that the compiler vectorises, and by its vector types.
#ifndef CANOPY_KERNEL_LANES_H
#define CANOPY_KERNEL_LANES_H

#include "canopy_kernel/target/types.h"

// For lambdas that are the body of a loop.
#define CANOPY_ALWAYS __attribute__((always_inline))

#define CANOPY_VECTOR_LOOP _Pragma("clang loop vectorize(assume_safety) interleave(enable)")
// The same, for loops that convert to or from half, where the compiler would choose too narrow a width. Processors with
// registers of 32 bytes take these lanes in two halves.
#define CANOPY_HALF_LOOP _Pragma("clang loop vectorize(assume_safety) vectorize_width(16) interleave_count(1)")
// For what is left of a run: one vector at a time. Loops of a small constant length are vectorised too, because the
// compiler may not unroll them before.
#define CANOPY_SHORT_LOOP _Pragma("clang loop vectorize(assume_safety) interleave_count(1) unroll(disable)")
#define CANOPY_SHORT_HALF_LOOP \
    _Pragma("clang loop vectorize(assume_safety) vectorize_width(8) interleave_count(1) unroll(disable)")

namespace canopy::kernel {

// Long runs are computed in steps of this many elements, several vectors at a time; what is left in single vectors.
inline constexpr uint64_t lanes_per_step = 64;

// body(i) for each i < count in any order: operands overlap exactly or not at all. `halves` says that the body converts
// to or from half.
template <bool halves, class Body>
__attribute__((always_inline)) inline void for_each_lane(uint64_t count, const Body& body) {
    const uint64_t steps = count / lanes_per_step * lanes_per_step;
    if constexpr (halves) {
        CANOPY_HALF_LOOP
        for (uint64_t i = 0; i < steps; ++i) body(i);
        CANOPY_SHORT_HALF_LOOP
        for (uint64_t i = steps; i < count; ++i) body(i);
    } else {
        CANOPY_VECTOR_LOOP
        for (uint64_t i = 0; i < steps; ++i) body(i);
        CANOPY_SHORT_LOOP
        for (uint64_t i = steps; i < count; ++i) body(i);
    }
}

// An unsigned integer of this many bytes.
template <uint32_t bytes>
using unsigned_like = choose<bytes == 8, uint64_t, choose<bytes == 4, uint32_t, choose<bytes == 2, uint16_t, uint8_t>>>;

// A vector of `count` numbers.
template <class S, uint32_t count>
struct LaneVector {
    typedef S type __attribute__((ext_vector_type(count)));
};
template <class S, uint32_t count>
using lane_vector = typename LaneVector<S, count>::type;

template <uint32_t count, class T>
inline lane_vector<T, count> load_lanes(const T* from) {
    lane_vector<T, count> lanes;
    __builtin_memcpy(&lanes, from, sizeof lanes);
    return lanes;
}

template <class T, class V>
inline void store_lanes(T* to, const V& lanes) {
    static_assert(sizeof(V) % sizeof(T) == 0, "whole elements");
    __builtin_memcpy(to, &lanes, sizeof lanes);
}

}  // namespace canopy::kernel

#endif
