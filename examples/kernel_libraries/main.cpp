// SPDX-License-Identifier: Apache-2.0
// The program of the kernel libraries: plain C++, compiled by the host's compiler. It sees functions, not kernels.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "acl/acl.h"
#include "operations.h"

#define CHECK(call)                                                                         \
    do {                                                                                    \
        const aclError code = (call);                                                       \
        if (code != ACL_SUCCESS) {                                                          \
            const char* text = aclGetRecentErrMsg();                                        \
            std::fprintf(stderr, "%s failed with %d\n%s\n", #call, code, text ? text : ""); \
            std::exit(1);                                                                   \
        }                                                                                   \
    } while (0)

template <class T>
T* NewOnDevice(size_t count) {
    void* memory = nullptr;
    CHECK(aclrtMalloc(&memory, count * sizeof(T), ACL_MEM_MALLOC_HUGE_FIRST));
    return static_cast<T*>(memory);
}

template <class T>
T* CopyToDevice(const std::vector<T>& values) {
    T* memory = NewOnDevice<T>(values.size());
    const size_t bytes = values.size() * sizeof(T);
    CHECK(aclrtMemcpy(memory, bytes, values.data(), bytes, ACL_MEMCPY_HOST_TO_DEVICE));
    return memory;
}

template <class T>
std::vector<T> CopyToHost(const T* memory, size_t count) {
    std::vector<T> values(count);
    const size_t bytes = count * sizeof(T);
    CHECK(aclrtMemcpy(values.data(), bytes, memory, bytes, ACL_MEMCPY_DEVICE_TO_HOST));
    return values;
}

int main() {
    const uint32_t count = 100000;
    std::vector<float> values(count);
    for (uint32_t i = 0; i < count; ++i) values[i] = static_cast<float>(i);

    CHECK(aclInit(nullptr));
    CHECK(aclrtSetDevice(0));
    aclrtStream stream = nullptr;
    CHECK(aclrtCreateStream(&stream));
    float* device = CopyToDevice(values);

    Scale(device, count, 2.0f, stream);
    Shift(device, count, 1.0f, stream);
    CHECK(aclrtSynchronizeStream(stream));
    const std::vector<float> result = CopyToHost(device, count);

    uint32_t wrong = 0;
    for (uint32_t i = 0; i < count; ++i) wrong += result[i] == 2.0f * values[i] + 1.0f ? 0 : 1;
    std::printf("kernel_libraries: %u elements, %u wrong\n", count, wrong);

    CHECK(aclrtFree(device));
    CHECK(aclrtDestroyStream(stream));
    CHECK(aclrtResetDevice(0));
    CHECK(aclFinalize());
    return wrong == 0 ? 0 : 1;
}
