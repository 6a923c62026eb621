// SPDX-License-Identifier: Apache-2.0
// Operators written with the high-level functions of the kernel language: each block takes its part of the data through
// queues, tile by tile.
#include "kernel_operator.h"

namespace {

constexpr uint32_t tile_length = 1024;

// One operator on one or two sources. `Compute::compute(z, x, y, tmp)` works on a tile.
template <class T, class Compute>
class TiledOperator {
public:
    __aicore__ inline TiledOperator() {}
    __aicore__ inline void Init(GM_ADDR x, GM_ADDR y, GM_ADDR z, uint32_t total) {
        length = total / AscendC::GetBlockNum();
        const uint64_t first = static_cast<uint64_t>(AscendC::GetBlockIdx()) * length;
        xGm.SetGlobalBuffer((__gm__ T*)x + first, length);
        yGm.SetGlobalBuffer((__gm__ T*)y + first, length);
        zGm.SetGlobalBuffer((__gm__ T*)z + first, length);
        pipe.InitBuffer(inQueueX, 2, tile_length * sizeof(T));
        pipe.InitBuffer(inQueueY, 2, tile_length * sizeof(T));
        pipe.InitBuffer(outQueueZ, 2, tile_length * sizeof(T));
        pipe.InitBuffer(tmpBuffer, 4096);
    }
    __aicore__ inline void Process() {
        for (uint32_t i = 0; i < length / tile_length; ++i) {
            CopyIn(i);
            ComputeTile();
            CopyOut(i);
        }
    }

private:
    __aicore__ inline void CopyIn(uint32_t i) {
        AscendC::LocalTensor<T> x = inQueueX.template AllocTensor<T>(), y = inQueueY.template AllocTensor<T>();
        AscendC::DataCopy(x, xGm[i * tile_length], tile_length);
        AscendC::DataCopy(y, yGm[i * tile_length], tile_length);
        inQueueX.EnQue(x);
        inQueueY.EnQue(y);
    }
    __aicore__ inline void ComputeTile() {
        AscendC::LocalTensor<T> x = inQueueX.template DeQue<T>(), y = inQueueY.template DeQue<T>();
        AscendC::LocalTensor<T> z = outQueueZ.template AllocTensor<T>();
        Compute::compute(z, x, y, tmpBuffer.Get<uint8_t>());
        outQueueZ.EnQue(z);
        inQueueX.FreeTensor(x);
        inQueueY.FreeTensor(y);
    }
    __aicore__ inline void CopyOut(uint32_t i) {
        AscendC::LocalTensor<T> z = outQueueZ.template DeQue<T>();
        AscendC::DataCopy(zGm[i * tile_length], z, tile_length);
        outQueueZ.FreeTensor(z);
    }

    AscendC::TPipe pipe;
    AscendC::TQue<AscendC::TPosition::VECIN, 2> inQueueX, inQueueY;
    AscendC::TQue<AscendC::TPosition::VECOUT, 2> outQueueZ;
    AscendC::TBuf<AscendC::TPosition::VECCALC> tmpBuffer;
    AscendC::GlobalTensor<T> xGm, yGm, zGm;
    uint32_t length;
};

struct GeluTile {
    __aicore__ static inline void compute(AscendC::LocalTensor<half>& z, AscendC::LocalTensor<half>& x,
                                          AscendC::LocalTensor<half>&, const AscendC::LocalTensor<uint8_t>& tmp) {
        AscendC::Gelu<half, false, false>(z, x, tmp, tile_length);
    }
};
struct SwiGluTile {
    __aicore__ static inline void compute(AscendC::LocalTensor<float>& z, AscendC::LocalTensor<float>& x,
                                          AscendC::LocalTensor<float>& y, const AscendC::LocalTensor<uint8_t>& tmp) {
        AscendC::SwiGLU<float, false>(z, x, y, 1.0f, tmp, tile_length);
    }
};
struct PowerClampTile {
    __aicore__ static inline void compute(AscendC::LocalTensor<float>& z, AscendC::LocalTensor<float>& x,
                                          AscendC::LocalTensor<float>& y, const AscendC::LocalTensor<uint8_t>& tmp) {
        AscendC::Power<float, false>(z, x, y, tmp, tile_length);
        AscendC::ClampMax<float>(z, z, 50.0f, tile_length);
        AscendC::ClampMin<float>(z, z, tmp, 0.5f, tile_length);
    }
};

constexpr AscendC::CumSumConfig along_rows{true, false, false};

// A tile is a matrix with 16 rows of 64 numbers: running sums, sums of rows and maxima of columns.
struct MatrixSums {
    __aicore__ static inline void compute(AscendC::LocalTensor<float>& z, AscendC::LocalTensor<float>& x,
                                          AscendC::LocalTensor<float>& y, AscendC::LocalTensor<uint8_t> tmp) {
        const AscendC::CumSumInfo info{16, 64};
        AscendC::CumSum<float, along_rows>(z, y, x, tmp, info);
    }
};
struct MatrixReductions {
    __aicore__ static inline void compute(AscendC::LocalTensor<float>& z, AscendC::LocalTensor<float>& x,
                                          AscendC::LocalTensor<float>&, const AscendC::LocalTensor<uint8_t>& tmp) {
        AscendC::Duplicate(z, 0.0f, tile_length);
        const uint32_t shape[] = {16, 64};
        AscendC::ReduceSum<float, AscendC::Pattern::Reduce::AR>(z, x, tmp, shape, true);
        AscendC::LocalTensor<float> columns = z[64];
        AscendC::ReduceMax<float, AscendC::Pattern::Reduce::RA>(columns, x, tmp, shape, true);
    }
};

}  // namespace

#define OPERATOR(name, T, Tile)                                                                   \
    extern "C" __global__ __vector__ void name(GM_ADDR x, GM_ADDR y, GM_ADDR z, uint32_t count) { \
        TiledOperator<T, Tile> op;                                                                \
        op.Init(x, y, z, count);                                                                  \
        op.Process();                                                                             \
    }
OPERATOR(gelu_custom, half, GeluTile)
OPERATOR(swiglu_custom, float, SwiGluTile)
OPERATOR(power_clamp_custom, float, PowerClampTile)
OPERATOR(cumsum_custom, float, MatrixSums)
OPERATOR(reduce_custom, float, MatrixReductions)
