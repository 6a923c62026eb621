// SPDX-License-Identifier: Apache-2.0
#include "kernel_operator.h"
using namespace AscendC;

namespace {
constexpr uint32_t kCores = 4;
constexpr uint32_t kRow = 1024;
constexpr uint32_t kRowsPerCore = 6;
} // namespace

template <typename T>
class LeakyRelu2 {
public:
    __aicore__ inline LeakyRelu2() = default;
    __aicore__ inline void Init(GM_ADDR in, GM_ADDR out, float slope)
    {
        slope_ = slope;
        uint32_t base = GetBlockIdx() * kRow * kRowsPerCore;
        in_.SetGlobalBuffer(reinterpret_cast<__gm__ T *>(in) + base);
        out_.SetGlobalBuffer(reinterpret_cast<__gm__ T *>(out) + base);
        pipe_.InitBuffer(qin_, 2, kRow * sizeof(T));
        pipe_.InitBuffer(qout_, 2, kRow * sizeof(T));
#ifdef ASCENDC_CPU_DEBUG
        printf("core %d starts at %u\n", static_cast<int>(GetBlockIdx()), base);
#endif
    }
    __aicore__ inline void Process()
    {
        for (uint32_t r = 0; r < kRowsPerCore; ++r) {
            {
                LocalTensor<T> t = qin_.template AllocTensor<T>();
                DataCopy(t, in_[r * kRow], kRow);
                qin_.EnQue(t);
            }
            {
                LocalTensor<T> a = qin_.template DeQue<T>();
                LocalTensor<T> b = qout_.template AllocTensor<T>();
                LeakyRelu(b, a, static_cast<T>(slope_), kRow);
                qout_.EnQue(b);
                qin_.FreeTensor(a);
            }
            {
                LocalTensor<T> t = qout_.template DeQue<T>();
                DataCopy(out_[r * kRow], t, kRow);
                qout_.FreeTensor(t);
            }
        }
    }

private:
    TPipe pipe_;
    TQue<TPosition::VECIN, 1> qin_;
    TQue<TPosition::VECOUT, 1> qout_;
    GlobalTensor<T> in_, out_;
    float slope_ {0};
};

extern "C" __global__ __aicore__ void leakyrelu_custom(GM_ADDR in, GM_ADDR out, float slope)
{
    LeakyRelu2<float> op;
    op.Init(in, out, slope);
    op.Process();
}

#ifndef ASCENDC_CPU_DEBUG
extern "C" uint32_t leakyrelu_launch(uint32_t cores, void *stream, uint8_t *in, uint8_t *out, float slope)
{
    leakyrelu_custom<<<cores, nullptr, stream>>>(in, out, slope);
    return 0;
}
#endif
