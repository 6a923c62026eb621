// SPDX-License-Identifier: Apache-2.0
#include <cassert>
#include <cstdio>
#include <vector>
#include "acl/acl.h"
#include "aclrtlaunch_sub_row.h"
#include "aclrtlaunch_mul_column.h"

static int g_failed = 0;
#define EXPECT(cond, ...) do { if (!(cond)) { ++g_failed; printf("FAILED: " __VA_ARGS__); printf("\n"); } } while (0)

static void* dev(const std::vector<float>& v)
{
    void* p = 0;
    EXPECT(aclrtMalloc(&p, v.size() * 4, ACL_MEM_MALLOC_HUGE_FIRST) == 0, "malloc");
    EXPECT(aclrtMemcpy(p, v.size() * 4, v.data(), v.size() * 4, ACL_MEMCPY_HOST_TO_DEVICE) == 0, "copy");
    return p;
}

int main()
{
    const uint32_t rows = 37, cols = 256;
    std::vector<float> x(rows * cols), v(64), s(rows), y(rows * cols);
    for (size_t i = 0; i < x.size(); ++i) x[i] = float(i % 97) * 0.5f;
    for (size_t i = 0; i < v.size(); ++i) v[i] = float(i) - 31;
    for (size_t i = 0; i < s.size(); ++i) s[i] = float(i) / 4;

    aclInit(NULL);
    aclrtSetDevice(0);
    aclrtStream st;
    aclrtCreateStream(&st);
    void *dx = dev(x), *dv = dev(v), *ds = dev(s), *dy = dev(y);

    EXPECT(ACLRT_LAUNCH_KERNEL(sub_row)(8, st, dx, dv, dy, rows, cols) == 0, "launch sub_row");
    EXPECT(aclrtSynchronizeStream(st) == 0, "sync");
    aclrtMemcpy(y.data(), y.size() * 4, dy, y.size() * 4, ACL_MEMCPY_DEVICE_TO_HOST);
    for (uint32_t r = 0; r < rows; ++r)
        for (uint32_t c = 0; c < cols; ++c)
            EXPECT(y[r * cols + c] == x[r * cols + c] - v[c % 64], "sub [%u,%u] %f", r, c, y[r * cols + c]);

    EXPECT(ACLRT_LAUNCH_KERNEL(mul_column)(8, st, dx, ds, dy, rows, cols) == 0, "launch mul_column");
    EXPECT(aclrtSynchronizeStream(st) == 0, "sync");
    aclrtMemcpy(y.data(), y.size() * 4, dy, y.size() * 4, ACL_MEMCPY_DEVICE_TO_HOST);
    for (uint32_t r = 0; r < rows; ++r)
        for (uint32_t c = 0; c < cols; ++c)
            EXPECT(y[r * cols + c] == x[r * cols + c] * s[r], "mul [%u,%u] %f", r, c, y[r * cols + c]);

    for (void* p : {dx, dv, ds, dy}) aclrtFree(p);
    aclrtDestroyStream(st);
    aclrtResetDevice(0);
    aclFinalize();
    printf(g_failed ? "broadcast: %d FAILED\n" : "broadcast: all passed (%d failed)\n", g_failed);
    return g_failed != 0;
}
