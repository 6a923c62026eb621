// SPDX-License-Identifier: Apache-2.0
// Copies between matrices of any two layouts: element (row, column) of one goes to element (row, column) of the other.
// Layouts are reduced to steps known at run time, so that there is one copy for each size of element, not for each pair
// of patterns. Parts that both layouts store contiguously are copied as rows.
#ifndef CANOPY_KERNEL_TENSOR_MATRIX_COPY_H
#define CANOPY_KERNEL_TENSOR_MATRIX_COPY_H

#include "canopy_kernel/copy/data_copy.h"
#include "canopy_kernel/tensor_interface/tensor.h"

namespace canopy::kernel::te {

// Element i of an axis is i % inner * step + i / inner * block_step elements after the first one.
struct Axis {
    int64_t inner = 1, step = 0;
    int64_t blocks = 1, block_step = 0;

    int64_t size() const { return inner * blocks; }
    int64_t at(int64_t i) const { return blocks == 1 ? i * step : i % inner * step + i / inner * block_step; }
    // Elements from i on that are `step` apart.
    int64_t run(int64_t i) const { return blocks == 1 ? INT64_MAX : inner - i % inner; }
    // Offset of the last of `count` elements, at least.
    int64_t last(int64_t count) const {
        return (smaller(count, inner) - 1) * step + ((count + inner - 1) / inner - 1) * block_step;
    }
    // The same axis with as few blocks as possible.
    Axis joined() const {
        if (inner == 1) return {blocks, block_step, 1, 0};
        if (blocks == 1 || block_step == inner * step) return {size(), step, 1, 0};
        return *this;
    }
};

struct Matrices {
    Axis row, column;
    int64_t count = 1, apart = 0;

    Matrices joined() const { return {row.joined(), column.joined(), count, apart}; }
};

template <class S, class D>
constexpr Axis axis_of(const S& shape, const D& stride) {
    if constexpr (!is_tuple<S>) {
        return {static_cast<int64_t>(shape), static_cast<int64_t>(stride), 1, 0};
    } else if constexpr (Std::tuple_size_v<S> == 1) {
        return axis_of(Std::get<0>(shape), Std::get<0>(stride));
    } else {
        static_assert(Leaves<S>::count == 2, "Copy: an axis is a number or (size of a block, number of blocks)");
        return {static_cast<int64_t>(Std::get<0>(shape)), static_cast<int64_t>(Std::get<0>(stride)),
                static_cast<int64_t>(Std::get<1>(shape)), static_cast<int64_t>(Std::get<1>(stride))};
    }
}

// The rows of an image are its pixels, the columns its channels.
template <class L>
constexpr Matrices matrices_of(const L& layout) {
    using Pattern = GetLayoutPattern<L>;
    if constexpr (image_axes<Pattern> != 0) {
        const auto axis = [&](auto i) {
            constexpr size_t at = decltype(i)::value;
            return axis_of(layout.template Shape<at>(), layout.template Stride<at>());
        };
        constexpr size_t height = is_same<Pattern, NHWCLayoutPtn> ? 1 : 2;
        const Axis y = axis(Std::Int<height>{}), x = axis(Std::Int<height + 1>{}), n = axis(Std::Int<0>{});
        Axis channels{};
        if constexpr (is_same<Pattern, NC1HWC0LayoutPtn>) {
            const Axis c1 = axis(Std::Int<1>{}), c0 = axis(Std::Int<4>{});
            channels = {c0.inner, c0.step, c1.inner, c1.step};
        } else {
            channels = axis(Std::Int < is_same<Pattern, NCHWLayoutPtn> ? 1 : 3 > {});
        }
        return {{x.inner, x.step, y.inner, y.step}, channels, n.inner, n.step};
    } else if constexpr (is_batched<L>) {
        Matrices result = matrices_of(RemoveBatchDim(layout));
        result.count = static_cast<int64_t>(layout.template Shape<0>());
        result.apart = static_cast<int64_t>(layout.template Stride<0>());
        return result;
    } else if constexpr (L::rank == 1) {
        return {{1, 0, 1, 0}, axis_of(layout.Shape(), layout.Stride())};
    } else {
        static_assert(L::rank == 2, "Copy: a tensor is a vector, a matrix, (batch, matrix) or an image");
        return {axis_of(layout.template Shape<0>(), layout.template Stride<0>()),
                axis_of(layout.template Shape<1>(), layout.template Stride<1>())};
    }
}

// How bytes are moved: into a core, inside it, or out of it.
struct IntoCore {
    void rows(void* to, const void* from, const Rows& rows) {
        if (rows.contiguous() || rows.count == 1)
            copy_in(to, from, rows.bytes * rows.count);
        else
            copy_rows(to, from, rows);
    }
    template <class T>
    void element(T* to, const T* from) {
        if constexpr (is_tracing_variant) return trace_copy(to, from, sizeof(T));
        *to = *from;
    }
};
struct InsideCore {
    void rows(void* to, const void* from, const Rows& rows) { copy_rows(to, from, rows); }
    template <class T>
    void element(T* to, const T* from) {
        *to = *from;
    }
};
struct OutOfCore {
    explicit OutOfCore(ElementKind element) : outlet(element) {}
    void rows(void* to, const void* from, const Rows& rows) { copy_rows_out(outlet, to, from, rows); }
    template <class T>
    void element(T* to, const T* from) {
        outlet.put(to, from, sizeof(T));
    }
    Outlet outlet;
};

struct Steps {
    int64_t row, column;
};

template <class T, class Move>
inline void copy_rectangle(T* to, Steps target, const T* from, Steps source, int64_t rows, int64_t columns,
                           Move& move) {
    constexpr int64_t size = sizeof(T);
    if (target.column == 1 && source.column == 1)
        return move.rows(
            to, from,
            {static_cast<uint64_t>(rows), static_cast<uint64_t>(columns * size), target.row * size, source.row * size});
    if (target.row == 1 && source.row == 1)
        return move.rows(to, from,
                         {static_cast<uint64_t>(columns), static_cast<uint64_t>(rows * size), target.column * size,
                          source.column * size});
    if (target.row == 1) {
        for (int64_t c = 0; c < columns; ++c)
            for (int64_t r = 0; r < rows; ++r)
                move.element(to + r + c * target.column, from + r * source.row + c * source.column);
        return;
    }
    for (int64_t r = 0; r < rows; ++r)
        for (int64_t c = 0; c < columns; ++c)
            move.element(to + r * target.row + c * target.column, from + r * source.row + c * source.column);
}

// Rows copied together if the columns of a layout are in several pieces, so that lines of the cache are filled in one
// go.
inline constexpr int64_t rows_together = 32;

template <class T, class Move>
inline void copy_matrix(T* to, const Matrices& target, const T* from, const Matrices& source, int64_t rows,
                        int64_t columns, Move& move) {
    const bool pieces = target.column.run(0) < columns || source.column.run(0) < columns;
    const Steps target_steps{target.row.step, target.column.step}, source_steps{source.row.step, source.column.step};
    int64_t height = 0, width = 0;
    for (int64_t r = 0; r < rows; r += height) {
        height = smaller(smaller(target.row.run(r), source.row.run(r)), rows - r);
        if (pieces) height = smaller(height, rows_together);
        for (int64_t c = 0; c < columns; c += width) {
            width = smaller(smaller(target.column.run(c), source.column.run(c)), columns - c);
            copy_rectangle(to + target.row.at(r) + target.column.at(c), target_steps,
                           from + source.row.at(r) + source.column.at(c), source_steps, height, width, move);
        }
    }
}

inline uint8_t four_bits(const uint8_t* from, int64_t index) {
    return static_cast<uint8_t>(from[index / 2] >> (index % 2 * 4) & 15);
}
inline void set_four_bits(uint8_t* to, int64_t index, uint8_t value) {
    const int shift = static_cast<int>(index % 2 * 4);
    to[index / 2] = static_cast<uint8_t>((to[index / 2] & ~(15 << shift)) | value << shift);
}

// Elements of four bits move as bytes where both layouts keep neighbours together.
inline bool in_pairs(const Axis& target, const Axis& source, int64_t count) {
    const auto paired = [](const Axis& axis) { return axis.step == 1 && (axis.blocks == 1 || axis.inner % 2 == 0); };
    return paired(target) && paired(source) && count % 2 == 0;
}
inline Axis pairs_of(const Axis& axis) { return {axis.inner / 2, 1, axis.blocks, axis.block_step / 2}; }
inline Axis beside_pairs(const Axis& axis) { return {axis.inner, axis.step / 2, axis.blocks, axis.block_step / 2}; }

template <class Move>
inline void copy_four_bits(uint8_t* to, const Matrices& target, const uint8_t* from, const Matrices& source,
                           int64_t rows, int64_t columns, Move& move) {
    const auto wide = [](const Matrices& all) { return Matrices{beside_pairs(all.row), pairs_of(all.column)}; };
    const auto high = [](const Matrices& all) { return Matrices{pairs_of(all.row), beside_pairs(all.column)}; };
    if (in_pairs(target.column, source.column, columns))
        return copy_matrix(to, wide(target), from, wide(source), rows, columns / 2, move);
    if (in_pairs(target.row, source.row, rows))
        return copy_matrix(to, high(target), from, high(source), rows / 2, columns, move);
    for (int64_t r = 0; r < rows; ++r)
        for (int64_t c = 0; c < columns; ++c)
            set_four_bits(to, target.row.at(r) + target.column.at(c),
                          four_bits(from, source.row.at(r) + source.column.at(c)));
}

// Zeros for the rest of the last block along the axis whose neighbours are adjacent.
template <class Word>
inline void clear_rest(Word* to, const Matrices& target, int64_t rows, int64_t columns, bool packed) {
    const bool along_rows = target.row.step == 1 && target.row.inner != 1;
    const Axis& axis = along_rows ? target.row : target.column;
    if (axis.step != 1) return;
    const int64_t start = along_rows ? rows : columns, across = along_rows ? columns : rows;
    const auto end = static_cast<int64_t>(round_up(static_cast<uint64_t>(start), static_cast<uint64_t>(axis.inner)));
    const Axis& other = along_rows ? target.column : target.row;
    for (int64_t i = start; i < end; ++i)
        for (int64_t j = 0; j < across; ++j) {
            const int64_t index = axis.at(i) + other.at(j);
            if (!packed)
                to[index] = 0;
            else
                set_four_bits(reinterpret_cast<uint8_t*>(to), index, 0);
        }
}

inline int64_t common_rows(const Matrices& a, const Matrices& b) { return smaller(a.row.size(), b.row.size()); }
inline int64_t common_columns(const Matrices& a, const Matrices& b) {
    return smaller(a.column.size(), b.column.size());
}

// Copies what the two layouts have in common; with `pad`, also fills the last block of the target with zeros. One
// function for all tensors with elements of one size.
template <class Word, bool packed, class Move>
__attribute__((noinline)) void copy_words(Word* to, const Matrices& target, const Word* from, const Matrices& source,
                                          Move& move, bool pad) {
    constexpr int64_t per_word = packed ? 2 : 1;
    const Matrices into = target.joined(), out_of = source.joined();
    const int64_t rows = common_rows(target, source), columns = common_columns(target, source);
    const int64_t count = smaller(target.count, source.count);
    for (int64_t i = 0; i < count; ++i, to += target.apart / per_word, from += source.apart / per_word) {
        if constexpr (packed)
            copy_four_bits(to, into, from, out_of, rows, columns, move);
        else
            copy_matrix(to, into, from, out_of, rows, columns, move);
        if (pad) clear_rest(to, target, rows, columns, packed);
    }
}

template <uint32_t bytes>
using WordOfSize = choose<bytes == 1, uint8_t, choose<bytes == 2, uint16_t, choose<bytes == 4, uint32_t, uint64_t>>>;

template <class T, class Move>
inline void copy_matrices(T* to, const Matrices& target, const T* from, const Matrices& source, Move& move,
                          bool pad = false) {
    using Word = WordOfSize<sizeof(T)>;
    copy_words<Word, packing<T> == 2>(reinterpret_cast<Word*>(to), target, reinterpret_cast<const Word*>(from), source,
                                      move, pad);
}

}  // namespace canopy::kernel::te

#endif
