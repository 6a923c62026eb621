// SPDX-License-Identifier: Apache-2.0
// Divides a vector by the sum of its elements. Every block writes the sum of its part into its slot of the workspace,
// all blocks meet, and then each one reads all slots and scales its part.
#include "kernel_operator.h"
#include "normalise_tiling.h"

class Normalise {
public:
    __aicore__ inline void Init(GM_ADDR x, GM_ADDR y, GM_ADDR workspace, __gm__ NormaliseTiling* tiling) {
        part_ = tiling->part;
        tile_ = tiling->tile;
        const uint32_t first = AscendC::GetBlockIdx() * part_;
        xGlobal_.SetGlobalBuffer((__gm__ float*)x + first, part_);
        yGlobal_.SetGlobalBuffer((__gm__ float*)y + first, part_);
        slots_.SetGlobalBuffer((__gm__ float*)workspace, AscendC::GetBlockNum() * SLOT);
        pipe_.InitBuffer(inQueue_, 2, tile_ * sizeof(float));
        pipe_.InitBuffer(outQueue_, 2, tile_ * sizeof(float));
        pipe_.InitBuffer(slotQueue_, 1, SLOT * sizeof(float));
        pipe_.InitBuffer(allQueue_, 1, AscendC::GetBlockNum() * SLOT * sizeof(float));
        pipe_.InitBuffer(workBuffer_, tile_ * sizeof(float));
        pipe_.InitBuffer(sumBuffer_, SLOT * sizeof(float));
    }

    __aicore__ inline void Process() {
        WriteSum();
        AscendC::SyncAll();
        const float factor = 1.0f / ReadTotal();
        for (uint32_t first = 0; first < part_; first += tile_) {
            AscendC::LocalTensor<float> in = CopyIn(first);
            AscendC::LocalTensor<float> out = outQueue_.AllocTensor<float>();
            AscendC::Muls(out, in, factor, tile_);
            outQueue_.EnQue(out);
            inQueue_.FreeTensor(in);
            out = outQueue_.DeQue<float>();
            AscendC::DataCopy(yGlobal_[first], out, tile_);
            outQueue_.FreeTensor(out);
        }
    }

private:
    __aicore__ inline AscendC::LocalTensor<float> CopyIn(uint32_t first) {
        AscendC::LocalTensor<float> in = inQueue_.AllocTensor<float>();
        AscendC::DataCopy(in, xGlobal_[first], tile_);
        inQueue_.EnQue(in);
        return inQueue_.DeQue<float>();
    }

    __aicore__ inline void WriteSum() {
        AscendC::LocalTensor<float> slot = slotQueue_.AllocTensor<float>();
        AscendC::LocalTensor<float> work = workBuffer_.Get<float>();
        AscendC::LocalTensor<float> sum = sumBuffer_.Get<float>();
        AscendC::Duplicate(slot, 0.0f, SLOT);
        for (uint32_t first = 0; first < part_; first += tile_) {
            AscendC::LocalTensor<float> in = CopyIn(first);
            AscendC::ReduceSum(sum, in, work, tile_);
            AscendC::Add(slot, slot, sum, 1);
            inQueue_.FreeTensor(in);
        }
        slotQueue_.EnQue(slot);
        slot = slotQueue_.DeQue<float>();
        AscendC::DataCopy(slots_[AscendC::GetBlockIdx() * SLOT], slot, SLOT);
        slotQueue_.FreeTensor(slot);
    }

    __aicore__ inline float ReadTotal() {
        const uint32_t count = AscendC::GetBlockNum() * SLOT;
        AscendC::LocalTensor<float> all = allQueue_.AllocTensor<float>();
        AscendC::DataCopy(all, slots_, count);
        allQueue_.EnQue(all);
        all = allQueue_.DeQue<float>();
        AscendC::LocalTensor<float> work = workBuffer_.Get<float>();
        AscendC::LocalTensor<float> sum = sumBuffer_.Get<float>();
        AscendC::ReduceSum(sum, all, work, count);
        const int32_t written = static_cast<int32_t>(GetTPipePtr()->FetchEventID(AscendC::HardEvent::V_S));
        AscendC::SetFlag<AscendC::HardEvent::V_S>(written);
        AscendC::WaitFlag<AscendC::HardEvent::V_S>(written);
        const float total = sum.GetValue(0);
        allQueue_.FreeTensor(all);
        return total;
    }

    AscendC::TPipe pipe_;
    AscendC::TQue<AscendC::TPosition::VECIN, 2> inQueue_;
    AscendC::TQue<AscendC::TPosition::VECIN, 1> allQueue_;
    AscendC::TQue<AscendC::TPosition::VECOUT, 2> outQueue_;
    AscendC::TQue<AscendC::TPosition::VECOUT, 1> slotQueue_;
    AscendC::TBuf<AscendC::TPosition::VECCALC> workBuffer_, sumBuffer_;
    AscendC::GlobalTensor<float> xGlobal_, yGlobal_, slots_;
    uint32_t part_ = 0, tile_ = 0;
};

extern "C" __global__ __aicore__ void normalise(GM_ADDR x, GM_ADDR y, GM_ADDR workspace, GM_ADDR tiling) {
    KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_MIX_AIV_1_0);
    Normalise operation;
    operation.Init(x, y, workspace, reinterpret_cast<__gm__ NormaliseTiling*>(tiling));
    operation.Process();
}
