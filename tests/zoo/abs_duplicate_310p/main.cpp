// SPDX-License-Identifier: Apache-2.0
#include <cstdio>
#include <cstring>
#include <fstream>
#include "acl/acl.h"
extern void abs_duplicate_do(uint32_t blockDim, void *l2ctrl, void *stream, uint8_t *x, uint8_t *y, uint32_t length, float mark);

#define CHECK_ACL(x)                                                  \
    do {                                                              \
        aclError __ret = x;                                           \
        if (__ret != ACL_ERROR_NONE) {                                \
            printf("[ERROR] %s:%d: %d\n", __FILE__, __LINE__, __ret); \
        }                                                             \
    } while (0)

int32_t main(int32_t argc, char *argv[])
{
    uint32_t length = 1500, blockDim = 8;
    size_t size = 1504 * 2;
    CHECK_ACL(aclInit(nullptr));
    printf("soc: %s\n", aclrtGetSocName());
    CHECK_ACL(aclrtSetDevice(0));
    aclrtStream stream = nullptr;
    CHECK_ACL(aclrtCreateStream(&stream));
    char host[1504 * 2];
    std::ifstream("input/x.bin", std::ios::binary).read(host, size);
    uint8_t *x, *y;
    CHECK_ACL(aclrtMalloc((void **)&x, size, ACL_MEM_MALLOC_HUGE_FIRST));
    CHECK_ACL(aclrtMalloc((void **)&y, size, ACL_MEM_MALLOC_HUGE_FIRST));
    CHECK_ACL(aclrtMemcpy(x, size, host, size, ACL_MEMCPY_HOST_TO_DEVICE));
    abs_duplicate_do(blockDim, nullptr, stream, x, y, length, -5.0f);
    CHECK_ACL(aclrtSynchronizeStream(stream));
    memset(host, 0, size);
    CHECK_ACL(aclrtMemcpy(host, size, y, size, ACL_MEMCPY_DEVICE_TO_HOST));
    std::ofstream("output/y.bin", std::ios::binary).write(host, size);
    CHECK_ACL(aclrtFree(x));
    CHECK_ACL(aclrtFree(y));
    CHECK_ACL(aclrtDestroyStream(stream));
    CHECK_ACL(aclrtResetDevice(0));
    CHECK_ACL(aclFinalize());
    return 0;
}
