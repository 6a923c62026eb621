// SPDX-License-Identifier: Apache-2.0
#include "kernel_operator.h"

extern "C" __global__ __aicore__ void fill(GM_ADDR y, uint32_t count, float value)
{
    AscendC::GlobalTensor<float> dst;
    uint32_t each = count / AscendC::GetBlockNum();
    dst.SetGlobalBuffer((__gm__ float *)y + each * AscendC::GetBlockIdx(), each);
    AscendC::InitOutput<float>(dst, each, value);
}
