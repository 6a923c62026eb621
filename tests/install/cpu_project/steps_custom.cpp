// SPDX-License-Identifier: Apache-2.0
// Kernels that both forms of the program run.
#include "kernel_operator.h"

extern "C" __global__ __aicore__ void add_custom(GM_ADDR x, GM_ADDR y, GM_ADDR z, uint32_t length) {
    AscendC::GlobalTensor<float> xs, ys, zs;
    const uint32_t share = length / AscendC::GetBlockNum(), from = share * AscendC::GetBlockIdx();
    xs.SetGlobalBuffer((__gm__ float*)x + from, share);
    ys.SetGlobalBuffer((__gm__ float*)y + from, share);
    zs.SetGlobalBuffer((__gm__ float*)z + from, share);
    AscendC::TPipe pipe;
    AscendC::TQue<AscendC::TPosition::VECIN, 1> in;
    AscendC::TQue<AscendC::TPosition::VECOUT, 1> out;
    pipe.InitBuffer(in, 1, 2 * share * sizeof(float));
    pipe.InitBuffer(out, 1, share * sizeof(float));
    AscendC::LocalTensor<float> both = in.AllocTensor<float>();
    AscendC::DataCopy(both, xs, share);
    AscendC::DataCopy(both[share], ys, share);
    in.EnQue(both);
    both = in.DeQue<float>();
    AscendC::LocalTensor<float> sum = out.AllocTensor<float>();
    AscendC::Add(sum, both, both[share], share);
    out.EnQue(sum);
    in.FreeTensor(both);
    sum = out.DeQue<float>();
    AscendC::DataCopy(zs, sum, share);
    out.FreeTensor(sum);
}

// Writes the number assigned to the key.
extern "C" __global__ __aicore__ void key_custom(GM_ADDR z) {
    if (AscendC::GetBlockIdx() != 0) return;
    if (TILING_KEY_IS(1)) {
        *(__gm__ int32_t*)z = 100;
    } else if (TILING_KEY_IS(2)) {
        *(__gm__ int32_t*)z = 200;
    } else {
        *(__gm__ int32_t*)z = 300;
    }
}

extern "C" __global__ __aicore__ void fault_custom(GM_ADDR z) {
    if (AscendC::GetBlockIdx() == 1) asm("trap");
    *(__gm__ int32_t*)z = 1;
}

#ifndef ASCENDC_CPU_DEBUG
void add_custom_do(uint32_t blocks, void* stream, uint8_t* x, uint8_t* y, uint8_t* z, uint32_t length) {
    add_custom<<<blocks, nullptr, stream>>>(x, y, z, length);
}
#endif
