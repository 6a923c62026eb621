// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <vector>

#include "acl/acl.h"
#include "axpby_tiling.h"

#define INFO_LOG(fmt, args...) fprintf(stdout, "[INFO]  " fmt "\n", ##args)
#define ERROR_LOG(fmt, args...) fprintf(stderr, "[ERROR]  " fmt "\n", ##args)
#define CHECK_ACL(x)                                                           \
    do {                                                                       \
        aclError __ret = x;                                                    \
        if (__ret != ACL_ERROR_NONE) {                                         \
            ERROR_LOG("%s:%d aclError:%d", __FILE__, __LINE__, __ret);         \
            return -1;                                                         \
        }                                                                      \
    } while (0)

static int32_t Compare(const std::vector<float>& x, const std::vector<float>& y, const std::vector<float>& z, float alpha,
                       float beta, float offset)
{
    for (size_t i = 0; i < z.size(); i++) {
        float golden = alpha * x[i] + beta * y[i] + offset;
        if (std::fabs(z[i] - golden) > 1e-4f) {
            ERROR_LOG("index %zu: %f, expected %f", i, z[i], golden);
            return -1;
        }
    }
    INFO_LOG("alpha %.2f beta %.2f offset %.0f verified", alpha, beta, offset);
    return 0;
}

int32_t main(int32_t argc, char* argv[])
{
    const char* filePath = argc > 1 ? argv[1] : "./out/fatbin/axpby_kernel/axpby_kernel.o";
    const uint32_t blockDim = 8, length = 8 * 2048;
    size_t size = length * sizeof(float);
    std::vector<float> x(length), y(length), z(length);
    for (uint32_t i = 0; i < length; i++) {
        x[i] = 0.01f * (i % 1000);
        y[i] = 1.0f - 0.02f * (i % 77);
    }
    CHECK_ACL(aclInit(nullptr));
    int32_t deviceId = 0;
    CHECK_ACL(aclrtSetDevice(deviceId));
    aclrtStream stream = nullptr;
    CHECK_ACL(aclrtCreateStream(&stream));
    void *xDev, *yDev, *zDev;
    CHECK_ACL(aclrtMalloc(&xDev, size, ACL_MEM_MALLOC_HUGE_FIRST));
    CHECK_ACL(aclrtMalloc(&yDev, size, ACL_MEM_MALLOC_HUGE_FIRST));
    CHECK_ACL(aclrtMalloc(&zDev, size, ACL_MEM_MALLOC_HUGE_FIRST));
    CHECK_ACL(aclrtMemcpyAsync(xDev, size, x.data(), size, ACL_MEMCPY_HOST_TO_DEVICE, stream));
    CHECK_ACL(aclrtMemcpyAsync(yDev, size, y.data(), size, ACL_MEMCPY_HOST_TO_DEVICE, stream));

    aclrtBinHandle binHandle = nullptr;
    CHECK_ACL(aclrtBinaryLoadFromFile(filePath, nullptr, &binHandle));
    aclrtFuncHandle funcHandle = nullptr;
    CHECK_ACL(aclrtBinaryGetFunction(binHandle, "axpby_custom", &funcHandle));

    // handle and arguments in memory of our own
    size_t handleSize = 0, argsSize = 0;
    auto align8 = [](size_t n) { return (n + 7) / 8 * 8; };  // every parameter takes whole words
    const size_t userSize = 3 * sizeof(void*) + align8(sizeof(uint8_t)) + sizeof(void*) + align8(sizeof(AxpbyTiling));
    CHECK_ACL(aclrtKernelArgsGetHandleMemSize(funcHandle, &handleSize));
    CHECK_ACL(aclrtKernelArgsGetMemSize(funcHandle, userSize, &argsSize));
    std::vector<uint8_t> handleMem(handleSize), argsMem(argsSize);
    aclrtArgsHandle argsHandle = handleMem.data();
    CHECK_ACL(aclrtKernelArgsInitByUserMem(funcHandle, argsHandle, argsMem.data(), argsSize));

    uint8_t offset = 3;
    aclrtParamHandle paramX, paramY, paramZ, paramOffset, paramTiling;
    CHECK_ACL(aclrtKernelArgsAppend(argsHandle, &xDev, sizeof(uintptr_t), &paramX));
    CHECK_ACL(aclrtKernelArgsAppend(argsHandle, &yDev, sizeof(uintptr_t), &paramY));
    CHECK_ACL(aclrtKernelArgsAppend(argsHandle, &zDev, sizeof(uintptr_t), &paramZ));
    CHECK_ACL(aclrtKernelArgsAppend(argsHandle, &offset, sizeof(offset), &paramOffset));
    // the tiling travels behind the arguments, the runtime fills the pointer in
    CHECK_ACL(aclrtKernelArgsAppendPlaceHolder(argsHandle, &paramTiling));
    void* tilingBuffer = nullptr;
    CHECK_ACL(aclrtKernelArgsGetPlaceHolderBuffer(argsHandle, paramTiling, sizeof(AxpbyTiling), &tilingBuffer));
    AxpbyTiling* tiling = static_cast<AxpbyTiling*>(tilingBuffer);
    *tiling = {length, 4, 0, 2.0f, -1.0f};
    CHECK_ACL(aclrtKernelArgsFinalize(argsHandle));
    CHECK_ACL(aclrtLaunchKernelWithConfig(funcHandle, blockDim, stream, nullptr, argsHandle, nullptr));
    CHECK_ACL(aclrtSynchronizeStream(stream));
    CHECK_ACL(aclrtMemcpy(z.data(), size, zDev, size, ACL_MEMCPY_DEVICE_TO_HOST));
    int32_t result = Compare(x, y, z, 2.0f, -1.0f, 3.0f);

    // second round: change a scalar and the tiling, swap the inputs
    offset = 200;
    tiling->alpha = 0.5f;
    tiling->beta = 4.0f;
    CHECK_ACL(aclrtKernelArgsParaUpdate(argsHandle, paramOffset, &offset, sizeof(offset)));
    CHECK_ACL(aclrtKernelArgsParaUpdate(argsHandle, paramX, &yDev, sizeof(uintptr_t)));
    CHECK_ACL(aclrtKernelArgsParaUpdate(argsHandle, paramY, &xDev, sizeof(uintptr_t)));
    CHECK_ACL(aclrtKernelArgsFinalize(argsHandle));
    aclrtLaunchKernelAttr attr;
    attr.id = ACL_RT_LAUNCH_KERNEL_ATTR_SCHEM_MODE;
    attr.value.schemMode = 1;
    aclrtLaunchKernelCfg cfg = {&attr, 1};
    CHECK_ACL(aclrtLaunchKernelWithConfig(funcHandle, blockDim, stream, &cfg, argsHandle, nullptr));
    CHECK_ACL(aclrtSynchronizeStream(stream));
    CHECK_ACL(aclrtMemcpy(z.data(), size, zDev, size, ACL_MEMCPY_DEVICE_TO_HOST));
    result |= Compare(y, x, z, 0.5f, 4.0f, 200.0f);

    CHECK_ACL(aclrtBinaryUnLoad(binHandle));
    CHECK_ACL(aclrtFree(xDev));
    CHECK_ACL(aclrtFree(yDev));
    CHECK_ACL(aclrtFree(zDev));
    CHECK_ACL(aclrtDestroyStream(stream));
    CHECK_ACL(aclrtResetDevice(deviceId));
    CHECK_ACL(aclFinalize());
    if (result == 0) INFO_LOG("[SUCCESS] args handle sample");
    return result;
}
