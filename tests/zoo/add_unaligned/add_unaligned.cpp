// SPDX-License-Identifier: Apache-2.0
#include "kernel_operator.h"
#include "add_unaligned.h"
#ifndef MAX_TILE
#define MAX_TILE 512
#endif

using namespace AscendC;
using DType = int16_t;

__global__ __aicore__ void add_unaligned(GM_ADDR x, GM_ADDR y, GM_ADDR z, uint32_t length)
{
    KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_AIV_ONLY);
    uint32_t share = (length + GetBlockNum() - 1) / GetBlockNum();
    uint32_t first = share * GetBlockIdx();
    if (first >= length) {
        return;
    }
    share = first + share > length ? length - first : share;

    GlobalTensor<DType> gx, gy, gz;
    gx.SetGlobalBuffer((__gm__ DType *)x + first, share);
    gy.SetGlobalBuffer((__gm__ DType *)y + first, share);
    gz.SetGlobalBuffer((__gm__ DType *)z + first, share);
    TPipe pipe;
    TQueBind<TPosition::VECIN, TPosition::VECOUT, 2> qx;
    TQue<TPosition::VECIN, 2> qy;
    pipe.InitBuffer(qx, 2, (MAX_TILE * sizeof(DType) + 31) / 32 * 32);
    pipe.InitBuffer(qy, 2, (MAX_TILE * sizeof(DType) + 31) / 32 * 32);

    for (uint32_t done = 0; done < share; done += MAX_TILE) {
        uint32_t n = share - done < MAX_TILE ? share - done : MAX_TILE;
        DataCopyExtParams copy{1, static_cast<uint32_t>(n * sizeof(DType)), 0, 0, 0};
        uint8_t rest = n % 16 == 0 ? 0 : 16 - n % 16;
        DataCopyPadExtParams<DType> pad{true, 0, rest, static_cast<DType>(-1)};
        LocalTensor<DType> lx = qx.AllocTensor<DType>();
        LocalTensor<DType> ly = qy.AllocTensor<DType>();
        DataCopyPad(lx, gx[done], copy, pad);
        DataCopyPad(ly, gy[done], copy, pad);
        qx.EnQue<TPosition::GM, TPosition::VECIN, DType>(lx);
        qy.EnQue(ly);
        lx = qx.DeQue<TPosition::GM, TPosition::VECIN, DType>();
        ly = qy.DeQue<DType>();
        Add(lx, lx, ly, n + rest);
        qy.FreeTensor(ly);
        qx.EnQue<TPosition::VECOUT, TPosition::GM, DType>(lx);
        lx = qx.DeQue<TPosition::VECOUT, TPosition::GM, DType>();
        DataCopyPad(gz[done], lx, copy);
        qx.FreeTensor(lx);
    }
}

void LaunchAdd16(void *stream, const int16_t *x, const int16_t *y, int16_t *z, uint32_t length, uint32_t cores)
{
    add_unaligned<<<cores, nullptr, stream>>>((GM_ADDR)x, (GM_ADDR)y, (GM_ADDR)z, length);
}
