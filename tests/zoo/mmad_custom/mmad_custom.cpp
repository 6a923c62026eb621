// SPDX-License-Identifier: Apache-2.0
// C(float) = A(half) * B(half), one core, all steps by hand: GM -> L1 -> L0A/L0B -> L0C -> GM
#include "kernel_operator.h"
using namespace AscendC;

constexpr uint16_t M = 32, N = 64, K = 48;
constexpr uint16_t FRAC = 16;                 // rows and columns of a half fractal
constexpr uint16_t FRAC_LEN = FRAC * FRAC;
constexpr uint16_t HALF_N = N / 2;            // B goes through L0B in two parts

class HandMadeGemm {
public:
    __aicore__ inline void Init(__gm__ uint8_t *a, __gm__ uint8_t *b, __gm__ uint8_t *c)
    {
        gmA.SetGlobalBuffer((__gm__ half *)a);
        gmB.SetGlobalBuffer((__gm__ half *)b);
        gmC.SetGlobalBuffer((__gm__ float *)c);
        pipe.InitBuffer(l1A, 1, M * K * sizeof(half));
        pipe.InitBuffer(l1B, 1, K * N * sizeof(half));
        pipe.InitBuffer(l0A, 1, M * K * sizeof(half));
        pipe.InitBuffer(l0B, 2, K * HALF_N * sizeof(half));
        pipe.InitBuffer(l0C, 1, M * N * sizeof(float));
    }
    __aicore__ inline void Process()
    {
        ToL1(l1A, gmA, M, K);
        ToL1(l1B, gmB, K, N);
        LoadLeft();
        auto right = l1B.DeQue<half>();
        auto left = l0A.DeQue<half>();
        auto acc = l0C.AllocTensor<float>();
        for (uint16_t part = 0; part < 2; ++part) {
            LoadRight(right, part);
            Multiply(left, acc[part * M * HALF_N]);
        }
        l1B.FreeTensor(right);
        l0A.FreeTensor(left);
        l0C.EnQue<float>(acc);
        Store();
    }

private:
    template <class Queue>
    __aicore__ inline void ToL1(Queue &queue, const GlobalTensor<half> &from, uint16_t rows, uint16_t cols)
    {
        LocalTensor<half> to = queue.template AllocTensor<half>();
        Nd2NzParams nz;
        nz.ndNum = 1;
        nz.nValue = rows;
        nz.dValue = cols;
        nz.srcNdMatrixStride = 0;
        nz.srcDValue = cols;
        nz.dstNzC0Stride = rows;
        nz.dstNzNStride = 1;
        nz.dstNzMatrixStride = 0;
        DataCopy(to, from, nz);
        queue.EnQue(to);
    }
    __aicore__ inline void LoadLeft()
    {
        auto from = l1A.DeQue<half>();
        auto to = l0A.AllocTensor<half>();
        LoadData2DParams p;
        p.repeatTimes = K / FRAC;
        p.srcStride = M / FRAC;
        p.ifTranspose = false;
        for (int r = 0; r < M / FRAC; ++r) {
            LoadData(to[r * K * FRAC], from[r * FRAC_LEN], p);
        }
        l0A.EnQue<half>(to);
        l1A.FreeTensor(from);
    }
    __aicore__ inline void LoadRight(const LocalTensor<half> &from, int part)
    {
        auto to = l0B.AllocTensor<half>();
        const int cols = HALF_N / FRAC, steps = K / FRAC;
        for (int s = 0; s < steps; ++s) {
            LoadData2DParams p;
            p.startIndex = part * cols * steps + s;
            p.repeatTimes = cols;
            p.srcStride = steps;
            p.ifTranspose = true;
            LoadData(to[s * cols * FRAC_LEN], from, p);
        }
        l0B.EnQue<half>(to);
    }
    __aicore__ inline void Multiply(const LocalTensor<half> &left, const LocalTensor<float> &acc)
    {
        auto right = l0B.DeQue<half>();
        MmadParams p;
        p.m = M;
        p.n = HALF_N;
        p.k = K;
        p.cmatrixInitVal = true;
        Mmad(acc, left, right, p);
        l0B.FreeTensor(right);
    }
    __aicore__ inline void Store()
    {
        auto acc = l0C.DeQue<float>();
        FixpipeParamsV220 p;
        p.nSize = N;
        p.mSize = M;
        p.srcStride = M;
        p.dstStride = N;
        p.ndNum = 1;
        p.srcNdStride = 0;
        p.dstNdStride = 0;
        Fixpipe(gmC, acc, p);
        l0C.FreeTensor(acc);
    }

    TPipe pipe;
    TQue<QuePosition::A1, 1> l1A;
    TQue<QuePosition::B1, 1> l1B;
    TQue<QuePosition::A2, 1> l0A;
    TQue<QuePosition::B2, 2> l0B;
    TQue<QuePosition::CO1, 1> l0C;
    GlobalTensor<half> gmA, gmB;
    GlobalTensor<float> gmC;
};

extern "C" __global__ __aicore__ void mmad_custom(__gm__ uint8_t *a, __gm__ uint8_t *b, __gm__ uint8_t *c)
{
    HandMadeGemm op;
    op.Init(a, b, c);
    op.Process();
}
