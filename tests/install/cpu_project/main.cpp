// SPDX-License-Identifier: Apache-2.0
// Adds two vectors in the form it is compiled for and prints the number of wrong sums. The cpu form also takes an
// argument: "key" prints what the kernel writes for three keys; any other argument does something that must fail.
#include <cstdint>
#include <cstdio>
#include <cstring>
#ifndef ASCENDC_CPU_DEBUG
#include "acl/acl.h"
extern void add_custom_do(uint32_t blocks, void* stream, uint8_t* x, uint8_t* y, uint8_t* z, uint32_t length);
#else
#include "tikicpulib.h"
extern "C" __global__ __aicore__ void add_custom(GM_ADDR x, GM_ADDR y, GM_ADDR z, uint32_t length);
extern "C" __global__ __aicore__ void key_custom(GM_ADDR z);
extern "C" __global__ __aicore__ void fault_custom(GM_ADDR z);

static void plain_function(GM_ADDR) {}
#endif

static const uint32_t length = 8 * 1024, blocks = 8;
static const size_t bytes = length * sizeof(float);

static void fill(float* x, float* y) {
    for (uint32_t i = 0; i < length; ++i) {
        x[i] = static_cast<float>(i);
        y[i] = 0.5f;
    }
}

static int count_wrong(const float* z) {
    int wrong = 0;
    for (uint32_t i = 0; i < length; ++i) wrong += z[i] != static_cast<float>(i) + 0.5f;
    std::printf("%d wrong\n", wrong);
    return wrong == 0 ? 0 : 1;
}

#ifdef ASCENDC_CPU_DEBUG

static int special(const char* word) {
    uint8_t* z = (uint8_t*)tik2::GmAlloc(64);
    if (std::strcmp(word, "key") == 0) {
        ICPU_RUN_KF(key_custom, 1, z);
        std::printf("%d", *(int32_t*)z);
        for (int key : {1, 2}) {
            ICPU_SET_TILING_KEY(key);
            ICPU_RUN_KF(key_custom, 1, z);
            std::printf(" %d", *(int32_t*)z);
        }
        std::printf("\n");
    } else if (std::strcmp(word, "fault") == 0) {
        ICPU_RUN_KF(fault_custom, 2, z);
    } else if (std::strcmp(word, "overrun") == 0) {
        ICPU_RUN_KF(key_custom, 1, z + 64);
    } else if (std::strcmp(word, "size") == 0) {
        ICPU_RUN_KF(fault_custom, 0, z);
    } else if (std::strcmp(word, "function") == 0) {
        ICPU_RUN_KF(plain_function, 2, z);
    } else if (std::strcmp(word, "free") == 0) {
        AscendC::GmFree(z + 1);
    } else {
        AscendC::GmAlloc(SIZE_MAX / 2);
    }
    return 0;
}

int main(int count, char** words) {
    if (count > 1) return special(words[1]);
    float* x = (float*)AscendC::GmAlloc(bytes);
    float* y = (float*)AscendC::GmAlloc(bytes);
    float* z = (float*)AscendC::GmAlloc(bytes);
    fill(x, y);
    AscendC::SetKernelMode(KernelMode::AIV_MODE);
    ICPU_RUN_KF(add_custom, blocks, (uint8_t*)x, (uint8_t*)y, (uint8_t*)z, length);
    const int status = count_wrong(z);
    AscendC::GmFree((void*)x);
    AscendC::GmFree((void*)y);
    AscendC::GmFree((void*)z);
    return status;
}

#else

int main() {
    aclInit(nullptr);
    aclrtSetDevice(0);
    aclrtStream stream = nullptr;
    aclrtCreateStream(&stream);
    static float x[length], y[length], z[length];
    fill(x, y);
    uint8_t* device = nullptr;
    aclrtMalloc((void**)&device, 3 * bytes, ACL_MEM_MALLOC_HUGE_FIRST);
    aclrtMemcpy(device, bytes, x, bytes, ACL_MEMCPY_HOST_TO_DEVICE);
    aclrtMemcpy(device + bytes, bytes, y, bytes, ACL_MEMCPY_HOST_TO_DEVICE);
    add_custom_do(blocks, stream, device, device + bytes, device + 2 * bytes, length);
    aclrtSynchronizeStream(stream);
    aclrtMemcpy(z, bytes, device + 2 * bytes, bytes, ACL_MEMCPY_DEVICE_TO_HOST);
    aclrtFree(device);
    aclrtDestroyStream(stream);
    aclrtResetDevice(0);
    aclFinalize();
    return count_wrong(z);
}

#endif
