// SPDX-License-Identifier: Apache-2.0
// what the code generator left behind: the first three pointers and the last three integers belong to the launcher
#include "kernel_operator.h"

extern "C" __global__ __aicore__ void add_kernel(__gm__ uint8_t* ffts_addr, __gm__ uint8_t* sync_block_lock,
                                                 __gm__ uint8_t* workspace, __gm__ float* arg0, __gm__ float* arg1,
                                                 __gm__ float* arg2, int32_t arg3, int32_t gridX, int32_t gridY,
                                                 int32_t gridZ)
{
    KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_AIV_ONLY);
    constexpr int32_t BLOCK_SIZE = 1024;
    AscendC::TPipe pipe;
    AscendC::TBuf<AscendC::TPosition::VECCALC> b0, b1;
    pipe.InitBuffer(b0, BLOCK_SIZE * 4);
    pipe.InitBuffer(b1, BLOCK_SIZE * 4);
    auto v0 = b0.Get<float>();
    auto v1 = b1.Get<float>();
    AscendC::GlobalTensor<float> g0, g1, g2;
    g0.SetGlobalBuffer(arg0);
    g1.SetGlobalBuffer(arg1);
    g2.SetGlobalBuffer(arg2);
    // the logical grid may be larger than the number of cores
    for (int32_t pid = AscendC::GetBlockIdx(); pid < gridX * gridY * gridZ; pid += AscendC::GetBlockNum()) {
        int32_t offset = pid * BLOCK_SIZE;
        int32_t n = arg3 - offset < BLOCK_SIZE ? arg3 - offset : BLOCK_SIZE;
        if (n <= 0) {
            continue;
        }
        AscendC::DataCopyExtParams cp{1, static_cast<uint32_t>(n * 4), 0, 0, 0};
        AscendC::DataCopyPadExtParams<float> pad{false, 0, 0, 0.0f};
        AscendC::DataCopyPad(v0, g0[offset], cp, pad);
        AscendC::DataCopyPad(v1, g1[offset], cp, pad);
        AscendC::SetFlag<AscendC::HardEvent::MTE2_V>(EVENT_ID0);
        AscendC::WaitFlag<AscendC::HardEvent::MTE2_V>(EVENT_ID0);
        AscendC::Add(v0, v0, v1, n);
        AscendC::SetFlag<AscendC::HardEvent::V_MTE3>(EVENT_ID0);
        AscendC::WaitFlag<AscendC::HardEvent::V_MTE3>(EVENT_ID0);
        AscendC::DataCopyPad(g2[offset], v0, cp);
        AscendC::PipeBarrier<PIPE_ALL>();
    }
}
