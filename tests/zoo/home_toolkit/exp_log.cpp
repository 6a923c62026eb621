// SPDX-License-Identifier: Apache-2.0
#include "kernel_operator.h"
using namespace AscendC;

// softplus: log(1 + exp(x))
extern "C" __global__ __aicore__ void exp_log(GM_ADDR x, GM_ADDR y)
{
    constexpr uint32_t LEN = 640;
    TPipe pipe;
    TQue<QuePosition::VECIN, 1> in;
    TQue<QuePosition::VECOUT, 1> out;
    pipe.InitBuffer(in, 1, LEN * sizeof(half));
    pipe.InitBuffer(out, 1, LEN * sizeof(half));
    GlobalTensor<half> gx, gy;
    gx.SetGlobalBuffer((__gm__ half *)x + block_idx * LEN, LEN);
    gy.SetGlobalBuffer((__gm__ half *)y + block_idx * LEN, LEN);
    LocalTensor<half> a = in.AllocTensor<half>();
    DataCopy(a, gx, LEN);
    in.EnQue(a);
    a = in.DeQue<half>();
    LocalTensor<half> b = out.AllocTensor<half>();
    Exp(b, a, LEN);
    Adds(b, b, (half)1.0, LEN);
    Ln(b, b, LEN);
    out.EnQue(b);
    b = out.DeQue<half>();
    DataCopy(gy, b, LEN);
    in.FreeTensor(a);
    out.FreeTensor(b);
}

extern "C" int exp_log_do(int blocks, void *stream, void *x, void *y)
{
    exp_log<<<blocks, nullptr, stream>>>((GM_ADDR)x, (GM_ADDR)y);
    return 0;
}
