// SPDX-License-Identifier: Apache-2.0
#include <acl/acl.h>
#include <cstdio>
void call_vec_max(void *stream, int32_t *a, int32_t *b, int32_t *c, uint32_t n);
int main()
{
    constexpr uint32_t n = 1024;
    static int32_t a[n], b[n], c[n];
    for (uint32_t i = 0; i < n; ++i) a[i] = i * 37 % 1000, b[i] = i * 91 % 1000;
    int32_t *da, *db, *dc;
    aclInit(nullptr);
    aclrtSetDevice(0);
    aclrtMalloc((void **)&da, sizeof(a), ACL_MEM_MALLOC_HUGE_FIRST);
    aclrtMalloc((void **)&db, sizeof(b), ACL_MEM_MALLOC_HUGE_FIRST);
    aclrtMalloc((void **)&dc, sizeof(c), ACL_MEM_MALLOC_HUGE_FIRST);
    aclrtMemcpy(da, sizeof(a), a, sizeof(a), ACL_MEMCPY_HOST_TO_DEVICE);
    aclrtMemcpy(db, sizeof(b), b, sizeof(b), ACL_MEMCPY_HOST_TO_DEVICE);
    call_vec_max(nullptr, da, db, dc, n);
    aclError e = aclrtSynchronizeDevice();
    aclrtMemcpy(c, sizeof(c), dc, sizeof(c), ACL_MEMCPY_DEVICE_TO_HOST);
    int bad = 0;
    for (uint32_t i = 0; i < n; ++i) bad += c[i] != (a[i] > b[i] ? a[i] : b[i]);
    printf("vec_max: error %d, %d bad\n", e, bad);
    aclFinalize();
    return bad || e;
}
