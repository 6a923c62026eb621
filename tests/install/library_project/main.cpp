// SPDX-License-Identifier: Apache-2.0
// The program of the library project: prints 42, computed from 1 by kernels of three libraries.
#include <cstdint>
#include <cstdio>

#include "acl/acl.h"

struct Change {
    int factor;
    int term;
};
#include "aclrtlaunch_add_step.h"
#include "aclrtlaunch_apply.h"
#include "aclrtlaunch_work.h"

int Again(int* value, void* stream);

namespace {

constexpr size_t system_workspace = 16 << 20;

int* on_device(int value, size_t bytes = sizeof(int)) {
    void* device = nullptr;
    if (aclrtMalloc(&device, bytes, ACL_MEM_MALLOC_HUGE_FIRST) != ACL_SUCCESS) return nullptr;
    return aclrtMemcpy(device, sizeof(int), &value, sizeof(int), ACL_MEMCPY_HOST_TO_DEVICE) == ACL_SUCCESS
               ? static_cast<int*>(device)
               : nullptr;
}

int on_host(const void* device) {
    int value = -1;
    return aclrtMemcpy(&value, sizeof(int), device, sizeof(int), ACL_MEMCPY_DEVICE_TO_HOST) == ACL_SUCCESS ? value : -1;
}

}  // namespace

int main() {
    aclrtStream stream = nullptr;
    if (aclInit(nullptr) != 0 || aclrtSetDevice(0) != 0 || aclrtCreateStream(&stream) != 0) return 1;
    int* value = on_device(1);
    int* tiling = on_device(22);
    int* workspace = on_device(0, system_workspace + 64);
    // (1 + 3) * 2 + 1 = 9, 9 * 2 + 1 = 19, + 1 = 20, + 22 = 42
    if (ACLRT_LAUNCH_KERNEL(add_step)(1, stream, value) != 0) return 2;
    if (ACLRT_LAUNCH_KERNEL(apply)(1, stream, value, Change{2, 1}, 2) != 0) return 3;
    if (Again(value, stream) != 0) return 4;
    if (ACLRT_LAUNCH_KERNEL(work)(1, stream, value, workspace, tiling) != 0) return 5;
    if (aclrtSynchronizeStream(stream) != ACL_SUCCESS) return 6;
    // The kernel's part of the workspace follows the system part.
    if (on_host(workspace) != 0 || on_host(workspace + system_workspace / sizeof(int)) != 22) return 7;
    std::printf("%d\n", on_host(value));
    return aclFinalize() == ACL_SUCCESS ? 0 : 8;
}
