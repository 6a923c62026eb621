// SPDX-License-Identifier: Apache-2.0
// Transpose with a tiling: attention heads between layouts, and exchanges of axes. The tiling has the type, the number
// of dimensions and the dimensions.
//
// NZ is a matrix of fractals of 16 x 16: all fractals of a column of fractals, then the next column.
#ifndef CANOPY_KERNEL_HIGH_LEVEL_CONFUSION_TRANSPOSE_H
#define CANOPY_KERNEL_HIGH_LEVEL_CONFUSION_TRANSPOSE_H

#include <kernel_tiling/kernel_tiling.h>

#include "canopy_kernel/high_level/work_space.h"
#include "canopy_kernel/vector/elementwise.h"
#include "canopy_kernel/vector/transpose.h"

namespace canopy::kernel {

using AscendC::TransposeType;

inline constexpr uint64_t fractal_side = 16;

// The index of an element of a matrix with `rows` rows in NZ layout, with fractals of 16 x `width`.
constexpr uint64_t nz_index(uint64_t rows, uint64_t row, uint64_t column, uint64_t width = fractal_side) {
    return (column / width * round_up(rows, fractal_side) + row) * width + column % width;
}
constexpr uint64_t nz_size(uint64_t rows, uint64_t columns, uint64_t width = fractal_side) {
    return round_up(rows, fractal_side) * round_up(columns, width);
}

// Batch, heads, sequence, and elements of a head.
struct HeadsShape {
    uint64_t batch, heads, sequence, length;

    uint64_t hidden() const { return heads * length; }
};

// Where element (b, n, s, i) is, and how many elements there are.
enum class HeadsLayout { nz_heads, nz_tokens, nz_hidden, heads, tokens };

inline uint64_t heads_index(HeadsLayout layout, const HeadsShape& shape, uint64_t b, uint64_t n, uint64_t s,
                            uint64_t i) {
    switch (layout) {
        case HeadsLayout::nz_heads:  // a matrix [s][i] for each b, n
            return (b * shape.heads + n) * nz_size(shape.sequence, shape.length) + nz_index(shape.sequence, s, i);
        case HeadsLayout::nz_tokens:  // a matrix [n][i] for each b, s
            return (b * shape.sequence + s) * nz_size(shape.heads, shape.length) + nz_index(shape.heads, n, i);
        case HeadsLayout::nz_hidden:  // a matrix [s][n i] for each b
            return b * nz_size(shape.sequence, shape.hidden()) + nz_index(shape.sequence, s, n * shape.length + i);
        case HeadsLayout::heads:
            return ((b * shape.heads + n) * shape.sequence + s) * shape.length + i;
        default:
            return ((b * shape.sequence + s) * shape.heads + n) * shape.length + i;
    }
}

inline uint64_t heads_size(HeadsLayout layout, const HeadsShape& shape) {
    switch (layout) {
        case HeadsLayout::nz_heads:
            return shape.batch * shape.heads * nz_size(shape.sequence, shape.length);
        case HeadsLayout::nz_tokens:
            return shape.batch * shape.sequence * nz_size(shape.heads, shape.length);
        case HeadsLayout::nz_hidden:
            return shape.batch * nz_size(shape.sequence, shape.hidden());
        default:
            return shape.batch * shape.sequence * shape.hidden();
    }
}

template <class T>
inline void check_transpose(const LocalTensor<T>& dst, uint64_t to_size, const LocalTensor<T>& src, uint64_t from_size,
                            Where where) {
    check_vector_operand("Transpose", "the destination", dst, to_size * sizeof(T), where);
    check_vector_operand("Transpose", "the source", src, from_size * sizeof(T), where);
}

template <class T>
inline void transpose_heads(const LocalTensor<T>& dst, HeadsLayout to, const LocalTensor<T>& src, HeadsLayout from,
                            const HeadsShape& shape, Where where) {
    check_transpose(dst, heads_size(to, shape), src, heads_size(from, shape), where);
    // Rows of a fractal stay together if heads do not share one.
    const uint64_t step = shape.length % fractal_side == 0 ? fractal_side : 1;
    for (uint64_t b = 0; b < shape.batch; ++b)
        for (uint64_t n = 0; n < shape.heads; ++n)
            for (uint64_t s = 0; s < shape.sequence; ++s)
                for (uint64_t i = 0; i < shape.length; i += step)
                    __builtin_memcpy(dst.GetPhyAddr() + heads_index(to, shape, b, n, s, i),
                                     src.GetPhyAddr() + heads_index(from, shape, b, n, s, i), step * sizeof(T));
}

// The types of the interface by number; the last four have no names.
template <class T>
inline void transpose_with_tiling(const LocalTensor<T>& dst, const LocalTensor<T>& src, TransposeType type,
                                  const ConfusionTransposeTiling& tiling, Where where) {
    static_assert(packing<T> == 1, "Transpose: elements of less than a byte are not supported");
    if (on_cube_core()) return;
    const Instruction instruction(PIPE_V, "Transpose", where, CANOPY_CHECK_FILL);
    const auto number = static_cast<uint32_t>(type);
    const uint64_t rank = tiling.param1;
    const uint64_t d[4] = {tiling.param2, tiling.param3, tiling.param4, tiling.param5};
    if (tiling.param0 != number)
        fail(where, "Transpose: the type is %u, but the tiling was made for type %u", number, tiling.param0);
    const auto require = [&](uint64_t low, uint64_t high) {
        if (rank < low || rank > high)
            fail(where, "Transpose: type %u does not take a shape of %llu dimensions", number, printable(rank));
    };
    if (number >= 1 && number <= 6) {
        require(4, 4);
        constexpr HeadsLayout from[] = {HeadsLayout::nz_heads,  HeadsLayout::nz_heads, HeadsLayout::nz_hidden,
                                        HeadsLayout::nz_hidden, HeadsLayout::nz_heads, HeadsLayout::nz_heads};
        constexpr HeadsLayout to[] = {HeadsLayout::tokens, HeadsLayout::nz_tokens, HeadsLayout::nz_heads,
                                      HeadsLayout::heads,  HeadsLayout::tokens,    HeadsLayout::nz_hidden};
        return transpose_heads(dst, to[number - 1], src, from[number - 1], HeadsShape{d[0], d[1], d[2], d[3]}, where);
    }
    T* to = dst.GetPhyAddr();
    const T* from = src.GetPhyAddr();
    switch (number) {
        case 7:
        case 13: {  // the last two axes
            require(2, number == 7 ? 2 : 3);
            const uint64_t images = rank == 2 ? 1 : d[0], rows = d[rank - 2], columns = d[rank - 1];
            const uint64_t image = rows * columns;
            check_transpose(dst, images * image, src, images * image, where);
            for (uint64_t i = 0; i < images; ++i) transpose_matrix(to + i * image, from + i * image, rows, columns);
            return;
        }
        case 14:  // axes 0 and 1
            require(3, 3);
            check_transpose(dst, d[0] * d[1] * d[2], src, d[0] * d[1] * d[2], where);
            for (uint64_t i = 0; i < d[0]; ++i)
                for (uint64_t j = 0; j < d[1]; ++j)
                    __builtin_memcpy(to + (j * d[0] + i) * d[2], from + (i * d[1] + j) * d[2], d[2] * sizeof(T));
            return;
        case 15:  // axes 0 and 2
            require(3, 3);
            check_transpose(dst, d[0] * d[1] * d[2], src, d[0] * d[1] * d[2], where);
            for (uint64_t i = 0; i < d[0]; ++i)
                for (uint64_t j = 0; j < d[1]; ++j)
                    for (uint64_t k = 0; k < d[2]; ++k) to[(k * d[1] + j) * d[0] + i] = from[(i * d[1] + j) * d[2] + k];
            return;
        case 16: {  // a matrix becomes fractals of 16 x 2
            require(2, 2);
            constexpr uint64_t width = 2;
            check_transpose(dst, nz_size(d[0], d[1], width), src, d[0] * d[1], where);
            for (uint64_t i = 0; i < d[0]; ++i)
                for (uint64_t j = 0; j < d[1]; ++j) to[nz_index(d[0], i, j, width)] = from[i * d[1] + j];
            return;
        }
        default:
            fail(where, "Transpose: type %u takes no tiling; 1 to 7 and 13 to 16 do", number);
    }
}

}  // namespace canopy::kernel

namespace AscendC {

#define CANOPY_TRANSPOSE(Name)                                                                          \
    template <typename T>                                                                               \
    inline void Name(const LocalTensor<T>& dst, const LocalTensor<T>& src, TransposeType transposeType, \
                     const ConfusionTransposeTiling& tiling, CANOPY_WHERE) {                            \
        canopy::kernel::transpose_with_tiling(dst, src, transposeType, tiling, where);                  \
    }                                                                                                   \
    template <typename T>                                                                               \
    inline void Name(const LocalTensor<T>& dst, const LocalTensor<T>& src,                              \
                     const LocalTensor<uint8_t>& sharedTmpBuffer, TransposeType transposeType,          \
                     const ConfusionTransposeTiling& tiling, CANOPY_WHERE) {                            \
        const canopy::kernel::WorkSpace work(#Name, sharedTmpBuffer, where, dst, src);                  \
        canopy::kernel::transpose_with_tiling(dst, src, transposeType, tiling, where);                  \
    }
CANOPY_TRANSPOSE(Transpose)
CANOPY_TRANSPOSE(ConfusionTranspose)
#undef CANOPY_TRANSPOSE

}  // namespace AscendC

#endif
