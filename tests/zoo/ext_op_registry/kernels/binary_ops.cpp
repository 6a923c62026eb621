// SPDX-License-Identifier: Apache-2.0
#include "elementwise.h"
using namespace NpuElementwise;

template <typename OP>
class BinaryKernel {
public:
    __aicore__ inline BinaryKernel(GM_ADDR a, GM_ADDR b, GM_ADDR c, uint32_t total) : total_(total)
    {
        aGm_.SetGlobalBuffer((__gm__ float*)a, total);
        bGm_.SetGlobalBuffer((__gm__ float*)b, total);
        cGm_.SetGlobalBuffer((__gm__ float*)c, total);
        pipe_.InitBuffer(aQue_, 1, UB_TILE * sizeof(float));
        pipe_.InitBuffer(bQue_, 1, UB_TILE * sizeof(float));
        pipe_.InitBuffer(cQue_, 1, UB_TILE * sizeof(float));
    }
    __aicore__ inline void operator()()
    {
        Range range = MyRange(total_);
        for (uint32_t i = range.begin; i < range.end; i += UB_TILE) {
            Tile(i, range.end - i > UB_TILE ? UB_TILE : range.end - i);
        }
    }

private:
    __aicore__ inline void Tile(uint32_t i, uint32_t n)
    {
        auto a = aQue_.template AllocTensor<float>();
        auto b = bQue_.template AllocTensor<float>();
        Load(a, aGm_[i], n);
        Load(b, bGm_[i], n);
        aQue_.EnQue(a);
        bQue_.EnQue(b);
        a = aQue_.template DeQue<float>();
        b = bQue_.template DeQue<float>();
        auto c = cQue_.template AllocTensor<float>();
        OP::Run(c, a, b, n);
        aQue_.FreeTensor(a);
        bQue_.FreeTensor(b);
        cQue_.EnQue(c);
        c = cQue_.template DeQue<float>();
        Store(cGm_[i], c, n);
        cQue_.FreeTensor(c);
    }

    TPipe pipe_;
    TQue<TPosition::VECIN, 1> aQue_, bQue_;
    TQue<TPosition::VECOUT, 1> cQue_;
    GlobalTensor<float> aGm_, bGm_, cGm_;
    uint32_t total_;
};

using Tensor = LocalTensor<float>;
struct OpAdd {
    static __aicore__ inline void Run(Tensor& c, const Tensor& a, const Tensor& b, uint32_t n) { Add(c, a, b, n); }
};
struct OpMaximum {
    static __aicore__ inline void Run(Tensor& c, const Tensor& a, const Tensor& b, uint32_t n) { Max(c, a, b, n); }
};

extern "C" __global__ __aicore__ void npu_add(GM_ADDR a, GM_ADDR b, GM_ADDR c, uint32_t total)
{
    BinaryKernel<OpAdd> op(a, b, c, total);
    op();
}
extern "C" __global__ __aicore__ void npu_maximum(GM_ADDR a, GM_ADDR b, GM_ADDR c, uint32_t total)
{
    BinaryKernel<OpMaximum> op(a, b, c, total);
    op();
}
