// SPDX-License-Identifier: Apache-2.0
#include "kernel_operator.h"
#define TILE 512
extern "C" __global__ __aicore__ void axpy(GM_ADDR x, GM_ADDR y, float a, uint32_t n)
{
    using namespace AscendC;
    TPipe pipe;
    TBuf<> bx, by;
    pipe.InitBuffer(bx, TILE * sizeof(float));
    pipe.InitBuffer(by, TILE * sizeof(float));
    LocalTensor<float> lx = bx.Get<float>(), ly = by.Get<float>();
    GlobalTensor<float> gx, gy;
    gx.SetGlobalBuffer((__gm__ float *)x);
    gy.SetGlobalBuffer((__gm__ float *)y);
    for (uint32_t i = GetBlockIdx() * TILE; i < n; i += GetBlockNum() * TILE) {
        DataCopy(lx, gx[i], TILE);
        DataCopy(ly, gy[i], TILE);
        PipeBarrier<PIPE_ALL>();
        Axpy(ly, lx, a, TILE);
        PipeBarrier<PIPE_ALL>();
        DataCopy(gy[i], ly, TILE);
        PipeBarrier<PIPE_ALL>();
    }
}
#undef TILE
