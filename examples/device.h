// SPDX-License-Identifier: Apache-2.0
// What the host code of most examples begins with: calls that end the program when they fail, and device memory.
#pragma once

#include <cstdio>
#include <cstdlib>
#include <vector>

#include "acl/acl.h"

#define CHECK(call)                                                                               \
    do {                                                                                          \
        const aclError code = (call);                                                             \
        if (code != ACL_SUCCESS) {                                                                \
            const char* message = aclGetRecentErrMsg();                                           \
            std::fprintf(stderr, "%s failed with %d\n%s\n", #call, code, message ? message : ""); \
            std::exit(1);                                                                         \
        }                                                                                         \
    } while (0)

// Memory for `count` elements, to be given back with aclrtFree.
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
