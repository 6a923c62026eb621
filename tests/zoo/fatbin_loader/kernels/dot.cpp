// SPDX-License-Identifier: Apache-2.0
#include "kernel_operator.h"
// each core adds its part to out[0]
extern "C" __global__ __aicore__ void dot(GM_ADDR x, GM_ADDR y, GM_ADDR out, uint32_t n)
{
    using namespace AscendC;
    const uint32_t each = n / GetBlockNum();
    TPipe pipe;
    TBuf<> buf;
    pipe.InitBuffer(buf, each * sizeof(float) * 2 + 32);
    LocalTensor<float> a = buf.Get<float>(), b = a[each], r = a[2 * each];
    GlobalTensor<float> gx, gy, go;
    gx.SetGlobalBuffer((__gm__ float *)x + GetBlockIdx() * each);
    gy.SetGlobalBuffer((__gm__ float *)y + GetBlockIdx() * each);
    go.SetGlobalBuffer((__gm__ float *)out);
    DataCopy(a, gx, each);
    DataCopy(b, gy, each);
    PipeBarrier<PIPE_ALL>();
    Duplicate(r, 0.0f, 8);
    Mul(a, a, b, each);
    ReduceSum(a, a, b, each);
    PipeBarrier<PIPE_ALL>();
    r.SetValue(0, a.GetValue(0));
    PipeBarrier<PIPE_ALL>();
    SetAtomicAdd<float>();
    DataCopy(go, r, 8);
    SetAtomicNone();
}
