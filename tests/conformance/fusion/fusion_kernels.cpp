// SPDX-License-Identifier: Apache-2.0
// Kernels whose launches can be traced: they only copy and compute on elements.
#include "kernel_operator.h"

using namespace AscendC;

constexpr uint32_t tile = 1024;

// Calls operate(y, x) on tiles of this block's share of `count` floats.
template <class Operate>
__aicore__ inline void on_tiles(GM_ADDR in, GM_ADDR out, uint32_t count, Operate operate) {
    const uint32_t share = count / GetBlockNum();
    GlobalTensor<float> source, target;
    source.SetGlobalBuffer(reinterpret_cast<__gm__ float*>(in) + GetBlockIdx() * share, share);
    target.SetGlobalBuffer(reinterpret_cast<__gm__ float*>(out) + GetBlockIdx() * share, share);
    TPipe pipe;
    TQue<QuePosition::VECIN, 1> input;
    TQue<QuePosition::VECOUT, 1> output;
    pipe.InitBuffer(input, 1, tile * sizeof(float));
    pipe.InitBuffer(output, 1, tile * sizeof(float));
    for (uint32_t at = 0; at < share; at += tile) {
        LocalTensor<float> x = input.AllocTensor<float>();
        DataCopy(x, source[at], tile);
        input.EnQue(x);
        x = input.DeQue<float>();
        LocalTensor<float> y = output.AllocTensor<float>();
        operate(y, x);
        output.EnQue(y);
        input.FreeTensor(x);
        y = output.DeQue<float>();
        DataCopy(target[at], y, tile);
        output.FreeTensor(y);
    }
}

// out = in * factor + 1
extern "C" __global__ __aicore__ void scale(GM_ADDR in, GM_ADDR out, uint32_t count, float factor) {
    on_tiles(in, out, count, [&](LocalTensor<float>& y, LocalTensor<float>& x) {
        Muls(y, x, factor, tile);
        Adds(y, y, 1.0f, tile);
    });
}

// out = 1 / (in * in + 1)
extern "C" __global__ __aicore__ void bend(GM_ADDR in, GM_ADDR out, uint32_t count) {
    on_tiles(in, out, count, [&](LocalTensor<float>& y, LocalTensor<float>& x) {
        Mul(y, x, x, tile);
        Adds(y, y, 1.0f, tile);
        Reciprocal(y, y, tile);
    });
}

// out = in, element by element, which a trace does not record.
extern "C" __global__ __aicore__ void carry(GM_ADDR in, GM_ADDR out, uint32_t count) {
    const uint32_t share = count / GetBlockNum();
    for (uint32_t at = GetBlockIdx() * share; at < (GetBlockIdx() + 1) * share; ++at)
        reinterpret_cast<__gm__ float*>(out)[at] = reinterpret_cast<__gm__ float*>(in)[at];
}
