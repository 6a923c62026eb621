// SPDX-License-Identifier: Apache-2.0
#include "kernel_operator.h"
using namespace AscendC;

#define DIV_UP(a, b) (((a) + (b) - 1) / (b))

template <typename T>
__aicore__ inline void clamp_impl(GM_ADDR x_, GM_ADDR y_, T lo, T hi, uint32_t n)
{
    constexpr uint32_t TILE = 8192 / sizeof(T);
    TPipe pipe;
    TQue<TPosition::VECIN, 2> qi;
    TQue<TPosition::VECOUT, 2> qo;
    pipe.InitBuffer(qi, 2, TILE * sizeof(T));
    pipe.InitBuffer(qo, 2, TILE * sizeof(T));
    GlobalTensor<T> x, y;
    x.SetGlobalBuffer((__gm__ T*)x_, n);
    y.SetGlobalBuffer((__gm__ T*)y_, n);
    uint32_t tiles = DIV_UP(n, TILE);
    for (uint32_t t = block_idx; t < tiles; t += block_num) {
        uint32_t len = (t == tiles - 1) ? n - t * TILE : TILE;
        auto in = qi.AllocTensor<T>();
        DataCopyExtParams cp{1, (uint32_t)(len * sizeof(T)), 0, 0, 0};
        DataCopyPadExtParams<T> pad{true, 0, 0, (T)0};
        DataCopyPad(in, x[t * TILE], cp, pad);
        qi.EnQue(in);
        in = qi.DeQue<T>();
        auto out = qo.AllocTensor<T>();
        Maxs(out, in, lo, len);
        Mins(out, out, hi, len);
        qi.FreeTensor(in);
        qo.EnQue(out);
        out = qo.DeQue<T>();
        DataCopyPad(y[t * TILE], out, cp);
        qo.FreeTensor(out);
    }
}

extern "C" __global__ __aicore__ void clamp_f32(GM_ADDR x, GM_ADDR y, float lo, float hi, uint32_t n)
{
    KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_AIV_ONLY);
    clamp_impl<float>(x, y, lo, hi, n);
}

extern "C" __global__ __aicore__ void clamp_f16(GM_ADDR x, GM_ADDR y, float lo, float hi, uint32_t n)
{
    KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_AIV_ONLY);
    clamp_impl<half>(x, y, (half)lo, (half)hi, n);
}

// what ctypes sees
extern "C" {
void call_clamp_f32(uint32_t blockDim, void* stream, uint8_t* x, uint8_t* y, float lo, float hi, uint32_t n)
{
    clamp_f32<<<blockDim, nullptr, stream>>>(x, y, lo, hi, n);
}
void call_clamp_f16(uint32_t blockDim, void* stream, uint8_t* x, uint8_t* y, float lo, float hi, uint32_t n)
{
    clamp_f16<<<blockDim, nullptr, stream>>>(x, y, lo, hi, n);
}
}
