// SPDX-License-Identifier: Apache-2.0
// Helpers of the tests of the C interface: numbers in memory on the host, and code that runs on a vector or cube core.
#ifndef CANOPY_TESTS_LANGUAGE_C_INTERFACE_MEMORY_H
#define CANOPY_TESTS_LANGUAGE_C_INTERFACE_MEMORY_H

#include "on_core.h"

// An address in the unified buffer, as a byte offset.
template <class T>
__aicore__ inline T* ubuf(uint32_t byte) {
    return reinterpret_cast<T*>(get_imm(byte));
}

template <class T>
inline T at(const std::vector<uint8_t>& memory, uint64_t byte) {
    T value;
    std::memcpy(&value, memory.data() + byte, sizeof value);
    return value;
}
template <class T>
inline void put(std::vector<uint8_t>& memory, uint64_t byte, T value) {
    std::memcpy(memory.data() + byte, &value, sizeof value);
}

#define ON_CORE(name, ...)                                        \
    struct name {                                                 \
        __aicore__ void run(GM_ADDR memory) const { __VA_ARGS__ } \
    }

template <class Case>
__global__ __cube__ void run_on_cube(GM_ADDR memory, Case what) {
    what.run(memory);
}

template <class Case>
std::string run_cube(const Case& what, std::vector<uint8_t>& memory) {
    open_test_device();
    aclrtStream stream = nullptr;
    EXPECT_EQ(aclrtCreateStream(&stream), ACL_SUCCESS);
    void* device = nullptr;
    EXPECT_EQ(aclrtMalloc(&device, memory.size(), ACL_MEM_MALLOC_HUGE_FIRST), ACL_SUCCESS);
    aclrtMemcpy(device, memory.size(), memory.data(), memory.size(), ACL_MEMCPY_HOST_TO_DEVICE);
    run_on_cube<Case><<<1, nullptr, stream>>>(static_cast<uint8_t*>(device), what);
    std::string failure;
    if (aclrtSynchronizeStream(stream) != ACL_SUCCESS) failure = aclGetRecentErrMsg();
    aclrtMemcpy(memory.data(), memory.size(), device, memory.size(), ACL_MEMCPY_DEVICE_TO_HOST);
    aclrtFree(device);
    aclrtDestroyStreamForce(stream);
    return failure;
}

// Memory with a pattern in its first part; results start behind it.
constexpr uint32_t out_at = 8192;

inline std::vector<uint8_t> bytes(uint32_t size = 32768) {
    std::vector<uint8_t> memory(size);
    for (uint32_t i = 0; i < out_at; ++i) memory[i] = static_cast<uint8_t>(i * 7 + i / 256);
    return memory;
}

#endif
