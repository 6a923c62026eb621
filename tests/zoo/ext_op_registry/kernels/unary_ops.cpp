// SPDX-License-Identifier: Apache-2.0
#include "elementwise.h"
using namespace NpuElementwise;

#define DEFINE_UNARY(NAME, BODY)                                                               \
    extern "C" __global__ __aicore__ void NAME(GM_ADDR src, GM_ADDR dst, uint32_t total)       \
    {                                                                                          \
        KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_AIV_ONLY);                                        \
        TPipe pipe;                                                                            \
        TQue<TPosition::VECIN, 1> inQueue;                                                     \
        TQue<TPosition::VECOUT, 1> outQueue;                                                   \
        pipe.InitBuffer(inQueue, 2, UB_TILE * sizeof(float));                                  \
        pipe.InitBuffer(outQueue, 2, UB_TILE * sizeof(float));                                 \
        GlobalTensor<float> srcGm, dstGm;                                                      \
        srcGm.SetGlobalBuffer((__gm__ float*)src, total);                                      \
        dstGm.SetGlobalBuffer((__gm__ float*)dst, total);                                      \
        Range range = MyRange(total);                                                          \
        for (uint32_t i = range.begin; i < range.end; i += UB_TILE) {                          \
            uint32_t n = range.end - i > UB_TILE ? UB_TILE : range.end - i;                    \
            LocalTensor<float> x = inQueue.AllocTensor<float>();                               \
            Load(x, srcGm[i], n);                                                              \
            inQueue.EnQue(x);                                                                  \
            x = inQueue.DeQue<float>();                                                        \
            LocalTensor<float> y = outQueue.AllocTensor<float>();                              \
            BODY;                                                                              \
            inQueue.FreeTensor(x);                                                             \
            outQueue.EnQue(y);                                                                 \
            y = outQueue.DeQue<float>();                                                       \
            Store(dstGm[i], y, n);                                                             \
            outQueue.FreeTensor(y);                                                            \
        }                                                                                      \
    }

DEFINE_UNARY(npu_relu, Relu(y, x, n))
// x / (1 + exp(-x))
DEFINE_UNARY(npu_silu, {
    Muls(y, x, -1.0f, n);
    Exp(y, y, n);
    Adds(y, y, 1.0f, n);
    Div(y, x, y, n);
})
