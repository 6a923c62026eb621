// SPDX-License-Identifier: Apache-2.0
// What the tests of the dispatcher share: an open dispatcher, and words in device memory.
#pragma once

#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "canopy/dispatcher.h"
#include "fixture.h"
#include "inner_work.h"

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
    // The word that a runtime writes.
    std::uint64_t answer_of(std::uint64_t runtime, InnerWork::Kind kind, std::uint64_t value = 0) {
        EXPECT_ACL_OK(aclrtMemset(words_, sizeof(std::uint64_t), 0, sizeof(std::uint64_t)));
        EXPECT_DONE(run(runtime, {kind, words_, value}));
        EXPECT_ACL_OK(aclrtSynchronizeStream(stream_));
        return read_back(words_, 1)[0];
    }
    void write_word(std::uint64_t* to, std::uint64_t value) {
        EXPECT_ACL_OK(aclrtMemcpy(to, sizeof value, &value, sizeof value, ACL_MEMCPY_HOST_TO_DEVICE));
    }
    void wait_for_word(const std::uint64_t* word) {
        while (read_back(word, 1)[0] == 0) std::this_thread::yield();
    }

    canopy::Dispatcher dispatcher_;
    std::uint64_t* words_ = nullptr;  // 16 of them
};

}  // namespace conformance
