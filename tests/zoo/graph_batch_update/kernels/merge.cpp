// SPDX-License-Identifier: Apache-2.0
#include "kernel_operator.h"
using namespace AscendC;

extern "C" __global__ __aicore__ void merge_max(GM_ADDR a, GM_ADDR b, GM_ADDR out, uint32_t length)
{
    constexpr uint32_t TILE = 1024;
    TPipe pipe;
    TQue<QuePosition::VECIN, 1> qa, qb;
    TQue<QuePosition::VECOUT, 1> qo;
    pipe.InitBuffer(qa, 1, TILE * sizeof(float));
    pipe.InitBuffer(qb, 1, TILE * sizeof(float));
    pipe.InitBuffer(qo, 1, TILE * sizeof(float));
    GlobalTensor<float> ga, gb, go;
    ga.SetGlobalBuffer((__gm__ float*)a);
    gb.SetGlobalBuffer((__gm__ float*)b);
    go.SetGlobalBuffer((__gm__ float*)out);
    for (uint32_t i = GetBlockIdx() * TILE; i < length; i += GetBlockNum() * TILE) {
        LocalTensor<float> la = qa.AllocTensor<float>(), lb = qb.AllocTensor<float>();
        DataCopy(la, ga[i], TILE);
        DataCopy(lb, gb[i], TILE);
        qa.EnQue(la);
        qb.EnQue(lb);
        la = qa.DeQue<float>();
        lb = qb.DeQue<float>();
        LocalTensor<float> lo = qo.AllocTensor<float>();
        Max(lo, la, lb, TILE);
        qa.FreeTensor(la);
        qb.FreeTensor(lb);
        qo.EnQue(lo);
        lo = qo.DeQue<float>();
        DataCopy(go[i], lo, TILE);
        qo.FreeTensor(lo);
    }
}
