// SPDX-License-Identifier: Apache-2.0
// Products with a right factor of which two of each four values along k are stored, with an index of two bits for each
// of them. The factor is expanded for the device's product: the first values of all groups, then the second ones, since
// an index may name the same place twice.
#ifndef CANOPY_KERNEL_SPARSE_MULTIPLY_H
#define CANOPY_KERNEL_SPARSE_MULTIPLY_H

#include "canopy_kernel/cube/scaled_multiply.h"

namespace canopy::kernel {

// A stored matrix of k / 2 rows, and its index in fractals of 16 columns by 32 stored rows; four indices share a byte,
// the lowest bits first.
struct SparseMatrix {
    const int8_t* values;
    const uint8_t* index;
    // Steps of the values. Rows or columns may be in blocks of 32 (a step of 0: they are not).
    int64_t row_step, row_block_step, column_step;
    int64_t column_fractals;  // of the index
    int64_t column_block_step = 0;

    int8_t value(int64_t row, int64_t column) const {
        const auto along = [](int64_t i, int64_t step, int64_t block_step) {
            return block_step == 0 ? i * step : i / 32 * block_step + i % 32 * step;
        };
        return values[along(row, row_step, row_block_step) + along(column, column_step, column_block_step)];
    }
    // The row of the whole matrix that a stored row stands for.
    int64_t place(int64_t row, int64_t column) const {
        const int64_t fractal = row / 32 * column_fractals + column / 16;
        const int64_t bits = fractal * 512 + column % 16 * 32 + row % 32;
        const int64_t place = index[bits / 4] >> (bits % 4 * 2) & 3;
        return row / 2 * 4 + place + row % 2;
    }

    // Writes the values with odd or even stored rows to their places in the matrix of k rows: column after column.
    void expand(int8_t* to, int64_t first_row, int64_t first_column, int64_t k, int64_t columns, int64_t odd) const {
        __builtin_memset(to, 0, static_cast<size_t>(k * columns));
        for (int64_t column = 0; column < columns; ++column)
            for (int64_t row = odd; row < k / 2; row += 2) {
                const int64_t at = place(first_row + row, first_column + column) - 2 * first_row;
                if (at < k) to[column * k + at] = value(first_row + row, first_column + column);
            }
    }
};

// Multiplies in both steps and, where the expanded factor exceeds the scratch memory, in several parts along k.
// `left(product, k)` sets the left factor from row k of the product on.
template <class Left>
inline void multiply_sparse(CanopyProduct product, const SparseMatrix& matrix, int64_t first_row, int64_t first_column,
                            const Left& left) {
    auto* expanded = reinterpret_cast<int8_t*>(product_scratch().right);
    const int64_t k = product.k;
    const int64_t part = smaller<int64_t>(k, 2 * AscendC::TOTAL_L0B_SIZE / product.n / 64 * 64);
    for (int64_t at = 0; at < k; at += part) {
        product.k = smaller(part, k - at);
        left(product, at);
        for (int64_t odd = 0; odd < 2; ++odd) {
            matrix.expand(expanded, first_row + at / 2, first_column, product.k, product.n, odd);
            product.b = expanded;
            product.b_type = CANOPY_ELEMENT_INT8;
            product.b_row_stride = 1, product.b_column_stride = product.k;
            product.b_blocks = {};
            multiply(product);
            product.accumulate = 1;
            product.bias = nullptr;
        }
    }
}

}  // namespace canopy::kernel

#endif
