// SPDX-License-Identifier: Apache-2.0
#include "kernel_operator.h"
#include "tpl_leaky_tiling.h"
#include "tiling_key_tpl_leaky.h"

using namespace AscendC;

template <typename T, int TILE_NUM, int IS_SPLIT>
class KernelLeaky {
public:
    __aicore__ inline KernelLeaky() {}
    __aicore__ inline void Init(GM_ADDR x, GM_ADDR y, uint32_t totalLength, float slope)
    {
        this->blockLength = totalLength / GetBlockNum();
        this->tileLength = this->blockLength / TILE_NUM / (IS_SPLIT ? 2 : 1);
        this->loops = TILE_NUM * (IS_SPLIT ? 2 : 1);
        this->slope = static_cast<T>(slope);
        xGm.SetGlobalBuffer((__gm__ T*)x + this->blockLength * GetBlockIdx(), this->blockLength);
        yGm.SetGlobalBuffer((__gm__ T*)y + this->blockLength * GetBlockIdx(), this->blockLength);
        pipe.InitBuffer(inQueue, 1, this->tileLength * sizeof(T));
        pipe.InitBuffer(outQueue, 1, this->tileLength * sizeof(T));
    }
    __aicore__ inline void Process()
    {
        for (int32_t i = 0; i < this->loops; i++) {
            LocalTensor<T> xLocal = inQueue.template AllocTensor<T>();
            DataCopy(xLocal, xGm[i * this->tileLength], this->tileLength);
            inQueue.EnQue(xLocal);
            LocalTensor<T> in = inQueue.template DeQue<T>();
            LocalTensor<T> yLocal = outQueue.template AllocTensor<T>();
            LeakyRelu(yLocal, in, this->slope, this->tileLength);
            outQueue.template EnQue<T>(yLocal);
            inQueue.FreeTensor(in);
            LocalTensor<T> out = outQueue.template DeQue<T>();
            DataCopy(yGm[i * this->tileLength], out, this->tileLength);
            outQueue.FreeTensor(out);
        }
    }

private:
    TPipe pipe;
    TQue<QuePosition::VECIN, 1> inQueue;
    TQue<QuePosition::VECOUT, 1> outQueue;
    GlobalTensor<T> xGm;
    GlobalTensor<T> yGm;
    uint32_t blockLength;
    uint32_t tileLength;
    int32_t loops;
    T slope;
};

template <typename D_T_X, int TILE_NUM, int IS_SPLIT>
__global__ __aicore__ void tpl_leaky(GM_ADDR x, GM_ADDR y, GM_ADDR workspace, GM_ADDR tiling)
{
    REGISTER_TILING_DEFAULT(TplLeakyTilingData);
    GET_TILING_DATA_WITH_STRUCT(TplLeakyTilingData, tilingData, tiling);
    KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_AIV_ONLY);
    KernelLeaky<D_T_X, TILE_NUM, IS_SPLIT> op;
    op.Init(x, y, tilingData.totalLength, tilingData.slope);
    op.Process();
}
