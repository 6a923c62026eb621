// SPDX-License-Identifier: Apache-2.0
// C = A * B^T in float; every group takes the whole A and one B of the batch
#include "kernel_operator.h"
#include "lib/matmul_intf.h"

extern "C" __global__ __aicore__ void matmul_batch(GM_ADDR a, GM_ADDR b, GM_ADDR c, GM_ADDR workspace, GM_ADDR tilingGm)
{
    using namespace AscendC;
    KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_MIX_AIC_1_1);
    TCubeTiling tiling;
    auto *to = reinterpret_cast<int32_t *>(&tiling);
    for (uint32_t i = 0; i < sizeof(TCubeTiling) / sizeof(int32_t); i++) {
        to[i] = reinterpret_cast<__gm__ int32_t *>(tilingGm)[i];
    }
    GlobalTensor<float> ga, gb, gc;
    ga.SetGlobalBuffer((__gm__ float *)a);
    gb.SetGlobalBuffer((__gm__ float *)b + GetBlockIdx() * tiling.N * tiling.Kb);
    gc.SetGlobalBuffer((__gm__ float *)c + GetBlockIdx() * tiling.M * tiling.N);
    TPipe pipe;
    matmul::Matmul<matmul::MatmulType<TPosition::GM, CubeFormat::ND, float>,
                   matmul::MatmulType<TPosition::GM, CubeFormat::ND, float, true>,
                   matmul::MatmulType<TPosition::GM, CubeFormat::ND, float>> mm;
#ifdef ASCENDC_CPU_DEBUG
    SetSysWorkspace(workspace);
#else
    SetSysWorkspaceForce(workspace);
#endif
    REGIST_MATMUL_OBJ(&pipe, GetSysWorkSpacePtr(), mm, &tiling);
    mm.SetTensorA(ga);
    mm.SetTensorB(gb, true);
    mm.IterateAll(gc);
    mm.End();
}

#ifndef ASCENDC_CPU_DEBUG
void matmul_batch_do(uint32_t dim, void *stream, uint8_t *a, uint8_t *b, uint8_t *c, uint8_t *w, uint8_t *t)
{
    matmul_batch<<<dim, nullptr, stream>>>(a, b, c, w, t);
}
#endif
