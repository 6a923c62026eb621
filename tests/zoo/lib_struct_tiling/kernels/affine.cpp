// SPDX-License-Identifier: Apache-2.0
// tiling comes by value
#include "affine_tiling.h"
#include "kernel_operator.h"

using namespace AscendC;

extern "C" __global__ __aicore__ void affine(GM_ADDR x, GM_ADDR y, AffineTiling tiling)
{
    TPipe pipe;
    TQue<TPosition::VECIN, 1> in;
    TQue<TPosition::VECOUT, 1> out;
    pipe.InitBuffer(in, 2, tiling.tile * sizeof(float));
    pipe.InitBuffer(out, 2, tiling.tile * sizeof(float));
    GlobalTensor<float> gx, gy;
    gx.SetGlobalBuffer((__gm__ float *)x, tiling.total);
    gy.SetGlobalBuffer((__gm__ float *)y, tiling.total);
    const uint32_t tiles = tiling.total / tiling.tile;
    for (uint32_t i = GetBlockIdx(); i < tiles; i += GetBlockNum()) {
        const AffineCoefficients &c = tiling.coeff[i % 2];
        LocalTensor<float> a = in.AllocTensor<float>();
        DataCopy(a, gx[i * tiling.tile], tiling.tile);
        in.EnQue(a);
        a = in.DeQue<float>();
        LocalTensor<float> b = out.AllocTensor<float>();
        Muls(b, a, c.scale, tiling.tile);
        Adds(b, b, c.shift, tiling.tile);
        out.EnQue(b);
        in.FreeTensor(a);
        b = out.DeQue<float>();
        DataCopy(gy[i * tiling.tile], b, tiling.tile);
        out.FreeTensor(b);
    }
}
