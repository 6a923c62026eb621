// SPDX-License-Identifier: Apache-2.0
#include "normalize.h"
#include "row_loop.h"

namespace norm {
namespace {
__global__ __aicore__ void kernel(__gm__ float* x, uint32_t count, float factor)
{
    KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_AIV_ONLY);
    constexpr uint32_t tile = 256;
    AscendC::LocalMemAllocator<AscendC::Hardware::UB> ub;
    auto t = ub.Alloc<AscendC::TPosition::VECCALC, float, tile>();
    AscendC::GlobalTensor<float> g;
    g.SetGlobalBuffer(x, count);
    RowLoop loop(count / tile);
    for (uint32_t i; loop.Next(i);) {
        AscendC::DataCopy(t, g[i * tile], tile);
        AscendC::PipeBarrier<PIPE_ALL>();
        AscendC::Muls(t, t, factor, tile);
        AscendC::PipeBarrier<PIPE_ALL>();
        AscendC::DataCopy(g[i * tile], t, tile);
        AscendC::PipeBarrier<PIPE_ALL>();
    }
}
} // namespace

void LaunchScale(void* stream, float* x, uint32_t count, float factor)
{
    kernel<<<2, nullptr, stream>>>(x, count, factor);
}
} // namespace norm
