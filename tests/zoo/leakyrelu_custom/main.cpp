// SPDX-License-Identifier: Apache-2.0
#include <cstdio>
#include <fstream>
#include <iterator>
#include <vector>
#ifdef ASCENDC_CPU_DEBUG
#include "tikicpulib.h"
extern "C" __global__ __aicore__ void leakyrelu_custom(GM_ADDR in, GM_ADDR out, float slope);
#else
#include "acl/acl.h"
extern "C" uint32_t leakyrelu_launch(uint32_t cores, void *stream, uint8_t *in, uint8_t *out, float slope);
#endif

static constexpr uint32_t CORES = 4;

int main(int argc, char **argv)
{
    std::ifstream fin("data/x.bin", std::ios::binary);
    std::vector<char> x((std::istreambuf_iterator<char>(fin)), std::istreambuf_iterator<char>());
    if (x.empty()) {
        fprintf(stderr, "no data\n");
        return 2;
    }
    std::vector<char> y(x.size());
    float slope = 0.25f;
#ifdef ASCENDC_CPU_DEBUG
    auto *gx = static_cast<uint8_t *>(AscendC::GmAlloc(x.size()));
    auto *gy = static_cast<uint8_t *>(AscendC::GmAlloc(x.size()));
    std::copy(x.begin(), x.end(), gx);
    ICPU_RUN_KF(leakyrelu_custom, CORES, gx, gy, slope);
    std::copy(gy, gy + y.size(), y.begin());
    AscendC::GmFree(gx);
    AscendC::GmFree(gy);
#else
    void *gx = nullptr, *gy = nullptr;
    aclrtStream stream = nullptr;
    bool ok = aclInit(nullptr) == ACL_SUCCESS && aclrtSetDevice(0) == ACL_SUCCESS &&
              aclrtCreateStream(&stream) == ACL_SUCCESS &&
              aclrtMalloc(&gx, x.size(), ACL_MEM_MALLOC_HUGE_FIRST) == ACL_SUCCESS &&
              aclrtMalloc(&gy, x.size(), ACL_MEM_MALLOC_HUGE_FIRST) == ACL_SUCCESS &&
              aclrtMemcpyAsync(gx, x.size(), x.data(), x.size(), ACL_MEMCPY_HOST_TO_DEVICE, stream) == ACL_SUCCESS;
    if (!ok) {
        fprintf(stderr, "setup failed\n");
        return 3;
    }
    leakyrelu_launch(CORES, stream, (uint8_t *)gx, (uint8_t *)gy, slope);
    aclrtMemcpyAsync(y.data(), y.size(), gy, y.size(), ACL_MEMCPY_DEVICE_TO_HOST, stream);
    if (aclrtSynchronizeStream(stream) != ACL_SUCCESS) {
        fprintf(stderr, "sync failed\n");
        return 4;
    }
    aclrtFree(gx);
    aclrtFree(gy);
    aclrtDestroyStream(stream);
    aclrtResetDevice(0);
    aclFinalize();
#endif
    std::ofstream("data/y.bin", std::ios::binary).write(y.data(), y.size());
    return 0;
}
