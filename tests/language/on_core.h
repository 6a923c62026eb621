// SPDX-License-Identifier: Apache-2.0
// Runs a piece of kernel code on a core of the device and returns what it left in memory, for tests that compare it
// with a loop on the host.
#ifndef CANOPY_TESTS_LANGUAGE_ON_CORE_H
#define CANOPY_TESTS_LANGUAGE_ON_CORE_H

#include <acl/acl.h>
#include <gtest/gtest.h>
#include <kernel_operator.h>

#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

template <class Case>
__global__ __vector__ void run_case(GM_ADDR memory, Case what) {
    what.run(memory);
}

// Opens the device once per test program.
inline void open_test_device() {
    static const bool opened = [] {
        EXPECT_EQ(aclInit(nullptr), ACL_SUCCESS);
        EXPECT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
        return true;
    }();
    static_cast<void>(opened);
}

// Calls `launch(device, stream)` with a copy of `memory` as global memory, and copies it back. Returns the error
// message, empty on success.
template <class Launch>
std::string run_launch(std::vector<uint8_t>& memory, const Launch& launch) {
    open_test_device();
    aclrtStream stream = nullptr;  // a separate stream, since a failed stream stays failed
    EXPECT_EQ(aclrtCreateStream(&stream), ACL_SUCCESS);
    void* device = nullptr;
    const size_t size = memory.empty() ? 1 : memory.size();
    EXPECT_EQ(aclrtMalloc(&device, size, ACL_MEM_MALLOC_HUGE_FIRST), ACL_SUCCESS);
    EXPECT_EQ(aclrtMemcpy(device, size, memory.data(), memory.size(), ACL_MEMCPY_HOST_TO_DEVICE), ACL_SUCCESS);
    const int launched = launch(static_cast<uint8_t*>(device), stream);
    EXPECT_EQ(launched, ACL_SUCCESS) << aclGetRecentErrMsg();
    std::string failure;
    if (aclrtSynchronizeStream(stream) != ACL_SUCCESS) {
        const char* text = aclGetRecentErrMsg();
        failure = text != nullptr ? text : "failed without a text";
    }
    EXPECT_EQ(aclrtMemcpy(memory.data(), memory.size(), device, memory.size(), ACL_MEMCPY_DEVICE_TO_HOST), ACL_SUCCESS);
    EXPECT_EQ(aclrtFree(device), ACL_SUCCESS);
    EXPECT_EQ(aclrtDestroyStreamForce(stream), ACL_SUCCESS);
    return failure;
}

// Runs `what` on `blocks` blocks of vector cores.
template <class Case>
std::string run_on_core(const Case& what, std::vector<uint8_t>& memory, uint32_t blocks = 1) {
    return run_launch(memory, [&](uint8_t* device, aclrtStream stream) {
        return run_case<Case><<<blocks, nullptr, stream>>>(device, what);
    });
}

#endif
