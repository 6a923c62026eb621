/* SPDX-License-Identifier: Apache-2.0 */
#include "data_utils.h"
#ifndef ASCENDC_CPU_DEBUG
#include "acl/acl.h"
extern void add_custom_do(uint32_t blockDim, void *stream, uint8_t *x, uint8_t *y, uint8_t *z);
#else
#include "tikicpulib.h"
extern "C" __global__ __aicore__ void add_custom(GM_ADDR x, GM_ADDR y, GM_ADDR z);
#endif

int32_t main(int32_t argc, char *argv[])
{
    const uint32_t blockDim = 8;
    size_t bytes = 8 * 2048 * sizeof(uint16_t);
#ifdef ASCENDC_CPU_DEBUG
    auto x = (uint8_t *)AscendC::GmAlloc(bytes);
    auto y = (uint8_t *)AscendC::GmAlloc(bytes);
    auto z = (uint8_t *)AscendC::GmAlloc(bytes);
    ReadFile("./input/input_x.bin", bytes, x, bytes);
    ReadFile("./input/input_y.bin", bytes, y, bytes);
    AscendC::SetKernelMode(KernelMode::AIV_MODE);
    ICPU_RUN_KF(add_custom, blockDim, x, y, z);
    WriteFile("./output/output_z.bin", z, bytes);
    AscendC::GmFree((void *)x);
    AscendC::GmFree((void *)y);
    AscendC::GmFree((void *)z);
#else
    int32_t deviceId = 0;
    aclrtStream stream = nullptr;
    CHECK_ACL(aclInit(nullptr));
    CHECK_ACL(aclrtSetDevice(deviceId));
    CHECK_ACL(aclrtCreateStream(&stream));

    uint8_t *hostX, *hostY, *hostZ, *devX, *devY, *devZ;
    CHECK_ACL(aclrtMallocHost((void **)&hostX, bytes));
    CHECK_ACL(aclrtMallocHost((void **)&hostY, bytes));
    CHECK_ACL(aclrtMallocHost((void **)&hostZ, bytes));
    CHECK_ACL(aclrtMalloc((void **)&devX, bytes, ACL_MEM_MALLOC_HUGE_FIRST));
    CHECK_ACL(aclrtMalloc((void **)&devY, bytes, ACL_MEM_MALLOC_HUGE_FIRST));
    CHECK_ACL(aclrtMalloc((void **)&devZ, bytes, ACL_MEM_MALLOC_HUGE_FIRST));
    ReadFile("./input/input_x.bin", bytes, hostX, bytes);
    ReadFile("./input/input_y.bin", bytes, hostY, bytes);
    CHECK_ACL(aclrtMemcpy(devX, bytes, hostX, bytes, ACL_MEMCPY_HOST_TO_DEVICE));
    CHECK_ACL(aclrtMemcpy(devY, bytes, hostY, bytes, ACL_MEMCPY_HOST_TO_DEVICE));

    add_custom_do(blockDim, stream, devX, devY, devZ);
    CHECK_ACL(aclrtSynchronizeStream(stream));

    CHECK_ACL(aclrtMemcpy(hostZ, bytes, devZ, bytes, ACL_MEMCPY_DEVICE_TO_HOST));
    WriteFile("./output/output_z.bin", hostZ, bytes);
    for (uint8_t *p : {devX, devY, devZ}) {
        CHECK_ACL(aclrtFree(p));
    }
    for (uint8_t *p : {hostX, hostY, hostZ}) {
        CHECK_ACL(aclrtFreeHost(p));
    }
    CHECK_ACL(aclrtDestroyStream(stream));
    CHECK_ACL(aclrtResetDevice(deviceId));
    CHECK_ACL(aclFinalize());
#endif
    return 0;
}
