// SPDX-License-Identifier: Apache-2.0
// For tests of what a kernel asks of the device: the image of core_kernels.cpp.
#pragma once

#include "fixture.h"

namespace conformance {

class CoreTest : public DeviceTest {
protected:
    void SetUp() override {
        if (!device_computes()) GTEST_SKIP();
        DeviceTest::SetUp();
        ASSERT_ACL_OK(aclrtBinaryLoadFromFile(CANOPY_TEST_CORE_KERNELS, nullptr, &binary_));
        wrong_ = device_array<std::uint32_t>({0});
    }
    void TearDown() override {
        if (binary_) aclrtBinaryUnLoad(binary_);
        if (device_computes()) DeviceTest::TearDown();
    }

    // Launches with the values in order, each in an 8-byte slot.
    template <class... Values>
    aclError launch(const char* name, std::uint32_t blocks, Values... values) {
        std::uint64_t slots[sizeof...(Values) + 1] = {};
        std::size_t count = 0;
        ((std::memcpy(&slots[count++], &values, sizeof(values))), ...);
        aclrtFuncHandle function = nullptr;
        EXPECT_ACL_OK(aclrtBinaryGetFunction(binary_, name, &function));
        return aclrtLaunchKernelWithHostArgs(function, blocks, stream_, nullptr, slots, sizeof slots, nullptr, 0);
    }
    // The same, and waits for it.
    template <class... Values>
    void run(const char* name, std::uint32_t blocks, Values... values) {
        ASSERT_ACL_OK(launch(name, blocks, values...));
        ASSERT_ACL_OK(aclrtSynchronizeStream(stream_));
    }
    // The task fails with that code and a text that holds all of the words.
    template <class... Values>
    void run_to_failure(int code, const std::vector<std::string>& words, const char* name, std::uint32_t blocks,
                        Values... values) {
        recent_error();
        ASSERT_ACL_OK(launch(name, blocks, values...));
        EXPECT_EQ(aclrtSynchronizeStream(stream_), code);
        const std::string text = recent_error();
        EXPECT_NE(text.find(name), std::string::npos) << text;
        for (const std::string& word : words) EXPECT_NE(text.find(word), std::string::npos) << word << " in: " << text;
    }
    std::uint32_t* zeros(std::size_t count) { return device_array(std::vector<std::uint32_t>(count, 0)); }
    std::uint32_t wrong() { return read_back(wrong_, 1)[0]; }

    aclrtBinHandle binary_ = nullptr;
    std::uint32_t* wrong_ = nullptr;
};

}  // namespace conformance
