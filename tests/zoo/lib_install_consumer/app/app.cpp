// SPDX-License-Identifier: Apache-2.0
#include <oplib.h>
#include <acl/acl.h>
#include <cstdio>
#include <vector>

int main()
{
    const uint32_t table = 50, cols = 40, count = 33;
    std::vector<float> x(table * cols), y(count * cols);
    std::vector<int32_t> index(count);
    for (size_t i = 0; i < x.size(); ++i) x[i] = 0.25f * i;
    for (uint32_t i = 0; i < count; ++i) index[i] = i * 29 % table;
    if (aclInit(nullptr) || aclrtSetDevice(1)) return 1;
    float *dx, *dy;
    int32_t *di;
    aclrtMalloc((void **)&dx, x.size() * 4, ACL_MEM_MALLOC_HUGE_FIRST);
    aclrtMalloc((void **)&dy, y.size() * 4 + 1024 * 4, ACL_MEM_MALLOC_HUGE_FIRST);
    aclrtMalloc((void **)&di, count * 4, ACL_MEM_MALLOC_HUGE_FIRST);
    aclrtMemcpy(dx, x.size() * 4, x.data(), x.size() * 4, ACL_MEMCPY_HOST_TO_DEVICE);
    aclrtMemcpy(di, count * 4, index.data(), count * 4, ACL_MEMCPY_HOST_TO_DEVICE);
    // no stream: the default one
    int rc = oplib_gather_rows(nullptr, dx, di, dy, count, cols);
    rc |= oplib_fill(nullptr, dy + count * cols, 1024, 3.5f);
    rc |= aclrtSynchronizeDevice();
    y.resize(count * cols + 1024);
    rc |= aclrtMemcpy(y.data(), y.size() * 4, dy, y.size() * 4, ACL_MEMCPY_DEVICE_TO_HOST);
    int wrong = 0;
    for (uint32_t i = 0; i < count * cols; ++i) wrong += y[i] != x[index[i / cols] * cols + i % cols];
    for (uint32_t i = 0; i < 1024; ++i) wrong += y[count * cols + i] != 3.5f;
    printf("app with oplib: rc %d, %d wrong\n", rc, wrong);
    aclrtFree(dx);
    aclrtFree(dy);
    aclrtFree(di);
    aclrtResetDevice(1);
    aclFinalize();
    return rc || wrong;
}
