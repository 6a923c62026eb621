// SPDX-License-Identifier: Apache-2.0
// Events that remain real at every replay: a graph waits for a stream, a stream waits for a graph, and a graph waits
// for another graph. Each time the waiting side copies what the other side has copied before.
#include "check.h"

namespace {

constexpr std::size_t count = 1024, bytes = count * sizeof(std::uint32_t);

// Three buffers in a row: data goes from the first to the second, an event announces it, and it goes on to the third.
class Chain {
public:
    Chain() {
        for (std::uint32_t*& buffer : buffers_) buffer = programs::to_device(std::vector<std::uint32_t>(count));
        CHECK(aclrtCreateEventExWithFlag(&event_, ACL_EVENT_SYNC));
    }
    ~Chain() {
        for (std::uint32_t* buffer : buffers_) CHECK(aclrtFree(buffer));
        CHECK(aclrtDestroyEvent(event_));
    }
    Chain(const Chain&) = delete;
    Chain& operator=(const Chain&) = delete;

    void fill(std::uint32_t value) {
        const std::vector<std::uint32_t> values(count, value);
        CHECK(aclrtMemcpy(buffers_[0], bytes, values.data(), bytes, ACL_MEMCPY_HOST_TO_DEVICE));
    }
    void check(std::uint32_t value) const {
        REQUIRE((programs::to_host(buffers_[2], count) == std::vector<std::uint32_t>(count, value)));
    }
    void copy_first(aclrtStream stream) { copy(0, stream); }
    void copy_second(aclrtStream stream) { copy(1, stream); }
    aclrtEvent event() const { return event_; }

    aclmdlRI graph_that_records(aclrtStream stream) {
        CHECK(aclmdlRICaptureBegin(stream, ACL_MODEL_RI_CAPTURE_MODE_GLOBAL));
        copy_first(stream);
        CHECK(aclrtRecordEventWithFlag(event_, stream, ACL_EVENT_RECORD_EXTERNAL));
        return end(stream);
    }
    aclmdlRI graph_that_waits(aclrtStream stream) {
        CHECK(aclmdlRICaptureBegin(stream, ACL_MODEL_RI_CAPTURE_MODE_GLOBAL));
        CHECK(aclrtStreamWaitEventWithFlag(stream, event_, 0, ACL_EVENT_WAIT_EXTERNAL));
        copy_second(stream);
        return end(stream);
    }

private:
    void copy(std::size_t from, aclrtStream stream) {
        CHECK(aclrtMemcpyAsync(buffers_[from + 1], bytes, buffers_[from], bytes, ACL_MEMCPY_DEVICE_TO_DEVICE, stream));
    }
    static aclmdlRI end(aclrtStream stream) {
        aclmdlRI graph = nullptr;
        CHECK(aclmdlRICaptureEnd(stream, &graph));
        return graph;
    }
    std::uint32_t* buffers_[3] = {};
    aclrtEvent event_ = nullptr;
};

void stream_before_graph(aclrtStream first, aclrtStream second) {
    Chain chain;
    const aclmdlRI graph = chain.graph_that_waits(second);
    for (std::uint32_t round = 1; round <= 3; ++round) {
        chain.fill(round);
        chain.copy_first(first);
        CHECK(aclrtRecordEvent(chain.event(), first));
        CHECK(aclmdlRIExecuteAsync(graph, second));
        CHECK(aclrtSynchronizeStream(second));
        chain.check(round);
    }
    CHECK(aclmdlRIDestroy(graph));
}

void graph_before_stream(aclrtStream first, aclrtStream second) {
    Chain chain;
    const aclmdlRI graph = chain.graph_that_records(first);
    for (std::uint32_t round = 1; round <= 3; ++round) {
        chain.fill(10 + round);
        CHECK(aclmdlRIExecuteAsync(graph, first));
        CHECK(aclrtStreamWaitEvent(second, chain.event()));
        chain.copy_second(second);
        CHECK(aclrtSynchronizeStream(second));
        chain.check(10 + round);
    }
    CHECK(aclrtSynchronizeStream(first));  // the replay ends after its record
    CHECK(aclmdlRIDestroy(graph));
}

void graph_before_graph(aclrtStream first, aclrtStream second) {
    Chain chain;
    const aclmdlRI records = chain.graph_that_records(first), waits = chain.graph_that_waits(second);
    for (std::uint32_t round = 1; round <= 3; ++round) {
        chain.fill(20 + round);
        CHECK(aclmdlRIExecuteAsync(records, first));
        CHECK(aclmdlRIExecuteAsync(waits, second));
        CHECK(aclrtSynchronizeStream(second));
        chain.check(20 + round);
    }
    CHECK(aclrtSynchronizeStream(first));
    CHECK(aclmdlRIDestroy(records));
    CHECK(aclmdlRIDestroy(waits));
}

}  // namespace

int main() {
    programs::Device device;
    aclrtContext context = nullptr;
    CHECK(aclrtCreateContext(&context, 0));
    aclrtStream first = programs::new_stream(), second = programs::new_stream();
    stream_before_graph(first, second);
    graph_before_stream(first, second);
    graph_before_graph(first, second);
    for (aclrtStream stream : {first, second}) CHECK(aclrtDestroyStream(stream));
    CHECK(aclrtDestroyContext(context));
    std::printf("model_sync_external: three ways, three rounds each\n");
}
