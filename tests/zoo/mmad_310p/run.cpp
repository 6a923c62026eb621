// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdio>
#include <cstring>
#include <vector>
#include "acl/acl.h"
#include "aclrtlaunch_mmad_relu.h"

int main()
{
    const int cores = 4, M = 32, N = 48, K = 64;
    if (aclInit(nullptr) != 0 || aclrtSetDevice(0) != 0) return 1;
    const char *soc = aclrtGetSocName();
    if (strncmp(soc, "Ascend310P", 10) != 0) {
        printf("this program is for 310P, not for %s\n", soc);
        return 1;
    }
    std::vector<aclFloat16> a(cores * M * K), b(K * N);
    std::vector<float> c(cores * M * N), g(cores * M * N);
    for (size_t i = 0; i < a.size(); ++i) a[i] = aclFloatToFloat16(float(i * 3 % 7) - 3);
    for (size_t i = 0; i < b.size(); ++i) b[i] = aclFloatToFloat16(float(i * 5 % 9) - 4);
    for (int m = 0; m < cores * M; ++m)
        for (int n = 0; n < N; ++n) {
            float sum = 2.5f;
            for (int k = 0; k < K; ++k) sum += (float(((m * K + k) * 3) % 7) - 3) * (float(((k * N + n) * 5) % 9) - 4);
            g[m * N + n] = std::max(sum, 0.0f);
        }
    void *da, *db, *dc;
    aclrtMalloc(&da, a.size() * 2, ACL_MEM_MALLOC_HUGE_FIRST);
    aclrtMalloc(&db, b.size() * 2, ACL_MEM_MALLOC_HUGE_FIRST);
    aclrtMalloc(&dc, c.size() * 4, ACL_MEM_MALLOC_HUGE_FIRST);
    aclrtMemcpy(da, a.size() * 2, a.data(), a.size() * 2, ACL_MEMCPY_HOST_TO_DEVICE);
    aclrtMemcpy(db, b.size() * 2, b.data(), b.size() * 2, ACL_MEMCPY_HOST_TO_DEVICE);
    aclrtStream stream;
    aclrtCreateStream(&stream);
    int ret = ACLRT_LAUNCH_KERNEL(mmad_relu)(cores, stream, da, db, dc, 2.5f);
    ret |= aclrtSynchronizeStream(stream);
    aclrtMemcpy(c.data(), c.size() * 4, dc, c.size() * 4, ACL_MEMCPY_DEVICE_TO_HOST);
    printf("%s on %s, ret %d\n", c == g ? "mmad_relu OK" : "mmad_relu WRONG", soc, ret);
    aclrtDestroyStream(stream);
    aclrtFree(da);
    aclrtFree(db);
    aclrtFree(dc);
    aclrtResetDevice(0);
    aclFinalize();
    return c == g && ret == 0 ? 0 : 1;
}
