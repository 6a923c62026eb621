// SPDX-License-Identifier: Apache-2.0
// The program of the language project: prints (20 + 1) * 2, computed by kernels of two libraries.
#include <cstdio>

#include "acl/acl.h"

int PlusOne(int* value, void* stream);
int Double(int* value, void* stream);

int main() {
    int value = 20, *device = nullptr;
    aclrtStream stream = nullptr;
    const bool ready = aclInit(nullptr) == ACL_SUCCESS && aclrtSetDevice(0) == ACL_SUCCESS &&
                       aclrtCreateStream(&stream) == ACL_SUCCESS &&
                       aclrtMalloc(reinterpret_cast<void**>(&device), sizeof(int), ACL_MEM_MALLOC_HUGE_FIRST) == 0;
    if (!ready || aclrtMemcpy(device, sizeof(int), &value, sizeof(int), ACL_MEMCPY_HOST_TO_DEVICE) != 0) return 1;
    if (PlusOne(device, stream) != 0 || Double(device, stream) != 0) return 2;
    if (aclrtSynchronizeStream(stream) != ACL_SUCCESS) return 3;
    if (aclrtMemcpy(&value, sizeof(int), device, sizeof(int), ACL_MEMCPY_DEVICE_TO_HOST) != 0) return 4;
    std::printf("%d\n", value);
    return aclFinalize() == ACL_SUCCESS ? 0 : 5;
}
