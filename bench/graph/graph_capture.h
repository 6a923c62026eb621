// SPDX-License-Identifier: Apache-2.0
// A captured graph and the events of a capture, for the graph topics.
#pragma once

#include <utility>
#include <vector>

#include "harness/session.h"

namespace bench {

// Captures as a graph what `issue` queues on `stream` and on the streams it adds to the capture.
class CapturedGraph {
public:
    CapturedGraph() = default;
    template <class Issue>
    CapturedGraph(const Stream& stream, Issue&& issue) {
        BENCH_CHECK(aclmdlRICaptureBegin(stream.get(), ACL_MODEL_RI_CAPTURE_MODE_THREAD_LOCAL));
        issue();
        BENCH_CHECK(aclmdlRICaptureEnd(stream.get(), &handle_));
    }
    ~CapturedGraph() {
        if (handle_) aclmdlRIDestroy(handle_);
    }
    CapturedGraph(CapturedGraph&& other) noexcept : handle_(std::exchange(other.handle_, nullptr)) {}
    CapturedGraph& operator=(CapturedGraph&& other) noexcept {
        std::swap(handle_, other.handle_);
        return *this;
    }
    [[nodiscard]] aclmdlRI get() const { return handle_; }
    void replay(const Stream& stream) const { BENCH_CHECK(aclmdlRIExecuteAsync(handle_, stream.get())); }

private:
    aclmdlRI handle_ = nullptr;
};

// Events that order streams; each is recorded once in a run of the work.
class Events {
public:
    explicit Events(std::size_t count) : events_(count) {
        for (aclrtEvent& event : events_) BENCH_CHECK(aclrtCreateEventExWithFlag(&event, ACL_EVENT_SYNC));
    }
    ~Events() {
        for (const aclrtEvent event : events_) aclrtDestroyEvent(event);
    }
    Events(const Events&) = delete;
    Events& operator=(const Events&) = delete;
    // Makes later work on `to` wait for the current work of `from`.
    void order(std::size_t index, const Stream& from, const Stream& to) const {
        record(index, from);
        wait(index, to);
    }
    void record(std::size_t index, const Stream& from) const {
        BENCH_CHECK(aclrtRecordEvent(events_[index], from.get()));
    }
    void wait(std::size_t index, const Stream& to) const {
        BENCH_CHECK(aclrtStreamWaitEvent(to.get(), events_[index]));
    }

private:
    std::vector<aclrtEvent> events_;
};

}  // namespace bench
