// SPDX-License-Identifier: Apache-2.0
// y = |x| for a length that is not a multiple of 16; the bytes past the end are filled with a mark.
// The 310P has no DataCopyPad: the last core copies a whole block more and overwrites it in UB.
#include "kernel_operator.h"
using namespace AscendC;

#define TILE 256
#define ALIGN 16

class AbsTail {
public:
    __aicore__ inline AbsTail() {}
    __aicore__ inline void Init(GM_ADDR x, GM_ADDR y, uint32_t length, float mark)
    {
        this->length = length;
        this->mark = mark;
        xGm.SetGlobalBuffer((__gm__ half *)x);
        yGm.SetGlobalBuffer((__gm__ half *)y);
        pipe.InitBuffer(inQueue, 2, TILE * sizeof(half));
        pipe.InitBuffer(outQueue, 2, TILE * sizeof(half));
    }
    __aicore__ inline void Process()
    {
        uint32_t tiles = (length + TILE - 1) / TILE;
        for (uint32_t i = GetBlockIdx(); i < tiles; i += GetBlockNum()) {
            uint32_t valid = length - i * TILE > TILE ? TILE : length - i * TILE;
            uint32_t copied = (valid + ALIGN - 1) / ALIGN * ALIGN;
            LocalTensor<half> in = inQueue.AllocTensor<half>();
            DataCopy(in, xGm[i * TILE], copied);
            inQueue.EnQue(in);
            in = inQueue.DeQue<half>();
            LocalTensor<half> out = outQueue.AllocTensor<half>();
            Duplicate(out, (half)mark, copied);
            pipe_barrier(PIPE_V);
            // full repeats, then the rest by a mask of bits
            uint32_t full = valid / 128;
            if (full > 0) {
                Abs(out, in, 128, full, {1, 1, 8, 8});
            }
            uint32_t rest = valid % 128;
            if (rest > 0) {
                uint64_t mask[2] = {0, 0};
                mask[0] = rest >= 64 ? UINT64_MAX : (1ULL << rest) - 1;
                mask[1] = rest > 64 ? (1ULL << (rest - 64)) - 1 : 0;
                Abs(out[full * 128], in[full * 128], mask, 1, {1, 1, 8, 8});
            }
            outQueue.EnQue(out);
            out = outQueue.DeQue<half>();
            DataCopy(yGm[i * TILE], out, copied);
            outQueue.FreeTensor(out);
            inQueue.FreeTensor(in);
        }
    }

private:
    TPipe pipe;
    TQue<QuePosition::VECIN, 2> inQueue;
    TQue<QuePosition::VECOUT, 2> outQueue;
    GlobalTensor<half> xGm, yGm;
    uint32_t length;
    float mark;
};

extern "C" __global__ __aicore__ void abs_duplicate(GM_ADDR x, GM_ADDR y, uint32_t length, float mark)
{
    AbsTail op;
    op.Init(x, y, length, mark);
    op.Process();
}

#ifndef __CCE_KT_TEST__
void abs_duplicate_do(uint32_t blockDim, void *l2ctrl, void *stream, uint8_t *x, uint8_t *y, uint32_t length, float mark)
{
    abs_duplicate<<<blockDim, l2ctrl, stream>>>(x, y, length, mark);
}
#endif
