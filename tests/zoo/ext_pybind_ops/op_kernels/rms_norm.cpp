// SPDX-License-Identifier: Apache-2.0
#include "kernel_operator.h"

namespace {
constexpr uint32_t kMaxHidden = 1024;

class RmsNormKernel {
public:
    __aicore__ inline void Init(GM_ADDR x, GM_ADDR gamma, GM_ADDR y, uint32_t rows, uint32_t hidden, float eps)
    {
        rows_ = rows;
        hidden_ = hidden;
        eps_ = eps;
        xGm_.SetGlobalBuffer(reinterpret_cast<__gm__ float*>(x), rows * hidden);
        gammaGm_.SetGlobalBuffer(reinterpret_cast<__gm__ float*>(gamma), hidden);
        yGm_.SetGlobalBuffer(reinterpret_cast<__gm__ float*>(y), rows * hidden);
        pipe_.InitBuffer(inQue_, 2, kMaxHidden * sizeof(float));
        pipe_.InitBuffer(outQue_, 2, kMaxHidden * sizeof(float));
        pipe_.InitBuffer(gammaBuf_, kMaxHidden * sizeof(float));
        pipe_.InitBuffer(tmpBuf_, kMaxHidden * sizeof(float));
        pipe_.InitBuffer(sumBuf_, 32);
    }
    __aicore__ inline void Process()
    {
        AscendC::LocalTensor<float> gamma = gammaBuf_.Get<float>();
        AscendC::DataCopy(gamma, gammaGm_, hidden_);
        auto eventId = static_cast<event_t>(pipe_.FetchEventID(AscendC::HardEvent::MTE2_V));
        AscendC::SetFlag<AscendC::HardEvent::MTE2_V>(eventId);
        AscendC::WaitFlag<AscendC::HardEvent::MTE2_V>(eventId);
        for (uint32_t row = AscendC::GetBlockIdx(); row < rows_; row += AscendC::GetBlockNum()) {
            OneRow(row, gamma);
        }
    }

private:
    __aicore__ inline void OneRow(uint32_t row, AscendC::LocalTensor<float>& gamma)
    {
        auto in = inQue_.AllocTensor<float>();
        AscendC::DataCopy(in, xGm_[row * hidden_], hidden_);
        inQue_.EnQue(in);
        auto x = inQue_.DeQue<float>();
        auto out = outQue_.AllocTensor<float>();
        auto tmp = tmpBuf_.Get<float>();
        auto sum = sumBuf_.Get<float>();
        AscendC::Mul(out, x, x, hidden_);
        AscendC::PipeBarrier<PIPE_V>();
        AscendC::ReduceSum(sum, out, tmp, hidden_);
        auto eventVS = static_cast<event_t>(pipe_.FetchEventID(AscendC::HardEvent::V_S));
        AscendC::SetFlag<AscendC::HardEvent::V_S>(eventVS);
        AscendC::WaitFlag<AscendC::HardEvent::V_S>(eventVS);
        float meanSquare = sum.GetValue(0) / static_cast<float>(hidden_) + eps_;
        float rstd = 1.0f / sqrt(meanSquare);
        AscendC::Muls(out, x, rstd, hidden_);
        AscendC::PipeBarrier<PIPE_V>();
        AscendC::Mul(out, out, gamma, hidden_);
        inQue_.FreeTensor(x);
        outQue_.EnQue(out);
        out = outQue_.DeQue<float>();
        AscendC::DataCopy(yGm_[row * hidden_], out, hidden_);
        outQue_.FreeTensor(out);
    }

    AscendC::TPipe pipe_;
    AscendC::TQue<AscendC::QuePosition::VECIN, 2> inQue_;
    AscendC::TQue<AscendC::QuePosition::VECOUT, 2> outQue_;
    AscendC::TBuf<AscendC::QuePosition::VECCALC> gammaBuf_, tmpBuf_, sumBuf_;
    AscendC::GlobalTensor<float> xGm_, gammaGm_, yGm_;
    uint32_t rows_ = 0;
    uint32_t hidden_ = 0;
    float eps_ = 0;
};
}  // namespace

extern "C" __global__ __aicore__ void rms_norm(GM_ADDR x, GM_ADDR gamma, GM_ADDR y, uint32_t rows, uint32_t hidden,
                                               float eps)
{
    RmsNormKernel op;
    op.Init(x, gamma, y, rows, hidden, eps);
    op.Process();
}

#ifndef ASCENDC_CPU_DEBUG
extern "C" void rms_norm_do(uint32_t blockDim, void* stream, uint8_t* x, uint8_t* gamma, uint8_t* y, uint32_t rows,
                            uint32_t hidden, float eps)
{
    rms_norm<<<blockDim, nullptr, stream>>>(x, gamma, y, rows, hidden, eps);
}
#endif
