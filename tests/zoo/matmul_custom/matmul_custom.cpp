// SPDX-License-Identifier: Apache-2.0
#include "kernel_operator.h"
#include "lib/matmul_intf.h"
using namespace matmul;

template <typename T>
using NdInGm = MatmulType<AscendC::TPosition::GM, CubeFormat::ND, T>;

// own block of the result
struct Part {
    int32_t row, col, rows, cols;
    __aicore__ inline Part(const TCubeTiling &t, int32_t core)
    {
        int32_t grid = DivUp(t.M, t.singleCoreM);
        row = core % grid * t.singleCoreM;
        col = core / grid * t.singleCoreN;
        rows = Lesser(t.M - row, t.singleCoreM);
        cols = Lesser(t.N - col, t.singleCoreN);
    }
    static __aicore__ inline int32_t DivUp(int32_t x, int32_t y) { return (x + y - 1) / y; }
    static __aicore__ inline int32_t Lesser(int32_t x, int32_t y) { return x < y ? x : y; }
};

extern "C" __global__ __aicore__ void matmul_custom(GM_ADDR a, GM_ADDR b, GM_ADDR bias, GM_ADDR c, GM_ADDR workspace, GM_ADDR tilingGm)
{
    TCubeTiling tiling = *reinterpret_cast<__gm__ TCubeTiling *>(tilingGm);
    AscendC::SetSysWorkspace(workspace);
    if (GetSysWorkSpacePtr() == nullptr) {
        return;
    }
    AscendC::TPipe pipe;
    Matmul<NdInGm<half>, NdInGm<half>, NdInGm<float>, NdInGm<float>> mm;
    REGIST_MATMUL_OBJ(&pipe, GetSysWorkSpacePtr(), mm, &tiling);
    if (AscendC::GetBlockIdx() >= tiling.usedCoreNum) {
        return;
    }
    Part part(tiling, AscendC::GetBlockIdx());
    AscendC::GlobalTensor<half> gmA, gmB;
    AscendC::GlobalTensor<float> gmBias, gmC;
    gmA.SetGlobalBuffer((__gm__ half *)a, tiling.M * tiling.Ka);
    gmB.SetGlobalBuffer((__gm__ half *)b, tiling.Kb * tiling.N);
    gmBias.SetGlobalBuffer((__gm__ float *)bias, tiling.N);
    gmC.SetGlobalBuffer((__gm__ float *)c, tiling.M * tiling.N);
    mm.SetTensorA(gmA[part.row * tiling.Ka]);
    mm.SetTensorB(gmB[part.col]);
    mm.SetBias(gmBias[part.col]);
    mm.SetTail(part.rows, part.cols);
    mm.IterateAll(gmC[part.row * tiling.N + part.col]);
    mm.End();
}

void matmul_custom_do(uint32_t blockDim, void *stream, void *a, void *b, void *bias, void *c, void *workspace, void *tiling)
{
    matmul_custom<<<blockDim, nullptr, stream>>>((GM_ADDR)a, (GM_ADDR)b, (GM_ADDR)bias, (GM_ADDR)c, (GM_ADDR)workspace, (GM_ADDR)tiling);
}
