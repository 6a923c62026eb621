/* SPDX-License-Identifier: Apache-2.0 */
/* z = x + y in half, 8 cores, every queue holds two buffers */
#include "kernel_operator.h"

constexpr int32_t TOTAL_LENGTH = 8 * 2048;
constexpr int32_t CORE_NUM = 8;
constexpr int32_t PER_CORE = TOTAL_LENGTH / CORE_NUM;
constexpr int32_t BUFFER_NUM = 2;
constexpr int32_t TILE_LENGTH = 128;

class AddKernel {
public:
    __aicore__ inline AddKernel() {}
    __aicore__ inline void Init(GM_ADDR x, GM_ADDR y, GM_ADDR z)
    {
        int32_t begin = PER_CORE * AscendC::GetBlockIdx();
        gmX.SetGlobalBuffer((__gm__ half *)x + begin, PER_CORE);
        gmY.SetGlobalBuffer((__gm__ half *)y + begin, PER_CORE);
        gmZ.SetGlobalBuffer((__gm__ half *)z + begin, PER_CORE);
        pipe.InitBuffer(queX, BUFFER_NUM, TILE_LENGTH * sizeof(half));
        pipe.InitBuffer(queY, BUFFER_NUM, TILE_LENGTH * sizeof(half));
        pipe.InitBuffer(queZ, BUFFER_NUM, TILE_LENGTH * sizeof(half));
    }
    __aicore__ inline void Process()
    {
        for (int32_t tile = 0; tile < PER_CORE / TILE_LENGTH; tile++) {
            Load(tile);
            Compute();
            Store(tile);
        }
    }

private:
    __aicore__ inline void Load(int32_t tile)
    {
        AscendC::LocalTensor<half> x = queX.AllocTensor<half>();
        AscendC::LocalTensor<half> y = queY.AllocTensor<half>();
        AscendC::DataCopy(x, gmX[tile * TILE_LENGTH], TILE_LENGTH);
        AscendC::DataCopy(y, gmY[tile * TILE_LENGTH], TILE_LENGTH);
        queX.EnQue(x);
        queY.EnQue(y);
    }
    __aicore__ inline void Compute()
    {
        AscendC::LocalTensor<half> x = queX.DeQue<half>();
        AscendC::LocalTensor<half> y = queY.DeQue<half>();
        AscendC::LocalTensor<half> z = queZ.AllocTensor<half>();
        AscendC::Add(z, x, y, TILE_LENGTH);
        queZ.EnQue<half>(z);
        queX.FreeTensor(x);
        queY.FreeTensor(y);
    }
    __aicore__ inline void Store(int32_t tile)
    {
        AscendC::LocalTensor<half> z = queZ.DeQue<half>();
        AscendC::DataCopy(gmZ[tile * TILE_LENGTH], z, TILE_LENGTH);
        queZ.FreeTensor(z);
    }

    AscendC::TPipe pipe;
    AscendC::TQue<AscendC::QuePosition::VECIN, BUFFER_NUM> queX, queY;
    AscendC::TQue<AscendC::QuePosition::VECOUT, BUFFER_NUM> queZ;
    AscendC::GlobalTensor<half> gmX, gmY, gmZ;
};

extern "C" __global__ __aicore__ void add_custom(GM_ADDR x, GM_ADDR y, GM_ADDR z)
{
    AddKernel op;
    op.Init(x, y, z);
    op.Process();
}

#ifndef ASCENDC_CPU_DEBUG
void add_custom_do(uint32_t blockDim, void *stream, uint8_t *x, uint8_t *y, uint8_t *z)
{
    add_custom<<<blockDim, nullptr, stream>>>(x, y, z);
}
#endif
