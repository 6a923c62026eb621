// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>
#ifdef ASCENDC_CPU_DEBUG
#include "tikicpulib.h"
extern "C" __global__ __aicore__ void matmul_batch(GM_ADDR a, GM_ADDR b, GM_ADDR c, GM_ADDR workspace, GM_ADDR tiling);
#else
#include "acl/acl.h"
void matmul_batch_do(uint32_t dim, void *stream, uint8_t *a, uint8_t *b, uint8_t *c, uint8_t *w, uint8_t *t);
#endif
std::vector<uint8_t> MakeTiling(const char *soc, int m, int n, int k);

int main(int argc, char **argv)
{
    const char *soc = argc > 1 ? argv[1] : "Ascend910B1";
    const int M = 40, N = 24, K = 32, BATCH = 3;
    const size_t aSize = M * K * 4, bSize = BATCH * N * K * 4, cSize = BATCH * M * N * 4, wSize = 16u << 20;
    std::vector<uint8_t> tiling = MakeTiling(soc, M, N, K);
    if (tiling.empty()) return 1;
    std::vector<float> ha(M * K), hb(BATCH * N * K), hc(BATCH * M * N);
    for (size_t i = 0; i < ha.size(); ++i) ha[i] = float(i % 13) - 6;
    for (size_t i = 0; i < hb.size(); ++i) hb[i] = float(i % 11) * 0.5f - 2;
#ifdef ASCENDC_CPU_DEBUG
    uint8_t *a = (uint8_t *)AscendC::GmAlloc(aSize), *b = (uint8_t *)AscendC::GmAlloc(bSize);
    uint8_t *c = (uint8_t *)AscendC::GmAlloc(cSize), *w = (uint8_t *)AscendC::GmAlloc(wSize);
    uint8_t *t = (uint8_t *)AscendC::GmAlloc(tiling.size());
    memcpy(a, ha.data(), aSize);
    memcpy(b, hb.data(), bSize);
    memcpy(t, tiling.data(), tiling.size());
    AscendC::SetKernelMode(KernelMode::MIX_MODE);
    ICPU_RUN_KF(matmul_batch, BATCH, a, b, c, w, t);
    memcpy(hc.data(), c, cSize);
    for (uint8_t *p : {a, b, c, w, t}) AscendC::GmFree((void *)p);
#else
    uint8_t *d[5];
    aclrtStream stream;
    aclInit(nullptr);
    aclrtSetDevice(0);
    aclrtCreateStream(&stream);
    size_t sizes[5] = {aSize, bSize, cSize, wSize, tiling.size()};
    for (int i = 0; i < 5; ++i) aclrtMalloc((void **)&d[i], sizes[i], ACL_MEM_MALLOC_HUGE_FIRST);
    aclrtMemcpy(d[0], aSize, ha.data(), aSize, ACL_MEMCPY_HOST_TO_DEVICE);
    aclrtMemcpy(d[1], bSize, hb.data(), bSize, ACL_MEMCPY_HOST_TO_DEVICE);
    aclrtMemcpy(d[4], tiling.size(), tiling.data(), tiling.size(), ACL_MEMCPY_HOST_TO_DEVICE);
    matmul_batch_do(BATCH, stream, d[0], d[1], d[2], d[3], d[4]);
    aclrtSynchronizeStream(stream);
    aclrtMemcpy(hc.data(), cSize, d[2], cSize, ACL_MEMCPY_DEVICE_TO_HOST);
    for (uint8_t *p : d) aclrtFree(p);
    aclrtDestroyStream(stream);
    aclrtResetDevice(0);
    aclFinalize();
#endif
    int bad = 0;
    for (int i = 0; i < BATCH; ++i)
        for (int m = 0; m < M; ++m)
            for (int n = 0; n < N; ++n) {
                float sum = 0;
                for (int k = 0; k < K; ++k) sum += ha[m * K + k] * hb[(i * N + n) * K + k];
                if (std::fabs(sum - hc[(i * M + m) * N + n]) > 1e-4f) ++bad;
            }
    printf("matmul batch: %d of %d wrong\n", bad, BATCH * M * N);
    return bad != 0;
}
