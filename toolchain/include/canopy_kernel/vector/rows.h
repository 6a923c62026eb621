// SPDX-License-Identifier: Apache-2.0
// Loops over a matrix in local memory: one result for each row, or one for each column. A fold maps every element to a
// number and combines the numbers:
//
//     fold_run(count, 0.0f, Adding{}, [](float x, float y) { return x * y; }, x, y);   // a dot product
//     fold_run(count, -INFINITY, KeepingLarger{}, Itself{}, x);                        // the maximum
//
// The order of combination depends on the count only: 64 partial results, element i going to number i % 64, which are
// then folded in halves. So results are the same on every processor.
#ifndef CANOPY_KERNEL_ROWS_H
#define CANOPY_KERNEL_ROWS_H

#include "canopy_kernel/core/math.h"
#include "canopy_kernel/vector/reduce.h"

namespace canopy::kernel {

// Ways to combine two numbers, or two vectors of numbers lane by lane.
struct Adding {
    template <class V>
    V operator()(V a, V b) const {
        return a + b;
    }
};
struct Multiplying {
    template <class V>
    V operator()(V a, V b) const {
        return a * b;
    }
};
// A NaN beats every number, like in the operation Max.
struct KeepingLarger {
    template <class V>
    V operator()(V a, V b) const {
        return a >= b ? a : (a != a ? a : b);
    }
};
struct KeepingSmaller {
    template <class V>
    V operator()(V a, V b) const {
        return a <= b ? a : (a != a ? a : b);
    }
};

// The map that changes nothing.
struct Itself {
    template <class T>
    T operator()(T x) const {
        return x;
    }
};

template <uint32_t count, class W, class Combine, class V>
inline W fold_lanes(const Combine& combine, const V& lanes) {
    if constexpr (count == 2)
        return static_cast<W>(combine(static_cast<W>(lanes.x), static_cast<W>(lanes.y)));
    else
        return fold_lanes<count / 2, W>(
            combine, combine(lane_vector<W, count / 2>(lanes.lo), lane_vector<W, count / 2>(lanes.hi)));
}

// Combines map(s[i]...) for all i < count. `neutral` changes nothing when it is combined with a number; its type is the
// type of the partial results. Elements of the 16-bit formats arrive as float.
template <class W, class Combine, class Map, class... S>
inline W fold_run(uint64_t count, W neutral, const Combine& combine, const Map& map, const S*... s) {
    ask_ahead((bytes_of<S>(count) + ...));
    [[maybe_unused]] const uint32_t zero = opaque_zero();
    constexpr bool halves = (is_same<S, half> || ...);
    W result = neutral;
    uint64_t i = 0;
    if (count >= partial_results) {
        lane_vector<W, partial_results> partial = neutral;
        W mapped[partial_results];
        for (; i + partial_results <= count; i += partial_results) {
            for_each_lane<halves>(partial_results,
                                  [&](uint64_t j) { mapped[j] = static_cast<W>(map(widen(s[i + j], zero)...)); });
            lane_vector<W, partial_results> more;
            __builtin_memcpy(&more, mapped, sizeof more);
            partial = combine(partial, more);
        }
        result = fold_lanes<partial_results, W>(combine, partial);
    }
    for (; i < count; ++i) result = static_cast<W>(combine(result, static_cast<W>(map(widen(s[i], zero)...))));
    return result;
}

// to[row] = finish(fold of the first `columns` elements of that row); rows start `pitch` elements apart.
template <class W, class D, class S, class Combine, class Map, class Finish>
inline void fold_rows(uint64_t rows, uint64_t columns, uint64_t pitch, W neutral, const Combine& combine,
                      const Map& map, const Finish& finish, const S* from, D* to) {
    for (uint64_t row = 0; row < rows; ++row)
        to[row] = narrow<D>(static_cast<Wide<D>>(finish(fold_run(columns, neutral, combine, map, from + row * pitch))));
}

// to[column] = finish(fold of that column), from the first row to the last.
template <class W, class D, class S, class Combine, class Map, class Finish>
inline void fold_columns(uint64_t rows, uint64_t columns, uint64_t pitch, W neutral, const Combine& combine,
                         const Map& map, const Finish& finish, const S* from, D* to) {
    constexpr uint64_t most = 512;  // partial results stay in the first cache
    constexpr bool halves = is_same<S, half> || is_same<D, half>;
    [[maybe_unused]] const uint32_t zero = opaque_zero();
    W partial[most];
    for (uint64_t first = 0; first < columns; first += most) {
        const uint64_t count = smaller(most, columns - first);
        for_each_lane<false>(count, [&](uint64_t j) { partial[j] = neutral; });
        for (uint64_t row = 0; row < rows; ++row) {
            const S* line = from + row * pitch + first;
            ask_ahead(bytes_of<S>(count));
            for_each_lane<halves>(count, [&](uint64_t j) {
                partial[j] = static_cast<W>(combine(partial[j], static_cast<W>(map(widen(line[j], zero)))));
            });
        }
        for_each_lane<halves>(count,
                              [&](uint64_t j) { to[first + j] = narrow<D>(static_cast<Wide<D>>(finish(partial[j]))); });
    }
}

}  // namespace canopy::kernel

#endif
