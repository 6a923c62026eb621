// SPDX-License-Identifier: Apache-2.0
// The patterns of the tensor interface as a plain model: where element (row, column) of a matrix is.
#ifndef CANOPY_TESTS_LANGUAGE_TENSOR_LAYOUT_H
#define CANOPY_TESTS_LANGUAGE_TENSOR_LAYOUT_H

#include <kernel_operator.h>

#include <cstdint>

namespace model {

using namespace AscendC::Te;

inline int64_t up(int64_t value, int64_t multiple) { return (value + multiple - 1) / multiple * multiple; }

template <class Pattern>
int64_t offset(int64_t rows, int64_t columns, int64_t c0, int64_t r, int64_t c) {
    using canopy::kernel::is_any_of;
    if constexpr (is_any_of<Pattern, NDLayoutPtn, NDExtLayoutPtn, ScaleANDLayoutPtn>) return r * columns + c;
    if constexpr (is_any_of<Pattern, DNLayoutPtn, DNExtLayoutPtn, ScaleBDNLayoutPtn>) return c * rows + r;
    // Fractals of 16 rows by c0 columns, column of fractals after column, or row after row.
    if constexpr (is_any_of<Pattern, NZLayoutPtn>) return c / c0 * up(rows, 16) * c0 + r * c0 + c % c0;
    if constexpr (is_any_of<Pattern, ZZLayoutPtn>)
        return r / 16 * 16 * up(columns, c0) + c / c0 * 16 * c0 + r % 16 * c0 + c % c0;
    // Fractals of c0 rows by 16 columns, each stored by columns.
    if constexpr (is_any_of<Pattern, ZNLayoutPtn>) return r / c0 * up(columns, 16) * c0 + c * c0 + r % c0;
    if constexpr (is_any_of<Pattern, NNLayoutPtn>) return c / 16 * 16 * rows + r / 2 * 32 + c % 16 * 2 + r % 2;
    // Pairs of scales along k stay together.
    if constexpr (is_any_of<Pattern, ScaleADNLayoutPtn>) return c / 2 * 2 * rows + r * 2 + c % 2;
    if constexpr (is_any_of<Pattern, ScaleBNDLayoutPtn>) return r / 2 * 2 * columns + c * 2 + r % 2;
    return -1;
}

// Rows and columns that the layout of a matrix has.
template <class Pattern>
int64_t rows_in(int64_t rows, int64_t c0) {
    using canopy::kernel::is_any_of;
    if constexpr (is_any_of<Pattern, NZLayoutPtn, ZZLayoutPtn>) return up(rows, 16);
    if constexpr (is_any_of<Pattern, ZNLayoutPtn>) return up(rows, c0);
    return rows;
}
template <class Pattern>
int64_t columns_in(int64_t columns, int64_t c0) {
    using canopy::kernel::is_any_of;
    if constexpr (is_any_of<Pattern, NZLayoutPtn, ZZLayoutPtn>) return up(columns, c0);
    if constexpr (is_any_of<Pattern, ZNLayoutPtn, NNLayoutPtn>) return up(columns, 16);
    return columns;
}

}  // namespace model

#endif
