// SPDX-License-Identifier: Apache-2.0
#include "acl/acl.h"
#include <cstdio>
#include <vector>

extern "C" int exp_log_do(int blocks, void *stream, void *x, void *y);

int main()
{
    std::vector<short> v(4 * 640);
    const size_t bytes = v.size() * sizeof(short);
    FILE *f = fopen("output/x.bin", "rb");
    if (!f || fread(v.data(), 1, bytes, f) != bytes) return 1;
    fclose(f);
    aclInit(nullptr);
    aclrtSetDevice(0);
    aclrtStream stream;
    aclrtCreateStream(&stream);
    void *x, *y;
    aclrtMalloc(&x, bytes, ACL_MEM_MALLOC_HUGE_FIRST);
    aclrtMalloc(&y, bytes, ACL_MEM_MALLOC_HUGE_FIRST);
    aclrtMemcpy(x, bytes, v.data(), bytes, ACL_MEMCPY_HOST_TO_DEVICE);
    exp_log_do(4, stream, x, y);
    aclrtSynchronizeStream(stream);
    aclrtMemcpy(v.data(), bytes, y, bytes, ACL_MEMCPY_DEVICE_TO_HOST);
    f = fopen("output/y.bin", "wb");
    fwrite(v.data(), 1, bytes, f);
    fclose(f);
    aclrtFree(x);
    aclrtFree(y);
    aclrtDestroyStream(stream);
    aclrtResetDevice(0);
    return aclFinalize();
}
