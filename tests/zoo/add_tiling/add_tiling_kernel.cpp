// SPDX-License-Identifier: Apache-2.0
#include "kernel_operator.h"
#include "add_tiling.h"
using namespace AscendC;

#define BUFFER_NUM 2

#define CONVERT_TILING_DATA(type, tilingStruct, tilingPointer) \
    __gm__ type *tilingStruct = reinterpret_cast<__gm__ type *>((__gm__ uint8_t *)(tilingPointer))

#define INIT_TILING_DATA(data, pointer)                     \
    CONVERT_TILING_DATA(AddTilingData, _gm, pointer);       \
    AddTilingData data;                                     \
    data.totalLength = _gm->totalLength;                    \
    data.tileNum = _gm->tileNum;                            \
    data.formerNum = _gm->formerNum;                        \
    data.tileLength = _gm->tileLength;                      \
    data.alpha = _gm->alpha

class KernelAxpyAdd {
public:
    __aicore__ inline KernelAxpyAdd(TPipe *p) : pipe(p) {}

    __aicore__ inline void Init(GM_ADDR x, GM_ADDR y, GM_ADDR z, const AddTilingData &t)
    {
        uint32_t core = GetBlockIdx();
        tiles = t.tileNum + (core < t.formerNum ? 1 : 0);
        uint32_t firstTile = core * t.tileNum + (core < t.formerNum ? core : t.formerNum);
        len = t.tileLength;
        alpha = t.alpha;
        uint64_t off = (uint64_t)firstTile * len;
        xGm.SetGlobalBuffer((__gm__ float*)x + off, tiles * len);
        yGm.SetGlobalBuffer((__gm__ float*)y + off, tiles * len);
        zGm.SetGlobalBuffer((__gm__ float*)z + off, tiles * len);
        pipe->InitBuffer(inX, BUFFER_NUM, len * sizeof(float));
        pipe->InitBuffer(inY, BUFFER_NUM, len * sizeof(float));
        pipe->InitBuffer(outZ, BUFFER_NUM, len * sizeof(float));
        pipe->InitBuffer(tmpBuf, len * sizeof(float));
    }

    __aicore__ inline void Process()
    {
        for (uint32_t i = 0; i < tiles; ++i) {
            auto x = inX.AllocTensor<float>();
            auto y = inY.AllocTensor<float>();
            DataCopy(x, xGm[i * len], len);
            DataCopy(y, yGm[i * len], len);
            inX.EnQue(x);
            inY.EnQue(y);

            x = inX.DeQue<float>();
            y = inY.DeQue<float>();
            LocalTensor<float> z = outZ.AllocTensor<float>();
            LocalTensor<float> tmp = tmpBuf.Get<float>();
            Muls(tmp, x, alpha, len);
            Add(z, tmp, y, len);
            outZ.EnQue(z);
            inX.FreeTensor(x);
            inY.FreeTensor(y);

            z = outZ.DeQue<float>();
            DataCopy(zGm[i * len], z, len);
            outZ.FreeTensor(z);
        }
    }

private:
    TPipe *pipe;
    TQue<QuePosition::VECIN, BUFFER_NUM> inX, inY;
    TQue<QuePosition::VECOUT, BUFFER_NUM> outZ;
    TBuf<QuePosition::VECCALC> tmpBuf;
    GlobalTensor<float> xGm, yGm, zGm;
    uint32_t tiles = 0, len = 0;
    float alpha = 1.0f;
};

extern "C" __global__ __aicore__ void axpy_add(GM_ADDR x, GM_ADDR y, GM_ADDR z, GM_ADDR workspace, GM_ADDR tiling)
{
    INIT_TILING_DATA(data, tiling);
    TPipe pipe;
    KernelAxpyAdd op(&pipe);
    op.Init(x, y, z, data);
    op.Process();
}

#ifndef __CCE_KT_TEST__
// call of kernel function
void axpy_add_do(uint32_t blockDim, void* l2ctrl, void* stream, uint8_t* x, uint8_t* y, uint8_t* z,
                 uint8_t* workspace, uint8_t* tiling)
{
    axpy_add<<<blockDim, l2ctrl, stream>>>(x, y, z, workspace, tiling);
}
#endif
