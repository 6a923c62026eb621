// SPDX-License-Identifier: Apache-2.0
#include <stdio.h>
#include <stdlib.h>
#include "acl/acl.h"
void reduce_custom_do(uint32_t dim, void *l2, void *stream, uint8_t *x, uint8_t *y, int32_t rows);

#define ROWS 20
#define CHECK_ACL(x) if ((x) != ACL_ERROR_NONE) { printf("aclError line %d\n", __LINE__); return 1; }

int main()
{
    size_t xs = ROWS * 1024 * sizeof(float), ys = ROWS * 8 * sizeof(float);
    CHECK_ACL(aclInit(NULL));
    CHECK_ACL(aclrtSetDevice(0));
    aclrtContext ctx;
    CHECK_ACL(aclrtCreateContext(&ctx, 0));
    aclrtStream stream;
    CHECK_ACL(aclrtCreateStream(&stream));
    uint8_t *xh, *yh, *xd, *yd;
    CHECK_ACL(aclrtMallocHost((void **)&xh, xs));
    CHECK_ACL(aclrtMallocHost((void **)&yh, ys));
    CHECK_ACL(aclrtMalloc((void **)&xd, xs, ACL_MEM_MALLOC_HUGE_FIRST));
    CHECK_ACL(aclrtMalloc((void **)&yd, ys, ACL_MEM_MALLOC_HUGE_FIRST));
    FILE *f = fopen("data/x.bin", "rb");
    if (f == NULL || fread(xh, 1, xs, f) != xs) return 1;
    fclose(f);
    CHECK_ACL(aclrtMemcpy(xd, xs, xh, xs, ACL_MEMCPY_HOST_TO_DEVICE));
    reduce_custom_do(3, NULL, stream, xd, yd, ROWS);
    CHECK_ACL(aclrtSynchronizeStream(stream));
    CHECK_ACL(aclrtMemcpy(yh, ys, yd, ys, ACL_MEMCPY_DEVICE_TO_HOST));
    f = fopen("data/y.bin", "wb");
    fwrite(yh, 1, ys, f);
    fclose(f);
    CHECK_ACL(aclrtFree(xd));
    CHECK_ACL(aclrtFree(yd));
    CHECK_ACL(aclrtFreeHost(xh));
    CHECK_ACL(aclrtFreeHost(yh));
    CHECK_ACL(aclrtDestroyStream(stream));
    CHECK_ACL(aclrtDestroyContext(ctx));
    CHECK_ACL(aclrtResetDevice(0));
    CHECK_ACL(aclFinalize());
    return 0;
}
