// SPDX-License-Identifier: Apache-2.0
// 310P: cube and vector are one core, the product goes L0C -> UB and the vector unit goes on with it
#include "kernel_operator.h"
using namespace AscendC;

#define M 32
#define N 48
#define K 64
#define C0 16

class MmadRelu {
public:
    __aicore__ inline void Init(GM_ADDR a, GM_ADDR b, GM_ADDR c, float bias)
    {
        this->bias = bias;
        aGm.SetGlobalBuffer((__gm__ half *)a + GetBlockIdx() * M * K);
        bGm.SetGlobalBuffer((__gm__ half *)b);
        cGm.SetGlobalBuffer((__gm__ float *)c + GetBlockIdx() * M * N);
        pipe.InitBuffer(qA1, 1, M * K * sizeof(half));
        pipe.InitBuffer(qA2, 1, M * K * sizeof(half));
        pipe.InitBuffer(qB1, 1, K * N * sizeof(half));
        pipe.InitBuffer(qB2, 1, K * N * sizeof(half));
        pipe.InitBuffer(qCO1, 1, M * N * sizeof(float));
        pipe.InitBuffer(qCO2, 1, M * N * sizeof(float));
        pipe.InitBuffer(qOut, 1, M * N * sizeof(float));
    }
    __aicore__ inline void Process()
    {
        CopyIn();
        Split();
        Cube();
        Vector();
        CopyOut();
    }

private:
    // rows of ND become columns of 16 elements, one strided copy for each column
    __aicore__ inline void ToNz(const LocalTensor<half> &to, const GlobalTensor<half> &from, uint16_t rows, uint16_t cols)
    {
        DataCopyParams p;
        p.blockCount = rows;
        p.blockLen = 1;
        p.srcStride = cols / C0 - 1;
        p.dstStride = 0;
        for (int i = 0; i < cols / C0; ++i) {
            DataCopy(to[i * rows * C0], from[i * C0], p);
        }
    }
    __aicore__ inline void CopyIn()
    {
        LocalTensor<half> a1 = qA1.AllocTensor<half>();
        LocalTensor<half> b1 = qB1.AllocTensor<half>();
        ToNz(a1, aGm, M, K);
        ToNz(b1, bGm, K, N);
        qA1.EnQue(a1);
        qB1.EnQue(b1);
    }
    __aicore__ inline void Split()
    {
        LocalTensor<half> a1 = qA1.DeQue<half>(), a2 = qA2.AllocTensor<half>();
        LocalTensor<half> b1 = qB1.DeQue<half>(), b2 = qB2.AllocTensor<half>();
        for (int i = 0; i < M / 16; ++i) {
            LoadData2dParams p;
            p.repeatTimes = K / 16;
            p.srcStride = M / 16;
            p.ifTranspose = false;
            LoadData(a2[i * 16 * K], a1[i * 16 * 16], p);
        }
        for (int i = 0; i < K / 16; ++i) {
            LoadData2dParams p;
            p.repeatTimes = N / 16;
            p.srcStride = K / 16;
            p.ifTranspose = true;
            LoadData(b2[i * 16 * N], b1[i * 16 * 16], p);
        }
        qA2.EnQue(a2);
        qB2.EnQue(b2);
        qA1.FreeTensor(a1);
        qB1.FreeTensor(b1);
    }
    __aicore__ inline void Cube()
    {
        LocalTensor<half> a2 = qA2.DeQue<half>(), b2 = qB2.DeQue<half>();
        LocalTensor<float> co1 = qCO1.AllocTensor<float>();
        MmadParams p;
        p.m = M;
        p.n = N;
        p.k = K;
        Mmad(co1, a2, b2, p);
        qCO1.EnQue(co1);
        qA2.FreeTensor(a2);
        qB2.FreeTensor(b2);
    }
    __aicore__ inline void Vector()
    {
        LocalTensor<float> co1 = qCO1.DeQue<float>();
        LocalTensor<float> co2 = qCO2.AllocTensor<float>();
        DataCopyParams p;
        p.blockCount = 1;
        p.blockLen = M * N / 256;
        DataCopyEnhancedParams e;
        e.blockMode = BlockMode::BLOCK_MODE_MATRIX;
        DataCopy(co2, co1, p, e);
        qCO2.EnQue<float>(co2);
        qCO1.FreeTensor(co1);
        co2 = qCO2.DeQue<float>();
        LocalTensor<float> out = qOut.AllocTensor<float>();
        Adds(out, co2, bias, M * N);
        Relu(out, out, M * N);
        qOut.EnQue(out);
        qCO2.FreeTensor(co2);
    }
    __aicore__ inline void CopyOut()
    {
        LocalTensor<float> out = qOut.DeQue<float>();
        for (int i = 0; i < N / 16; ++i) {
            DataCopy(cGm[i * 16], out[i * M * 16], {M, 2, 0, (N / 16 - 1) * 2});
        }
        qOut.FreeTensor(out);
    }

    TPipe pipe;
    TQue<QuePosition::A1, 1> qA1;
    TQue<QuePosition::A2, 1> qA2;
    TQue<QuePosition::B1, 1> qB1;
    TQue<QuePosition::B2, 1> qB2;
    TQue<QuePosition::CO1, 1> qCO1;
    TQue<QuePosition::CO2, 1> qCO2;
    TQue<QuePosition::VECOUT, 1> qOut;
    GlobalTensor<half> aGm, bGm;
    GlobalTensor<float> cGm;
    float bias;
};

extern "C" __global__ __aicore__ void mmad_relu(GM_ADDR a, GM_ADDR b, GM_ADDR c, float bias)
{
    MmadRelu op;
    op.Init(a, b, c, bias);
    op.Process();
}
