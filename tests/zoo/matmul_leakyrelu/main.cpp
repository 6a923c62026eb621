// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <vector>
#include "acl/acl.h"
#include "tiling/platform/platform_ascendc.h"
#include "aclrtlaunch_matmul_leakyrelu.h"
extern size_t GenerateTiling(const char *socVersion, uint8_t *buf, size_t cap, int M, int N, int K, int dim);

#define CHECK_ACL(x) do { aclError e = (x); if (e != ACL_ERROR_NONE) { fprintf(stderr, "%s:%d aclError:%d\n", __FILE__, __LINE__, e); exit(1); } } while (0)

static void *Upload(const char *path, size_t size)
{
    std::vector<uint8_t> host(size);
    FILE *f = fopen(path, "rb");
    if (f == nullptr || fread(host.data(), 1, size, f) != size) { fprintf(stderr, "%s?\n", path); exit(1); }
    fclose(f);
    void *dev;
    CHECK_ACL(aclrtMalloc(&dev, size, ACL_MEM_MALLOC_HUGE_FIRST));
    CHECK_ACL(aclrtMemcpy(dev, size, host.data(), size, ACL_MEMCPY_HOST_TO_DEVICE));
    return dev;
}

int32_t main()
{
    constexpr int M = 64, N = 128, K = 96, AIV = 4;
    auto platform = platform_ascendc::PlatformAscendCManager::GetInstance(SOC_VERSION);
    size_t userWorkspace = 0;
    size_t workspaceSize = userWorkspace + platform->GetLibApiWorkSpaceSize();

    CHECK_ACL(aclInit(nullptr));
    CHECK_ACL(aclrtSetDevice(0));
    aclrtStream stream;
    CHECK_ACL(aclrtCreateStream(&stream));
    void *a = Upload("input/x1_gm.bin", M * K * 2);
    void *b = Upload("input/x2_gm.bin", K * N * 2);
    void *bias = Upload("input/bias.bin", N * 4);
    void *c, *workspace, *tiling;
    CHECK_ACL(aclrtMalloc(&c, M * N * 4, ACL_MEM_MALLOC_HUGE_FIRST));
    CHECK_ACL(aclrtMalloc(&workspace, workspaceSize, ACL_MEM_MALLOC_HUGE_FIRST));
    uint8_t buf[1024];
    size_t tilingSize = GenerateTiling(SOC_VERSION, buf, sizeof(buf), M, N, K, AIV);
    if (tilingSize == 0) return 1;
    CHECK_ACL(aclrtMalloc(&tiling, tilingSize, ACL_MEM_MALLOC_HUGE_FIRST));
    CHECK_ACL(aclrtMemcpy(tiling, tilingSize, buf, tilingSize, ACL_MEMCPY_HOST_TO_DEVICE));

    // two vector cores make one group
    CHECK_ACL(ACLRT_LAUNCH_KERNEL(matmul_leakyrelu)(AIV / 2, stream, a, b, bias, c, workspace, tiling));
    CHECK_ACL(aclrtSynchronizeStream(stream));
    std::vector<uint8_t> out(M * N * 4);
    CHECK_ACL(aclrtMemcpy(out.data(), out.size(), c, out.size(), ACL_MEMCPY_DEVICE_TO_HOST));
    FILE *f = fopen("output/output.bin", "wb");
    fwrite(out.data(), 1, out.size(), f);
    fclose(f);
    for (void *p : {a, b, bias, c, workspace, tiling}) CHECK_ACL(aclrtFree(p));
    CHECK_ACL(aclrtDestroyStream(stream));
    CHECK_ACL(aclrtResetDevice(0));
    CHECK_ACL(aclFinalize());
    return 0;
}
