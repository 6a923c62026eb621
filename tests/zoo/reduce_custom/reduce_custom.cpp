// SPDX-License-Identifier: Apache-2.0
#include "kernel_operator.h"
using namespace AscendC;

// sum, max and min of each row of 1000 floats; row stride is 1024
constexpr int32_t LEN = 1000;
constexpr int32_t PITCH = 1024;

extern "C" __global__ __aicore__ void reduce_custom(GM_ADDR x, GM_ADDR y, int32_t rows)
{
    TPipe pipe;
    TQue<QuePosition::VECIN, 1> inQ;
    TQue<QuePosition::VECOUT, 1> outQ;
    TBuf<QuePosition::VECCALC> work;
    pipe.InitBuffer(inQ, 1, PITCH * sizeof(float));
    pipe.InitBuffer(outQ, 1, 32);
    pipe.InitBuffer(work, PITCH * sizeof(float));
    GlobalTensor<float> gx, gy;
    gx.SetGlobalBuffer((__gm__ float *)x);
    gy.SetGlobalBuffer((__gm__ float *)y);

    for (int32_t row = GetBlockIdx(); row < rows; row += GetBlockNum()) {
        LocalTensor<float> in = inQ.AllocTensor<float>();
        DataCopy(in, gx[row * PITCH], PITCH);
        inQ.EnQue(in);
        in = inQ.DeQue<float>();
        LocalTensor<float> out = outQ.AllocTensor<float>();
        LocalTensor<float> tmp = work.Get<float>();
        Duplicate(out, 0.0f, 8);
        pipe_barrier(PIPE_V);
        ReduceSum<float>(tmp, in, tmp[512], LEN);
        SetFlag<HardEvent::V_S>(EVENT_ID1);
        WaitFlag<HardEvent::V_S>(EVENT_ID1);
        float sum = tmp.GetValue(0);
        ReduceMax<float>(tmp, in, tmp[512], LEN, true);
        PipeBarrier<PIPE_ALL>();
        float most = tmp.GetValue(0);
        uint32_t at = tmp.ReinterpretCast<uint32_t>().GetValue(1);
        ReduceMin<float>(tmp, in, tmp[512], LEN, false);
        PipeBarrier<PIPE_ALL>();
        out.SetValue(0, sum);
        out.SetValue(1, most);
        out.SetValue(2, static_cast<float>(at));
        out.SetValue(3, tmp.GetValue(0));
        outQ.EnQue(out);
        out = outQ.DeQue<float>();
        DataCopy(gy[row * 8], out, 8);
        outQ.FreeTensor(out);
        inQ.FreeTensor(in);
    }
}

void reduce_custom_do(uint32_t dim, void *l2, void *stream, uint8_t *x, uint8_t *y, int32_t rows)
{
    reduce_custom<<<dim, l2, stream>>>(x, y, rows);
}
