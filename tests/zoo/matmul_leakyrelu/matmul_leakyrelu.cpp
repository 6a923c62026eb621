// SPDX-License-Identifier: Apache-2.0
// relu(a * b + bias) with a slope for what is below zero. The cube half of the group multiplies,
// each vector core fetches base blocks into its UB, activates and stores them.
#include "kernel_operator.h"
#include "lib/matmul_intf.h"
using namespace AscendC;
using namespace matmul;

template <class In, class Out>
struct GemmAct {
    using A = MatmulType<TPosition::GM, CubeFormat::ND, In>;
    using B = MatmulType<TPosition::GM, CubeFormat::ND, In>;
    using C = MatmulType<TPosition::VECIN, CubeFormat::ND, Out>;
    using Bias = MatmulType<TPosition::GM, CubeFormat::ND, Out>;

    Matmul<A, B, C, Bias> gemm;
    TCubeTiling t;
    GlobalTensor<In> left, right;
    GlobalTensor<Out> add, dst;
    TQue<QuePosition::VECOUT, 1> blocks;

    __aicore__ inline void LoadTiling(GM_ADDR from)
    {
        auto src = (__gm__ int32_t *)from;
        auto to = (int32_t *)&t;
        for (size_t i = 0; i < sizeof(t) / sizeof(int32_t); ++i) {
            to[i] = src[i];
        }
    }

    __aicore__ inline void Setup(TPipe &pipe, GM_ADDR a, GM_ADDR b, GM_ADDR bias, GM_ADDR c)
    {
        const int32_t rowsOfCores = (t.M + t.singleCoreM - 1) / t.singleCoreM;
        const int32_t row = (GetBlockIdx() % rowsOfCores) * t.singleCoreM;
        const int32_t col = (GetBlockIdx() / rowsOfCores) * t.singleCoreN;
        left.SetGlobalBuffer((__gm__ In *)a + row * t.Ka);
        right.SetGlobalBuffer((__gm__ In *)b + col);
        add.SetGlobalBuffer((__gm__ Out *)bias + col);
        dst.SetGlobalBuffer((__gm__ Out *)c + row * t.N + col);
        pipe.InitBuffer(blocks, 1, t.baseM * t.baseN * sizeof(Out));
    }

    __aicore__ inline void Run(Out slope)
    {
        gemm.SetTensorA(left);
        gemm.SetTensorB(right);
        gemm.SetBias(add);
        // blocks come down the rows first
        const int32_t down = t.singleCoreM / t.baseM;
        for (int32_t i = 0; gemm.template Iterate<true>(); ++i) {
            LocalTensor<Out> block = blocks.template AllocTensor<Out>();
            gemm.template GetTensorC<true>(block, false, true);
            LeakyRelu(block, block, slope, t.baseM * t.baseN);
            blocks.EnQue(block);
            block = blocks.template DeQue<Out>();
            Put(block, (i % down) * t.baseM * t.N + (i / down) * t.baseN);
            blocks.FreeTensor(block);
        }
        gemm.End();
    }

    __aicore__ inline void Put(const LocalTensor<Out> &block, int32_t at)
    {
        DataCopyParams p;
        p.blockCount = t.baseM;
        p.blockLen = t.baseN * sizeof(Out) / DEFAULT_C0_SIZE;
        p.srcStride = 0;
        p.dstStride = (t.N - t.baseN) * sizeof(Out) / DEFAULT_C0_SIZE;
        DataCopy(dst[at], block, p);
    }
};

extern "C" __global__ __aicore__ void matmul_leakyrelu(GM_ADDR a, GM_ADDR b, GM_ADDR bias, GM_ADDR c, GM_ADDR workspace, GM_ADDR tiling)
{
    TPipe pipe;
    GemmAct<half, float> op;
    op.LoadTiling(tiling);
    op.Setup(pipe, a, b, bias, c);
    REGIST_MATMUL_OBJ(&pipe, GetSysWorkSpacePtr(), op.gemm, &op.t);
    op.Run(0.001f);
}
