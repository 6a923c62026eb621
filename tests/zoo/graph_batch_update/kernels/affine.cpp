// SPDX-License-Identifier: Apache-2.0
#include "kernel_operator.h"
#include "request.h"
constexpr uint32_t TILE = 1024;

extern "C" __global__ __aicore__ void affine(GM_ADDR x, GM_ADDR y, AffineParam param)
{
    AscendC::TPipe pipe;
    AscendC::TBuf<AscendC::TPosition::VECCALC> buf;
    pipe.InitBuffer(buf, TILE * sizeof(float));
    auto t = buf.Get<float>();
    AscendC::GlobalTensor<float> xGm, yGm;
    xGm.SetGlobalBuffer((__gm__ float*)x);
    yGm.SetGlobalBuffer((__gm__ float*)y);
    for (uint32_t i = AscendC::GetBlockIdx() * TILE; i < param.length; i += AscendC::GetBlockNum() * TILE) {
        AscendC::DataCopy(t, xGm[i], TILE);
        AscendC::PipeBarrier<PIPE_ALL>();
        AscendC::Muls(t, t, param.scale, TILE);
        AscendC::Adds(t, t, param.bias, TILE);
        AscendC::PipeBarrier<PIPE_ALL>();
        AscendC::DataCopy(yGm[i], t, TILE);
        AscendC::PipeBarrier<PIPE_ALL>();
    }
}
