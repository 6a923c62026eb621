// SPDX-License-Identifier: Apache-2.0
#include "axpby_tiling.h"
#include "kernel_operator.h"

using namespace AscendC;
constexpr int32_t BUFFER_NUM = 2;

__aicore__ inline void CopyTiling(AxpbyTiling* tiling, GM_ADDR tilingGM)
{
    uint32_t* ptr = reinterpret_cast<uint32_t*>(tiling);
    auto tiling32 = reinterpret_cast<__gm__ uint32_t*>(tilingGM);
    for (size_t i = 0; i < sizeof(AxpbyTiling) / sizeof(uint32_t); i++, ptr++) {
        *ptr = *(tiling32 + i);
    }
    return;
}

extern "C" __global__ __aicore__ void axpby_custom(GM_ADDR x, GM_ADDR y, GM_ADDR z, uint8_t offset, GM_ADDR tilingGm)
{
    AxpbyTiling tiling;
    CopyTiling(&tiling, tilingGm);
    TPipe pipe;
    TQue<QuePosition::VECIN, BUFFER_NUM> queX, queY;
    TQue<QuePosition::VECOUT, BUFFER_NUM> queZ;
    uint32_t blockLength = tiling.totalLength / GetBlockNum();
    uint32_t tileLength = blockLength / tiling.tileNum / BUFFER_NUM;
    GlobalTensor<float> xGm, yGm, zGm;
    xGm.SetGlobalBuffer((__gm__ float*)x + blockLength * GetBlockIdx(), blockLength);
    yGm.SetGlobalBuffer((__gm__ float*)y + blockLength * GetBlockIdx(), blockLength);
    zGm.SetGlobalBuffer((__gm__ float*)z + blockLength * GetBlockIdx(), blockLength);
    pipe.InitBuffer(queX, BUFFER_NUM, tileLength * sizeof(float));
    pipe.InitBuffer(queY, BUFFER_NUM, tileLength * sizeof(float));
    pipe.InitBuffer(queZ, BUFFER_NUM, tileLength * sizeof(float));
    for (uint32_t i = 0; i < tiling.tileNum * BUFFER_NUM; i++) {
        LocalTensor<float> xLocal = queX.AllocTensor<float>(), yLocal = queY.AllocTensor<float>();
        DataCopy(xLocal, xGm[i * tileLength], tileLength);
        DataCopy(yLocal, yGm[i * tileLength], tileLength);
        queX.EnQue(xLocal);
        queY.EnQue(yLocal);
        xLocal = queX.DeQue<float>();
        yLocal = queY.DeQue<float>();
        LocalTensor<float> zLocal = queZ.AllocTensor<float>();
        Muls(zLocal, xLocal, tiling.alpha, tileLength);
        Axpy(zLocal, yLocal, tiling.beta, tileLength);
        Adds(zLocal, zLocal, static_cast<float>(offset), tileLength);
        queX.FreeTensor(xLocal);
        queY.FreeTensor(yLocal);
        queZ.EnQue(zLocal);
        zLocal = queZ.DeQue<float>();
        DataCopy(zGm[i * tileLength], zLocal, tileLength);
        queZ.FreeTensor(zLocal);
    }
}
