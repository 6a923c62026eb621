// SPDX-License-Identifier: Apache-2.0
#include "kernel_operator.h"
using namespace AscendC;

extern "C" __global__ __aicore__ void gather_rows(GM_ADDR x, GM_ADDR index, GM_ADDR y, uint32_t count, uint32_t cols)
{
    GlobalTensor<float> src, dst;
    GlobalTensor<int32_t> idx;
    src.SetGlobalBuffer((__gm__ float *)x);
    dst.SetGlobalBuffer((__gm__ float *)y);
    idx.SetGlobalBuffer((__gm__ int32_t *)index);
    TPipe pipe;
    TQueBind<QuePosition::VECIN, QuePosition::VECOUT, 2> through;
    pipe.InitBuffer(through, 2, cols * sizeof(float));
    for (uint32_t i = GetBlockIdx(); i < count; i += GetBlockNum()) {
        LocalTensor<float> row = through.AllocTensor<float>();
        DataCopy(row, src[static_cast<uint64_t>(idx.GetValue(i)) * cols], cols);
        through.EnQue(row);
        row = through.DeQue<float>();
        DataCopy(dst[i * cols], row, cols);
        through.FreeTensor(row);
    }
}
