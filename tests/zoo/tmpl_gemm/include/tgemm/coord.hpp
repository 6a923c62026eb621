// SPDX-License-Identifier: Apache-2.0
#ifndef TGEMM_COORD_HPP
#define TGEMM_COORD_HPP
#include "tgemm/common.hpp"

namespace tgemm {

template <int RANK, class Index = uint32_t>
struct Coord {
    TGEMM_HOST_DEVICE constexpr explicit Coord(Index value = 0)
    {
        for (int i = 0; i < RANK; ++i) idx[i] = value;
    }
    TGEMM_HOST_DEVICE constexpr Coord(Index const (&values)[RANK])
    {
        for (int i = 0; i < RANK; ++i) idx[i] = values[i];
    }
    TGEMM_HOST_DEVICE Index& operator[](int i) { return idx[i]; }
    TGEMM_HOST_DEVICE constexpr Index const& operator[](int i) const { return idx[i]; }
    TGEMM_HOST_DEVICE Coord operator+(Coord const& b) const
    {
        Coord c;
        for (int i = 0; i < RANK; ++i) c.idx[i] = idx[i] + b.idx[i];
        return c;
    }
    TGEMM_HOST_DEVICE Coord operator*(Coord const& b) const
    {
        Coord c;
        for (int i = 0; i < RANK; ++i) c.idx[i] = idx[i] * b.idx[i];
        return c;
    }
    TGEMM_HOST_DEVICE static Coord Min(Coord const& a, Coord const& b)
    {
        Coord c;
        for (int i = 0; i < RANK; ++i) c.idx[i] = tgemm::Min(a.idx[i], b.idx[i]);
        return c;
    }
    Index idx[RANK];
};

template <class Index>
TGEMM_HOST_DEVICE constexpr Coord<2, Index> MakeCoord(Index a, Index b)
{
    Index v[2] = {a, b};
    return Coord<2, Index>(v);
}

template <uint32_t M_ = 1, uint32_t N_ = 1, uint32_t K_ = 1>
struct GemmShape {
    static constexpr uint32_t M = M_;
    static constexpr uint32_t N = N_;
    static constexpr uint32_t K = K_;
};

struct GemmCoord : Coord<3> {
    using Base = Coord<3>;
    TGEMM_HOST_DEVICE GemmCoord() : Base(0) {}
    TGEMM_HOST_DEVICE GemmCoord(uint32_t m, uint32_t n, uint32_t k) : Base({m, n, k}) {}
    TGEMM_HOST_DEVICE uint32_t m() const { return idx[0]; }
    TGEMM_HOST_DEVICE uint32_t n() const { return idx[1]; }
    TGEMM_HOST_DEVICE uint32_t k() const { return idx[2]; }
};

struct MatrixCoord : Coord<2> {
    TGEMM_HOST_DEVICE MatrixCoord(uint32_t r, uint32_t c) : Coord<2>({r, c}) {}
    TGEMM_HOST_DEVICE uint32_t row() const { return idx[0]; }
    TGEMM_HOST_DEVICE uint32_t column() const { return idx[1]; }
};

}  // namespace tgemm
#endif
