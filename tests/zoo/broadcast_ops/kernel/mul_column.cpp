// SPDX-License-Identifier: Apache-2.0
// y[r][c] = x[r][c] * s[r]
#include "broadcast_base.h"

extern "C" __global__ __aicore__ void mul_column(GM_ADDR x, GM_ADDR s, GM_ADDR y, uint32_t rows, uint32_t cols)
{
    TPipe pipe;
    GlobalTensor<float> gx, gs, gy;
    gx.SetGlobalBuffer((__gm__ float *)x);
    gs.SetGlobalBuffer((__gm__ float *)s);
    gy.SetGlobalBuffer((__gm__ float *)y);
    ForEachRow(pipe, gx, gy, rows, cols, [&](const LocalTensor<float> &out, const LocalTensor<float> &in, uint32_t r) {
        Muls(out, in, gs.GetValue(r), cols);
    });
}
