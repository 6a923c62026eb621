// SPDX-License-Identifier: Apache-2.0
#include "kernel_operator.h"
using namespace AscendC;

extern "C" __global__ __aicore__ void leaky_relu(GM_ADDR x, GM_ADDR y, GM_ADDR tiling)
{
    uint32_t total = *((__gm__ uint32_t*)tiling);
    uint32_t tile = *((__gm__ uint32_t*)tiling + 1);
    float slope = *((__gm__ float*)tiling + 2);
    TPipe pipe;
    TQue<QuePosition::VECIN, 2> inQ;
    TQue<QuePosition::VECOUT, 2> outQ;
    GlobalTensor<half> xGm, yGm;
    uint32_t perBlock = total / GetBlockNum();
    xGm.SetGlobalBuffer((__gm__ half*)x + perBlock * GetBlockIdx(), perBlock);
    yGm.SetGlobalBuffer((__gm__ half*)y + perBlock * GetBlockIdx(), perBlock);
    pipe.InitBuffer(inQ, 2, tile * sizeof(half));
    pipe.InitBuffer(outQ, 2, tile * sizeof(half));
    for (uint32_t i = 0; i < perBlock / tile; i++) {
        LocalTensor<half> in = inQ.AllocTensor<half>();
        DataCopy(in, xGm[i * tile], tile);
        inQ.EnQue(in);
        in = inQ.DeQue<half>();
        LocalTensor<half> out = outQ.AllocTensor<half>();
        LeakyRelu(out, in, (half)slope, tile);
        inQ.FreeTensor(in);
        outQ.EnQue(out);
        out = outQ.DeQue<half>();
        DataCopy(yGm[i * tile], out, tile);
        outQ.FreeTensor(out);
    }
}
