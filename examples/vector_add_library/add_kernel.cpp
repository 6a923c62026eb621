// SPDX-License-Identifier: Apache-2.0
// The kernel of the library and the host function that launches it. Every block adds its own part of the vectors; each
// queue has two buffers, so that the copies of one tile overlap the addition of another.
#include "kernel_operator.h"

constexpr uint32_t TILE = 4096;

class VectorAdd {
public:
    __aicore__ inline void Init(GM_ADDR x, GM_ADDR y, GM_ADDR z, uint32_t count) {
        part_ = count / AscendC::GetBlockNum();
        const uint64_t first = static_cast<uint64_t>(AscendC::GetBlockIdx()) * part_;
        xGlobal_.SetGlobalBuffer((__gm__ float*)x + first, part_);
        yGlobal_.SetGlobalBuffer((__gm__ float*)y + first, part_);
        zGlobal_.SetGlobalBuffer((__gm__ float*)z + first, part_);
        pipe_.InitBuffer(xQueue_, 2, TILE * sizeof(float));
        pipe_.InitBuffer(yQueue_, 2, TILE * sizeof(float));
        pipe_.InitBuffer(zQueue_, 2, TILE * sizeof(float));
    }

    __aicore__ inline void Process() {
        for (uint32_t tile = 0; tile < part_ / TILE; ++tile) {
            CopyIn(tile);
            Compute();
            CopyOut(tile);
        }
    }

private:
    __aicore__ inline void CopyIn(uint32_t tile) {
        AscendC::LocalTensor<float> x = xQueue_.AllocTensor<float>();
        AscendC::LocalTensor<float> y = yQueue_.AllocTensor<float>();
        AscendC::DataCopy(x, xGlobal_[tile * TILE], TILE);
        AscendC::DataCopy(y, yGlobal_[tile * TILE], TILE);
        xQueue_.EnQue(x);
        yQueue_.EnQue(y);
    }

    __aicore__ inline void Compute() {
        AscendC::LocalTensor<float> x = xQueue_.DeQue<float>();
        AscendC::LocalTensor<float> y = yQueue_.DeQue<float>();
        AscendC::LocalTensor<float> z = zQueue_.AllocTensor<float>();
        AscendC::Add(z, x, y, TILE);
        zQueue_.EnQue(z);
        xQueue_.FreeTensor(x);
        yQueue_.FreeTensor(y);
    }

    __aicore__ inline void CopyOut(uint32_t tile) {
        AscendC::LocalTensor<float> z = zQueue_.DeQue<float>();
        AscendC::DataCopy(zGlobal_[tile * TILE], z, TILE);
        zQueue_.FreeTensor(z);
    }

    AscendC::TPipe pipe_;
    AscendC::TQue<AscendC::TPosition::VECIN, 2> xQueue_, yQueue_;
    AscendC::TQue<AscendC::TPosition::VECOUT, 2> zQueue_;
    AscendC::GlobalTensor<float> xGlobal_, yGlobal_, zGlobal_;
    uint32_t part_ = 0;
};

extern "C" __global__ __aicore__ void add_kernel(GM_ADDR x, GM_ADDR y, GM_ADDR z, uint32_t count) {
    KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_AIV_ONLY);
    VectorAdd operation;
    operation.Init(x, y, z, count);
    operation.Process();
}

// Called by main.cpp.
void LaunchAdd(uint32_t blocks, void* stream, uint8_t* x, uint8_t* y, uint8_t* z, uint32_t count) {
    add_kernel<<<blocks, nullptr, stream>>>(x, y, z, count);
}
