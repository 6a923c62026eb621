// SPDX-License-Identifier: Apache-2.0
#ifndef TGEMM_LAYOUT_HPP
#define TGEMM_LAYOUT_HPP
#include "tgemm/coord.hpp"

namespace tgemm {
namespace layout {

class RowMajor {
public:
    TGEMM_HOST_DEVICE RowMajor(uint32_t rows = 0, uint32_t cols = 0) : RowMajor(rows, cols, cols) {}
    TGEMM_HOST_DEVICE RowMajor(uint32_t rows, uint32_t cols, uint64_t ld) : shape_(rows, cols), ld_(ld) {}
    TGEMM_HOST_DEVICE uint64_t GetOffset(MatrixCoord const& c) const { return c.row() * ld_ + c.column(); }
    TGEMM_HOST_DEVICE RowMajor GetTileLayout(uint32_t rows, uint32_t cols) const { return RowMajor(rows, cols, ld_); }
    TGEMM_HOST_DEVICE uint32_t shape(int i) const { return shape_[i]; }
    TGEMM_HOST_DEVICE uint64_t stride(int) const { return ld_; }

private:
    MatrixCoord shape_;
    uint64_t ld_;
};

// fractals of 16 rows x 32 bytes, big n, small z
template <class Element>
class zN {
public:
    static constexpr uint32_t C0 = ElementTraits<Element>::PER_C0;
    TGEMM_HOST_DEVICE zN(uint32_t rows, uint32_t cols)
        : rows_(RoundUp<C0_NUM_PER_FRACTAL>(rows)), cols_(RoundUp<C0>(cols))
    {
    }
    TGEMM_HOST_DEVICE uint32_t GetOffset(MatrixCoord const& c) const
    {
        return c.column() / C0 * rows_ * C0 + c.row() * C0 + c.column() % C0;
    }
    TGEMM_HOST_DEVICE uint32_t rows() const { return rows_; }
    TGEMM_HOST_DEVICE uint32_t RowFractals() const { return rows_ / C0_NUM_PER_FRACTAL; }
    TGEMM_HOST_DEVICE uint32_t ColFractals() const { return cols_ / C0; }

private:
    uint32_t rows_;
    uint32_t cols_;
};

}  // namespace layout
}  // namespace tgemm
#endif
