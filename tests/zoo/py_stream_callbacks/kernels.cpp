// SPDX-License-Identifier: Apache-2.0
#include "kernel_operator.h"

// y = x * x, one block does 4096 floats
extern "C" __global__ __aicore__ void square(GM_ADDR x, GM_ADDR y)
{
    constexpr uint32_t N = 4096;
    AscendC::GlobalTensor<float> xGm, yGm;
    xGm.SetGlobalBuffer((__gm__ float*)x + AscendC::GetBlockIdx() * N, N);
    yGm.SetGlobalBuffer((__gm__ float*)y + AscendC::GetBlockIdx() * N, N);
    AscendC::TPipe pipe;
    AscendC::TQue<AscendC::QuePosition::VECIN, 1> in;
    AscendC::TQue<AscendC::QuePosition::VECOUT, 1> out;
    pipe.InitBuffer(in, 1, N * sizeof(float));
    pipe.InitBuffer(out, 1, N * sizeof(float));
    auto a = in.AllocTensor<float>();
    AscendC::DataCopy(a, xGm, N);
    in.EnQue(a);
    a = in.DeQue<float>();
    auto b = out.AllocTensor<float>();
    AscendC::Mul(b, a, a, N);
    in.FreeTensor(a);
    out.EnQue(b);
    b = out.DeQue<float>();
    AscendC::DataCopy(yGm, b, N);
    out.FreeTensor(b);
}
