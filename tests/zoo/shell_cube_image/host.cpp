// SPDX-License-Identifier: Apache-2.0
#include <cstdio>
#include <cstdlib>
#include <vector>
#include "acl/acl.h"

#define CALL(f, ...)                                                              \
    do {                                                                          \
        aclError e = f(__VA_ARGS__);                                              \
        if (e != ACL_SUCCESS) {                                                   \
            fprintf(stderr, #f " failed: %d, %s\n", e, aclGetRecentErrMsg());     \
            exit(EXIT_FAILURE);                                                   \
        }                                                                         \
    } while (0)

int main(int argc, char *argv[])
{
    if (argc < 3) return EXIT_FAILURE;
    constexpr int CORES = 3, K = 64, M = CORES * 16, N = 16;
    std::vector<aclFloat16> a(M * K), b(K * N);
    std::vector<float> c(M * N, 0), golden(M * N, 0);
    for (int i = 0; i < M * K; ++i) a[i] = aclFloatToFloat16((i * 7 % 11) - 5);
    for (int i = 0; i < K * N; ++i) b[i] = aclFloatToFloat16((i * 5 % 13) - 6);
    for (int m = 0; m < M; ++m)
        for (int n = 0; n < N; ++n)
            for (int k = 0; k < K; ++k) golden[m * N + n] += aclFloat16ToFloat(a[m * K + k]) * aclFloat16ToFloat(b[k * N + n]);

    CALL(aclInit, nullptr);
    CALL(aclrtSetDevice, 0);
    aclrtStream stream;
    CALL(aclrtCreateStream, &stream);
    aclrtBinHandle bin;
    aclrtFuncHandle func;
    CALL(aclrtBinaryLoadFromFile, argv[1], nullptr, &bin);
    CALL(aclrtBinaryGetFunction, bin, argv[2], &func);
    void *da, *db, *dc;
    CALL(aclrtMalloc, &da, a.size() * 2, ACL_MEM_MALLOC_HUGE_FIRST);
    CALL(aclrtMalloc, &db, b.size() * 2, ACL_MEM_MALLOC_HUGE_FIRST);
    CALL(aclrtMalloc, &dc, c.size() * 4, ACL_MEM_MALLOC_HUGE_FIRST);
    CALL(aclrtMemcpy, da, a.size() * 2, a.data(), a.size() * 2, ACL_MEMCPY_HOST_TO_DEVICE);
    CALL(aclrtMemcpy, db, b.size() * 2, b.data(), b.size() * 2, ACL_MEMCPY_HOST_TO_DEVICE);
    CALL(aclrtMemset, dc, c.size() * 4, 0, c.size() * 4);
    aclrtArgsHandle args;
    aclrtParamHandle p;
    CALL(aclrtKernelArgsInit, func, &args);
    CALL(aclrtKernelArgsAppend, args, &da, sizeof(da), &p);
    CALL(aclrtKernelArgsAppend, args, &db, sizeof(db), &p);
    CALL(aclrtKernelArgsAppend, args, &dc, sizeof(dc), &p);
    CALL(aclrtKernelArgsFinalize, args);
    CALL(aclrtLaunchKernelWithConfig, func, CORES, stream, nullptr, args, nullptr);
    CALL(aclrtSynchronizeStream, stream);
    CALL(aclrtMemcpy, c.data(), c.size() * 4, dc, c.size() * 4, ACL_MEMCPY_DEVICE_TO_HOST);
    int diff = 0;
    for (size_t i = 0; i < c.size(); ++i) diff += c[i] != golden[i];
    CALL(aclrtBinaryUnLoad, bin);
    CALL(aclrtFree, da);
    CALL(aclrtFree, db);
    CALL(aclrtFree, dc);
    CALL(aclrtDestroyStream, stream);
    CALL(aclrtResetDevice, 0);
    CALL(aclFinalize);
    printf("gemm on cube cores: %d differences\n", diff);
    return diff ? EXIT_FAILURE : EXIT_SUCCESS;
}
