// SPDX-License-Identifier: Apache-2.0
// y[r][c] = x[r][c] - v[c % 64]: the same 256 bytes are subtracted from every repeat
#include "broadcast_base.h"

extern "C" __global__ __aicore__ void sub_row(GM_ADDR x, GM_ADDR v, GM_ADDR y, uint32_t rows, uint32_t cols)
{
    TPipe pipe;
    GlobalTensor<float> gx, gv, gy;
    gx.SetGlobalBuffer((__gm__ float *)x);
    gv.SetGlobalBuffer((__gm__ float *)v);
    gy.SetGlobalBuffer((__gm__ float *)y);
    TBuf<> buf;
    pipe.InitBuffer(buf, REPEAT_BYTES);
    LocalTensor<float> row = buf.Get<float>();
    DataCopy(row, gv, REPEAT_BYTES / sizeof(float));
    SetFlag<HardEvent::MTE2_V>(EVENT_ID0);
    WaitFlag<HardEvent::MTE2_V>(EVENT_ID0);
    const uint8_t repeats = cols * sizeof(float) / REPEAT_BYTES;
    BinaryRepeatParams params;
    params.src1RepStride = 0;
    ForEachRow(pipe, gx, gy, rows, cols, [&](const LocalTensor<float> &out, const LocalTensor<float> &in, uint32_t) {
        Sub(out, in, row, REPEAT_BYTES / sizeof(float), repeats, params);
    });
}
