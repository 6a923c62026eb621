// SPDX-License-Identifier: Apache-2.0
// What the tests of captured graphs share: a few streams, events of every kind, a counter that kernels raise, and a log
// they write their numbers into.
#pragma once

#include <thread>

#include "fixture.h"
#include "holding.h"

namespace conformance {

class CaptureTest : public KernelTest {
protected:
    static constexpr auto global = ACL_MODEL_RI_CAPTURE_MODE_GLOBAL;
    static constexpr auto thread_local_ = ACL_MODEL_RI_CAPTURE_MODE_THREAD_LOCAL;
    static constexpr auto relaxed = ACL_MODEL_RI_CAPTURE_MODE_RELAXED;

    void SetUp() override {
        KernelTest::SetUp();
        ASSERT_ACL_OK(aclrtCreateStream(&other_));
        ASSERT_ACL_OK(aclrtCreateStream(&third_));
        counter_ = device_array<uint32_t>({0});
        log_ = device_array(std::vector<uint32_t>(1024, 0));
    }
    void TearDown() override {
        for (aclrtEvent event : events_) EXPECT_ACL_OK(aclrtDestroyEvent(event));
        for (aclmdlRI graph : graphs_) EXPECT_ACL_OK(aclmdlRIDestroy(graph));
        for (aclrtStream stream : {other_, third_})
            if (stream) EXPECT_ACL_OK(aclrtDestroyStream(stream));
        KernelTest::TearDown();
    }
    aclrtEvent event(uint32_t flag = ACL_EVENT_SYNC) {
        aclrtEvent made = nullptr;
        EXPECT_ACL_OK(flag == ACL_EVENT_EXTERNAL ? aclrtCreateEventWithFlag(&made, flag)
                                                 : aclrtCreateEventExWithFlag(&made, flag));
        events_.push_back(made);
        return made;
    }
    aclrtEvent plain_event() {
        aclrtEvent made = nullptr;
        EXPECT_ACL_OK(aclrtCreateEvent(&made));
        events_.push_back(made);
        return made;
    }
    aclError increment(aclrtStream stream) { return launch("increment", 1, stream, counter_); }
    aclError append(aclrtStream stream, uint32_t number) { return launch("append", 1, stream, log_, number); }

    // Lets `from` go on only after what `to` has got so far.
    void join(aclrtStream from, aclrtStream to) {
        aclrtEvent between = event();
        EXPECT_ACL_OK(aclrtRecordEvent(between, from));
        EXPECT_ACL_OK(aclrtStreamWaitEvent(to, between));
    }
    void begin(aclmdlRICaptureMode mode = thread_local_) { ASSERT_ACL_OK(aclmdlRICaptureBegin(stream_, mode)); }
    // Ends the capture of stream_; the graph is destroyed at the end of the test.
    aclmdlRI end() {
        aclmdlRI graph = nullptr;
        EXPECT_ACL_OK(aclmdlRICaptureEnd(stream_, &graph));
        if (graph) graphs_.push_back(graph);
        return graph;
    }
    // The capture of stream_ fails with that code and says so; afterwards the stream works.
    void expect_end_fails(int code, const std::string& words) {
        aclmdlRI graph = &code;
        EXPECT_ACL_FAILS(code, words, aclmdlRICaptureEnd(stream_, &graph));
        EXPECT_EQ(graph, nullptr);
        expect_usable(stream_);
    }
    void expect_usable(aclrtStream stream) {
        EXPECT_EQ(status(stream), ACL_MODEL_RI_CAPTURE_STATUS_NONE);
        const uint32_t before = count();
        EXPECT_ACL_OK(increment(stream));
        EXPECT_ACL_OK(aclrtSynchronizeStream(stream));
        if (device_computes()) EXPECT_EQ(count(), before + 1);
    }
    static aclmdlRICaptureStatus status(aclrtStream stream) {
        auto found = ACL_MODEL_RI_CAPTURE_STATUS_NONE;
        EXPECT_ACL_OK(aclmdlRICaptureGetInfo(stream, &found, nullptr));
        return found;
    }
    void replay(aclmdlRI graph, aclrtStream stream) {
        EXPECT_ACL_OK(aclmdlRIExecuteAsync(graph, stream));
        EXPECT_ACL_OK(aclrtSynchronizeStream(stream));
    }
    uint32_t count() { return read_back(counter_, 1)[0]; }
    // What was appended since the last call.
    std::vector<uint32_t> take_log() {
        std::vector<uint32_t> all = read_back(log_, 1024);
        EXPECT_ACL_OK(aclrtMemset(log_, 4096, 0, 4096));
        return {all.begin() + 1, all.begin() + 1 + all[0]};
    }
    static int32_t id(aclrtStream stream) {
        int32_t number = -1;
        EXPECT_ACL_OK(aclrtStreamGetId(stream, &number));
        return number;
    }
    static uint32_t id_of_event(aclrtEvent event) {
        uint32_t number = 0;
        EXPECT_ACL_OK(aclrtGetEventId(event, &number));
        return number;
    }
    // Calls it on a thread of its own, with device 0 set.
    template <class Call>
    static auto elsewhere(Call&& call) {
        decltype(call()) result{};
        std::thread thread([&] {
            EXPECT_ACL_OK(aclrtSetDevice(0));
            result = call();
            EXPECT_ACL_OK(aclrtResetDevice(0));
        });
        thread.join();
        return result;
    }

    aclrtStream other_ = nullptr, third_ = nullptr;
    uint32_t* counter_ = nullptr;
    uint32_t* log_ = nullptr;
    std::vector<aclmdlRI> graphs_;

private:
    std::vector<aclrtEvent> events_;
};

}  // namespace conformance
