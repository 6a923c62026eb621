// SPDX-License-Identifier: Apache-2.0
// tiling comes as a pointer to global memory
#include "affine_tiling.h"
#include "kernel_operator.h"

extern "C" __global__ __aicore__ void window(GM_ADDR x, GM_ADDR y, __gm__ WindowTiling *tiling)
{
    auto in = (__gm__ int32_t *)x + tiling->begin;
    auto out = (__gm__ int32_t *)y;
    for (int32_t i = AscendC::GetBlockIdx(); i < tiling->length; i += AscendC::GetBlockNum()) {
        out[i] = in[i * tiling->step];
    }
}
