// SPDX-License-Identifier: Apache-2.0
// Fixture for tests of the kernel language: a device with a stream, buffers that are freed at the end of the test, and
// the error message of a failed task.
#pragma once

#include <acl/acl.h>
#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <vector>

namespace language {

class Test : public ::testing::Test {
protected:
    void SetUp() override {
        ASSERT_EQ(aclInit(nullptr), 0);
        ASSERT_EQ(aclrtSetDevice(0), 0);
        ASSERT_EQ(aclrtCreateStream(&stream_), 0);
    }
    void TearDown() override {
        for (void* buffer : buffers_) EXPECT_EQ(aclrtFree(buffer), 0);
        EXPECT_EQ(aclrtDestroyStream(stream_), 0);
        EXPECT_EQ(aclrtResetDevice(0), 0);
        EXPECT_EQ(aclFinalize(), 0);
    }

    aclrtStream stream() const { return stream_; }

    // Device memory, filled with 0xA5.
    template <class T>
    T* device_buffer(std::size_t count) {
        const std::size_t bytes = count * sizeof(T) + 64;
        void* buffer = nullptr;
        EXPECT_EQ(aclrtMalloc(&buffer, bytes, ACL_MEM_MALLOC_NORMAL_ONLY), 0);
        EXPECT_EQ(aclrtMemset(buffer, bytes, 0xA5, bytes), 0);
        buffers_.push_back(buffer);
        return static_cast<T*>(buffer);
    }
    template <class T>
    T* to_device(const std::vector<T>& values) {
        T* buffer = device_buffer<T>(values.size());
        const std::size_t bytes = values.size() * sizeof(T);
        if (bytes != 0) EXPECT_EQ(aclrtMemcpy(buffer, bytes, values.data(), bytes, ACL_MEMCPY_HOST_TO_DEVICE), 0);
        return buffer;
    }
    template <class T>
    std::vector<T> to_host(const T* buffer, std::size_t count) {
        std::vector<T> values(count);
        const std::size_t bytes = count * sizeof(T);
        if (bytes != 0) EXPECT_EQ(aclrtMemcpy(values.data(), bytes, buffer, bytes, ACL_MEMCPY_DEVICE_TO_HOST), 0);
        return values;
    }

    void synchronise() {
        const aclError code = aclrtSynchronizeStream(stream_);
        const char* text = code == 0 ? nullptr : aclGetRecentErrMsg();
        ASSERT_EQ(code, 0) << (text == nullptr ? "" : text);
    }
    // Expects the last launch to fail with a message that contains `part`. Replaces the stream, since it stays failed.
    void expect_failure(const std::string& part) {
        const aclError code = aclrtSynchronizeStream(stream_);
        const char* text = aclGetRecentErrMsg();
        EXPECT_NE(code, 0);
        EXPECT_NE(std::string(text == nullptr ? "" : text).find(part), std::string::npos)
            << (text == nullptr ? "no text" : text);
        EXPECT_EQ(aclrtDestroyStreamForce(stream_), 0);
        EXPECT_EQ(aclrtCreateStream(&stream_), 0);
    }

private:
    aclrtStream stream_ = nullptr;
    std::vector<void*> buffers_;
};

}  // namespace language
