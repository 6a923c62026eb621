// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <vector>
#include "acl/acl.h"
#include "kernels.h"

#define OK(x) do { int rc_ = (x); if (rc_) { fprintf(stderr, "%s = %d\n", #x, rc_); exit(1); } } while (0)

int main()
{
    const uint32_t n = 16384;
    std::vector<float> x(n), y(n), z(n);
    srand(1);
    for (auto &v : x) v = (rand() % 2000 - 1000) / 100.f;
    OK(aclInit(0));
    OK(aclrtSetDevice(0));
    aclrtStream s;
    OK(aclrtCreateStream(&s));
    float *dx, *dy, *dz;
    OK(aclrtMalloc((void **)&dx, n * 4, ACL_MEM_MALLOC_HUGE_FIRST));
    OK(aclrtMalloc((void **)&dy, n * 4, ACL_MEM_MALLOC_HUGE_FIRST));
    OK(aclrtMalloc((void **)&dz, n * 4, ACL_MEM_MALLOC_HUGE_FIRST));
    OK(aclrtMemcpy(dx, n * 4, x.data(), n * 4, ACL_MEMCPY_HOST_TO_DEVICE));
    swish_f32(4, s, dx, dy, n);
    clip_f32(6, s, dy, dz, n, -0.125f, 4.0f);
    OK(aclrtSynchronizeStream(s));
    OK(aclrtMemcpy(y.data(), n * 4, dy, n * 4, ACL_MEMCPY_DEVICE_TO_HOST));
    OK(aclrtMemcpy(z.data(), n * 4, dz, n * 4, ACL_MEMCPY_DEVICE_TO_HOST));
    int bad = 0;
    for (uint32_t i = 0; i < n; ++i) {
        float want = x[i] / (1 + std::exp(-x[i]));
        if (std::fabs(y[i] - want) > 1e-5f * (1 + std::fabs(want))) ++bad;
        if (z[i] != std::fmin(std::fmax(y[i], -0.125f), 4.0f)) ++bad;
    }
    printf("swish+clip: %d bad of %u\n%s\n", bad, n, bad ? "FAILED" : "PASSED");
    aclrtFree(dx);
    aclrtFree(dy);
    aclrtFree(dz);
    aclrtDestroyStream(s);
    aclrtResetDevice(0);
    aclFinalize();
    return bad != 0;
}
