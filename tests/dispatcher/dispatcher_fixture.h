// SPDX-License-Identifier: Apache-2.0
// Fixture for tests of the dispatcher: an open dispatcher, and words in device memory.
#pragma once

#include <fstream>
#include <iterator>
#include <string>
#include <thread>
#include <vector>

#include "canopy/dispatcher.h"
#include "fixtures/fixture.h"
#include "inner_work.h"
#include "until.h"

namespace conformance {

inline std::string bytes_of(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
}

#define EXPECT_DONE(call)                                          \
    do {                                                           \
        const auto answer = (call);                                \
        EXPECT_EQ(answer.code, 0) << #call << ": " << answer.text; \
    } while (false)
#define EXPECT_REFUSED(expected, words, call)                                 \
    do {                                                                      \
        const auto answer = (call);                                           \
        EXPECT_EQ(answer.code, (expected)) << #call << ": " << answer.text;   \
        EXPECT_NE(answer.text.find(words), std::string::npos) << answer.text; \
    } while (false)

class DispatcherTest : public DeviceTest {
protected:
    void SetUp() override {
        DeviceTest::SetUp();
        if (!device_computes()) GTEST_SKIP() << "this device runs no kernels";
        EXPECT_DONE(dispatcher_.open());
        words_ = device_array(std::vector<std::uint64_t>(16, 0));
    }
    void TearDown() override {
        EXPECT_DONE(dispatcher_.close());
        DeviceTest::TearDown();
    }

    std::uint64_t loaded(const std::string& path) {
        std::uint64_t runtime = 0;
        EXPECT_DONE(dispatcher_.load(path, runtime));
        EXPECT_NE(runtime, 0u);
        return runtime;
    }
    canopy::Dispatcher::Answer run(std::uint64_t runtime, const InnerWork& work, std::uint32_t blocks = 1,
                                   aclrtStream stream = nullptr) {
        return dispatcher_.run(stream ? stream : stream_, runtime, blocks, &work, sizeof work);
    }
    // The word that a runtime writes. Here and below, only stream_ is synchronised.
    std::uint64_t answer_of(std::uint64_t runtime, InnerWork::Kind kind, std::uint64_t value = 0) {
        write_word(words_, 0);
        EXPECT_DONE(run(runtime, {kind, words_, value}));
        return word(words_);
    }
    std::uint64_t word(const std::uint64_t* from) {
        std::uint64_t value = 0;
        EXPECT_ACL_OK(aclrtMemcpyAsync(&value, sizeof value, from, sizeof value, ACL_MEMCPY_DEVICE_TO_HOST, stream_));
        EXPECT_ACL_OK(aclrtSynchronizeStream(stream_));
        return value;
    }
    void write_word(std::uint64_t* to, std::uint64_t value) {
        EXPECT_ACL_OK(aclrtMemcpyAsync(to, sizeof value, &value, sizeof value, ACL_MEMCPY_HOST_TO_DEVICE, stream_));
        EXPECT_ACL_OK(aclrtSynchronizeStream(stream_));
    }
    void wait_for_word(const std::uint64_t* from) {
        EXPECT_TRUE(eventually([&] { return word(from) != 0; }));
    }

    canopy::Dispatcher dispatcher_;
    std::uint64_t* words_ = nullptr;  // 16 words
};

}  // namespace conformance
