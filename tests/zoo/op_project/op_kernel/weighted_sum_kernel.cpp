// SPDX-License-Identifier: Apache-2.0
#include "kernel_operator.h"

using namespace AscendC;

extern "C" __global__ __aicore__ void weighted_sum(GM_ADDR x, GM_ADDR bias, GM_ADDR z, GM_ADDR workspace, GM_ADDR tiling)
{
    GET_TILING_DATA(t, tiling);
    GM_ADDR usrWorkspace = GetUserWorkspace(workspace);
    TPipe pipe;
    TBuf<TPosition::VECCALC> sumBuf, inBuf;
    pipe.InitBuffer(sumBuf, t.length * sizeof(float));
    pipe.InitBuffer(inBuf, t.length * sizeof(float));
    LocalTensor<float> sum = sumBuf.Get<float>();
    LocalTensor<float> in = inBuf.Get<float>();
    const uint32_t start = GetBlockIdx() * t.length;
    GlobalTensor<float> gm, scratch;
    scratch.SetGlobalBuffer((__gm__ float *)usrWorkspace + start, t.length);
    if (t.hasBias) {
        gm.SetGlobalBuffer((__gm__ DTYPE_BIAS *)bias + start, t.length);
        DataCopy(sum, gm, t.length);
        PipeBarrier<PIPE_ALL>();
    } else {
        Duplicate(sum, 0.0f, t.length);
    }
    ListTensorDesc list((__gm__ void *)x);
    for (uint32_t i = 0; i < t.list.count; i++) {
        gm.SetGlobalBuffer(list.GetDataPtr<float>(i) + start, t.length);
        PipeBarrier<PIPE_ALL>();
        DataCopy(in, gm, t.length);
        PipeBarrier<PIPE_ALL>();
        Axpy(sum, in, static_cast<float>(t.list.weights[i]), t.length);
    }
    PipeBarrier<PIPE_ALL>();
    // through the workspace, to show that it is there
    DataCopy(scratch, sum, t.length);
    PipeBarrier<PIPE_ALL>();
    DataCopy(in, scratch, t.length);
    PipeBarrier<PIPE_ALL>();
    gm.SetGlobalBuffer((__gm__ DTYPE_Z *)z + start, t.length);
    DataCopy(gm, in, t.length);
}
