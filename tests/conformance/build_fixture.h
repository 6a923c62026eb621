// SPDX-License-Identifier: Apache-2.0
// What the tests of built graphs share: a model that is being built, persistent streams, a log that kernels write their
// numbers into.
#pragma once

#include "fixture.h"
#include "holding.h"

namespace conformance {

class BuildTest : public KernelTest {
protected:
    static constexpr uint32_t head = 0, later = 0x7FFFFFFF;

    void SetUp() override {
        KernelTest::SetUp();
        log_ = device_array(std::vector<uint32_t>(1024, 0));
        ASSERT_ACL_OK(aclmdlRIBuildBegin(&model_, 0));
    }
    void TearDown() override {
        if (model_) EXPECT_ACL_OK(aclmdlRIDestroy(model_));
        for (aclrtEvent event : events_) EXPECT_ACL_OK(aclrtDestroyEvent(event));
        for (aclrtStream stream : persistent_) EXPECT_ACL_OK(aclrtDestroyStream(stream));
        KernelTest::TearDown();
    }
    aclrtStream persistent() {
        aclrtStream stream = nullptr;
        EXPECT_ACL_OK(aclrtCreateStreamWithConfig(&stream, 0, ACL_STREAM_PERSISTENT));
        persistent_.push_back(stream);
        return stream;
    }
    aclrtStream bound(uint32_t flag = head) {
        aclrtStream stream = persistent();
        EXPECT_ACL_OK(aclmdlRIBindStream(model_, stream, flag));
        return stream;
    }
    aclrtEvent event() {
        aclrtEvent made = nullptr;
        EXPECT_ACL_OK(aclrtCreateEventWithFlag(&made, ACL_EVENT_SYNC));
        events_.push_back(made);
        return made;
    }
    aclError append(aclrtStream stream, uint32_t number) { return launch("append", 1, stream, log_, number); }
    void finish(aclrtStream last) {
        EXPECT_ACL_OK(aclmdlRIEndTask(model_, last));
        EXPECT_ACL_OK(aclmdlRIBuildEnd(model_, nullptr));
    }
    void replay() {
        EXPECT_ACL_OK(aclmdlRIExecuteAsync(model_, stream_));
        EXPECT_ACL_OK(aclrtSynchronizeStream(stream_));
    }
    // What was appended since the last call.
    std::vector<uint32_t> take_log() {
        std::vector<uint32_t> all = read_back(log_, 1024);
        EXPECT_ACL_OK(aclrtMemset(log_, 4096, 0, 4096));
        return {all.begin() + 1, all.begin() + 1 + all[0]};
    }
    // One replay writes these numbers.
    void expect_replay(const std::vector<uint32_t>& numbers) {
        replay();
        if (device_computes()) EXPECT_EQ(take_log(), numbers);
    }
    template <class T>
    void write(T* device, T value) {
        EXPECT_ACL_OK(aclrtMemcpy(device, sizeof(T), &value, sizeof(T), ACL_MEMCPY_HOST_TO_DEVICE));
    }

    aclmdlRI model_ = nullptr;
    uint32_t* log_ = nullptr;
    std::vector<aclrtStream> persistent_;

private:
    std::vector<aclrtEvent> events_;
};

}  // namespace conformance
