// SPDX-License-Identifier: Apache-2.0
// What every conformance test starts from and must leave behind: an initialised runtime with device 0 set and one
// stream; at the end no live handle and no live byte. Tests see the public interface only.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "acl/acl.h"
#include "acl/acl_rt_memory_soma.h"
#include "canopy/canopy.h"

namespace conformance {

// True when the device under test runs kernels and moves bytes; the null device only accepts them.
bool device_computes();
bool checking_mode();
// The recent-error text of this thread, empty when there is none. Reading clears it.
std::string recent_error();

// The checks behind the macros, kept out of line: thousands of expansions must not cost compile time.
testing::AssertionResult succeeded(const char* call, int code);
testing::AssertionResult failed_with(const char* call, int code, int expected, const std::string& words);

#define ASSERT_ACL_OK(call)                                   \
    do {                                                      \
        ASSERT_TRUE(::conformance::succeeded(#call, (call))); \
    } while (false)
#define EXPECT_ACL_OK(call)                                   \
    do {                                                      \
        EXPECT_TRUE(::conformance::succeeded(#call, (call))); \
    } while (false)
// The call fails with `code`, and the recent-error text mentions `words`.
#define EXPECT_ACL_FAILS(code, words, call)                                      \
    do {                                                                         \
        ::conformance::recent_error();                                           \
        EXPECT_TRUE(::conformance::failed_with(#call, (call), (code), (words))); \
    } while (false)

// Initialises and finalises around each test, and checks that nothing is left.
class RuntimeTest : public testing::Test {
protected:
    void SetUp() override;
    void TearDown() override;
};

// Additionally sets device 0 and makes a stream.
class DeviceTest : public RuntimeTest {
protected:
    void SetUp() override;
    void TearDown() override;

    // Device memory that is freed at the end of the test.
    void* device_memory(std::size_t size);
    template <class T>
    T* device_array(const std::vector<T>& values) {
        void* memory = device_memory(values.size() * sizeof(T));
        EXPECT_ACL_OK(aclrtMemcpy(memory, values.size() * sizeof(T), values.data(), values.size() * sizeof(T),
                                  ACL_MEMCPY_HOST_TO_DEVICE));
        return static_cast<T*>(memory);
    }
    template <class T>
    std::vector<T> read_back(const T* device, std::size_t count) {
        std::vector<T> values(count);
        EXPECT_ACL_OK(
            aclrtMemcpy(values.data(), count * sizeof(T), device, count * sizeof(T), ACL_MEMCPY_DEVICE_TO_HOST));
        return values;
    }

    aclrtStream stream_ = nullptr;

private:
    std::vector<void*> memory_;
};

// Additionally loads the image of kernels.cpp.
class KernelTest : public DeviceTest {
protected:
    void SetUp() override;
    void TearDown() override;
    aclrtFuncHandle function(const char* name);

    // Launches with the values in order, each in an 8-byte slot.
    template <class... Values>
    aclError launch(const char* name, std::uint32_t blocks, aclrtStream stream, Values... values) {
        std::uint64_t slots[sizeof...(Values) + 1] = {};
        std::size_t count = 0;
        ((std::memcpy(&slots[count++], &values, sizeof(values))), ...);
        return aclrtLaunchKernelWithHostArgs(function(name), blocks, stream, nullptr, slots,
                                             count ? count * sizeof(std::uint64_t) : sizeof(std::uint64_t), nullptr, 0);
    }

    aclrtBinHandle binary_ = nullptr;
};

}  // namespace conformance
