// SPDX-License-Identifier: Apache-2.0
// The kernel of ScaledAdd. The build compiles it once for each type; DTYPE_X is the type of the parameter x.
#include "kernel_operator.h"

using namespace AscendC;

template <bool padded>
class KernelScaledAdd {
public:
    __aicore__ inline void Init(GM_ADDR x, GM_ADDR y, GM_ADDR z, uint32_t blockLength, uint32_t lastLength,
                                uint32_t tileLength, float scale) {
        length_ = GetBlockIdx() + 1 == GetBlockNum() ? lastLength : blockLength;
        tile_ = tileLength;
        scale_ = static_cast<DTYPE_X>(scale);
        const uint64_t start = static_cast<uint64_t>(GetBlockIdx()) * blockLength;
        xGm_.SetGlobalBuffer(reinterpret_cast<__gm__ DTYPE_X*>(x) + start, length_);
        yGm_.SetGlobalBuffer(reinterpret_cast<__gm__ DTYPE_Y*>(y) + start, length_);
        zGm_.SetGlobalBuffer(reinterpret_cast<__gm__ DTYPE_Z*>(z) + start, length_);
        pipe_.InitBuffer(inX_, 2, tile_ * sizeof(DTYPE_X));
        pipe_.InitBuffer(inY_, 2, tile_ * sizeof(DTYPE_Y));
        pipe_.InitBuffer(outZ_, 2, tile_ * sizeof(DTYPE_Z));
    }
    __aicore__ inline void Process() {
        for (uint32_t at = 0; at < length_; at += tile_) {
            const uint32_t count = length_ - at < tile_ ? length_ - at : tile_;
            LocalTensor<DTYPE_X> x = inX_.AllocTensor<DTYPE_X>();
            LocalTensor<DTYPE_Y> y = inY_.AllocTensor<DTYPE_Y>();
            CopyIn(x, xGm_[at], count);
            CopyIn(y, yGm_[at], count);
            inX_.EnQue(x);
            inY_.EnQue(y);
            x = inX_.DeQue<DTYPE_X>();
            y = inY_.DeQue<DTYPE_Y>();
            LocalTensor<DTYPE_Z> z = outZ_.AllocTensor<DTYPE_Z>();
            Muls(y, y, scale_, count);
            Add(z, x, y, count);
            outZ_.EnQue(z);
            inX_.FreeTensor(x);
            inY_.FreeTensor(y);
            z = outZ_.DeQue<DTYPE_Z>();
            CopyOut(zGm_[at], z, count);
            outZ_.FreeTensor(z);
        }
    }

private:
    template <class T>
    __aicore__ inline void CopyIn(LocalTensor<T> to, GlobalTensor<T> from, uint32_t count) {
        if constexpr (padded)
            DataCopyPad(to, from, DataCopyExtParams{1, static_cast<uint32_t>(count * sizeof(T)), 0, 0, 0},
                        DataCopyPadExtParams<T>{false, 0, 0, 0});
        else
            DataCopy(to, from, count);
    }
    template <class T>
    __aicore__ inline void CopyOut(GlobalTensor<T> to, LocalTensor<T> from, uint32_t count) {
        if constexpr (padded)
            DataCopyPad(to, from, DataCopyExtParams{1, static_cast<uint32_t>(count * sizeof(T)), 0, 0, 0});
        else
            DataCopy(to, from, count);
    }

    TPipe pipe_;
    TQue<QuePosition::VECIN, 2> inX_, inY_;
    TQue<QuePosition::VECOUT, 2> outZ_;
    GlobalTensor<DTYPE_X> xGm_;
    GlobalTensor<DTYPE_Y> yGm_;
    GlobalTensor<DTYPE_Z> zGm_;
    uint32_t length_, tile_;
    DTYPE_X scale_;
};

template <bool padded>
__aicore__ inline void Run(GM_ADDR x, GM_ADDR y, GM_ADDR z, uint32_t blockLength, uint32_t lastLength,
                           uint32_t tileLength, float scale) {
    KernelScaledAdd<padded> op;
    op.Init(x, y, z, blockLength, lastLength, tileLength, scale);
    op.Process();
}

extern "C" __global__ __aicore__ void scaled_add(GM_ADDR x, GM_ADDR y, GM_ADDR z, GM_ADDR workspace, GM_ADDR tiling) {
    GET_TILING_DATA(data, tiling);
    if (TILING_KEY_IS(1))
        Run<false>(x, y, z, data.blockLength, data.lastBlockLength, data.tileLength, data.scale);
    else if (TILING_KEY_IS(2))
        Run<true>(x, y, z, data.blockLength, data.lastBlockLength, data.tileLength, data.scale);
}
