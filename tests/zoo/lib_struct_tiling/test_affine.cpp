// SPDX-License-Identifier: Apache-2.0
#include <cstdio>
#include <cstring>
#include <vector>
#include "acl/acl.h"
#include "affine_tiling.h"
#include "aclrtlaunch_affine.h"
#include "aclrtlaunch_window.h"

#define ASSERT_OK(x)                                              \
    do {                                                          \
        auto ret = (x);                                           \
        if (ret != 0) {                                           \
            std::printf("%s failed, ret = %d\n", #x, (int)ret);   \
            return 1;                                             \
        }                                                         \
    } while (0)

int main()
{
    ASSERT_OK(aclInit(nullptr));
    ASSERT_OK(aclrtSetDevice(0));
    aclrtStream stream = nullptr;
    ASSERT_OK(aclrtCreateStream(&stream));
    constexpr size_t n = 4096;
    std::vector<float> x(n), y(n);
    std::vector<int32_t> w(n), v(n);
    for (size_t i = 0; i < n; ++i) x[i] = w[i] = (int)i;
    void *dx, *dy, *dt;
    ASSERT_OK(aclrtMalloc(&dx, n * 4, ACL_MEM_MALLOC_HUGE_FIRST));
    ASSERT_OK(aclrtMalloc(&dy, n * 4, ACL_MEM_MALLOC_HUGE_FIRST));
    ASSERT_OK(aclrtMalloc(&dt, sizeof(WindowTiling), ACL_MEM_MALLOC_HUGE_FIRST));

    // 1. by value: the launch function takes a pointer to the host's struct and copies it
    AffineTiling tiling;
    memset(&tiling, 0, sizeof(tiling));
    tiling.total = n;
    tiling.tile = 512;
    tiling.coeff[0] = {2.0f, 1.0f};
    tiling.coeff[1] = {-0.5f, 8.0f};
    ASSERT_OK(aclrtMemcpy(dx, n * 4, x.data(), n * 4, ACL_MEMCPY_HOST_TO_DEVICE));
    ASSERT_OK(ACLRT_LAUNCH_KERNEL(affine)(4, stream, dx, dy, &tiling));
    tiling.tile = 0;   // the launch has its own copy already
    ASSERT_OK(aclrtSynchronizeStream(stream));
    ASSERT_OK(aclrtMemcpy(y.data(), n * 4, dy, n * 4, ACL_MEMCPY_DEVICE_TO_HOST));
    int wrong = 0;
    for (size_t i = 0; i < n; ++i) wrong += y[i] != (i / 512 % 2 ? x[i] * -0.5f + 8 : x[i] * 2 + 1);
    std::printf("affine: %d wrong\n", wrong);

    // 2. by pointer: a struct in device memory
    WindowTiling window = {100, 300, 7};
    ASSERT_OK(aclrtMemcpy(dt, sizeof(window), &window, sizeof(window), ACL_MEMCPY_HOST_TO_DEVICE));
    ASSERT_OK(aclrtMemcpy(dx, n * 4, w.data(), n * 4, ACL_MEMCPY_HOST_TO_DEVICE));
    ASSERT_OK(ACLRT_LAUNCH_KERNEL(window)(3, stream, dx, dy, (WindowTiling *)dt));
    ASSERT_OK(aclrtSynchronizeStream(stream));
    ASSERT_OK(aclrtMemcpy(v.data(), n * 4, dy, n * 4, ACL_MEMCPY_DEVICE_TO_HOST));
    for (int i = 0; i < 300; ++i) wrong += v[i] != 100 + 7 * i;
    std::printf("all: %d wrong\n", wrong);
    aclrtFree(dx);
    aclrtFree(dy);
    aclrtFree(dt);
    aclrtDestroyStream(stream);
    aclrtResetDevice(0);
    aclFinalize();
    return wrong != 0;
}
