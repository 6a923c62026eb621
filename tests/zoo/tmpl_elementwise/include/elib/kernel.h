// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "elib/functors.h"

namespace elib {

template <uint32_t TILE_, int32_t BUFFERS_ = 2>
struct TilePolicy {
    static constexpr uint32_t TILE = TILE_;
    static constexpr int32_t BUFFERS = BUFFERS_;
};
using SmallTiles = TilePolicy<256, 1>;
using BigTiles = TilePolicy<4096>;

// Rows are dealt out to the cores, a row is walked tile by tile.
template <class Policy>
class RowTileIterator {
public:
    __aicore__ inline RowTileIterator(const Layout& layout) : layout_(layout), row_(GetBlockIdx()), col_(0) {}
    __aicore__ inline bool Valid() const { return row_ < layout_.shape.rows; }
    __aicore__ inline uint32_t Offset() const { return layout_(row_, col_); }
    __aicore__ inline uint32_t Count() const { return MinOf(layout_.shape.cols - col_, Policy::TILE); }
    __aicore__ inline RowTileIterator& operator++()
    {
        col_ += Policy::TILE;
        if (col_ >= layout_.shape.cols) {
            col_ = 0;
            row_ += GetBlockNum();
        }
        return *this;
    }

private:
    Layout layout_;
    uint32_t row_;
    uint32_t col_;
};

template <class Functor, class Policy>
class ElementwiseKernel {
public:
    __aicore__ inline ElementwiseKernel(TPipe* pipe, const Functor& functor) : functor_(functor)
    {
        pipe->InitBuffer(inA_, Policy::BUFFERS, Policy::TILE * sizeof(float));
        pipe->InitBuffer(inB_, Policy::BUFFERS, Policy::TILE * sizeof(float));
        pipe->InitBuffer(out_, Policy::BUFFERS, Policy::TILE * sizeof(float));
        pipe->InitBuffer(scratch_, Policy::TILE * sizeof(float));
    }
    __aicore__ inline void Run(GM_ADDR a, GM_ADDR b, GM_ADDR y, const Layout& layout)
    {
        aGm_.SetGlobalBuffer((__gm__ float*)a, Size(layout));
        bGm_.SetGlobalBuffer((__gm__ float*)b, Size(layout));
        yGm_.SetGlobalBuffer((__gm__ float*)y, Size(layout));
        for (RowTileIterator<Policy> it(layout); it.Valid(); ++it) {
            Load(it.Offset(), it.Count());
            Compute(it.Count());
            Store(it.Offset(), it.Count());
        }
    }

private:
    __aicore__ inline void Load(uint32_t offset, uint32_t n)
    {
        Tensor a = inA_.template AllocTensor<float>();
        Tensor b = inB_.template AllocTensor<float>();
        CopyIn(a, aGm_[offset], n);
        if constexpr (Functor::kInputs == 2) {
            CopyIn(b, bGm_[offset], n);
        }
        inA_.EnQue(a);
        inB_.EnQue(b);
    }
    __aicore__ inline void Compute(uint32_t n)
    {
        Tensor a = inA_.template DeQue<float>();
        Tensor b = inB_.template DeQue<float>();
        Tensor y = out_.template AllocTensor<float>();
        functor_(y, a, b, scratch_.template Get<float>(), n);
        out_.EnQue(y);
        inA_.FreeTensor(a);
        inB_.FreeTensor(b);
    }
    __aicore__ inline void Store(uint32_t offset, uint32_t n)
    {
        Tensor y = out_.template DeQue<float>();
        CopyOut(yGm_[offset], y, n);
        out_.FreeTensor(y);
    }

    Functor functor_;
    TQue<TPosition::VECIN, 1> inA_, inB_;
    TQue<TPosition::VECOUT, 1> out_;
    TBuf<TPosition::VECCALC> scratch_;
    GlobalTensor<float> aGm_, bGm_, yGm_;
};

template <class Functor, class Policy>
__global__ __vector__ void elementwise(GM_ADDR a, GM_ADDR b, GM_ADDR y, Shape shape, Functor functor)
{
    TPipe pipe;
    ElementwiseKernel<Functor, Policy> kernel(&pipe, functor);
    kernel.Run(a, b, y, MakeLayout(shape));
}

}  // namespace elib
