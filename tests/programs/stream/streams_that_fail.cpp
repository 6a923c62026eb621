// SPDX-License-Identifier: Apache-2.0
// Streams that continue after a failure and streams that stop, one that is aborted, one that is told to stop, and a
// callback that observes them all.
#include <atomic>

#include "check.h"

namespace {

std::atomic<int> made{0}, ended{0};

void on_stream(aclrtStream, aclrtStreamState state, void*) {
    (state == ACL_RT_STREAM_STATE_CREATE_POST ? made : ended).fetch_add(1);
}

// Queues work, a failure and more work in a separate context, and returns the counter.
std::uint32_t count_around_a_failure(std::uint64_t mode) {
    aclrtContext context = nullptr;
    CHECK(aclrtCreateContext(&context, 0));
    aclrtStream stream = programs::new_stream();
    auto* word = programs::to_device(std::vector<std::uint32_t>{0});
    CHECK(aclrtSetStreamFailureMode(stream, mode));
    std::uint32_t found = 0;
    {
        programs::Kernels kernels;
        programs::Signal running, told;
        CHECK(kernels.launch("run_until_told", 1, stream, running.on_device(), told.on_device()));
        CHECK(kernels.launch("add_one", 1, stream, word));
        CHECK(kernels.launch("fail", 1, stream));
        CHECK(kernels.launch("add_one", 1, stream, word));
        told.set();  // everything is queued before the failure
        CHECK_CODE(ACL_ERROR_RT_VECTOR_CORE_EXCEPTION, aclrtSynchronizeStream(stream));
        found = programs::to_host(word, 1)[0];
    }
    aclrtStream another = programs::new_stream();
    CHECK(aclrtDestroyStreamForce(another));
    CHECK(aclrtFree(word));
    CHECK(aclrtDestroyStreamForce(stream));
    CHECK(aclrtDestroyContext(context));
    return found;
}

void end_running_work(aclError (*end)(aclrtStream)) {
    aclrtContext context = nullptr;
    CHECK(aclrtCreateContext(&context, 0));
    aclrtStream stream = programs::new_stream();
    auto* word = programs::to_device(std::vector<std::uint32_t>{0});
    {
        programs::Kernels kernels;
        programs::Signal running, never;
        CHECK(kernels.launch("run_until_told", 1, stream, running.on_device(), never.on_device()));
        CHECK(kernels.launch("add_one", 1, stream, word));
        running.wait();
        CHECK(end(stream));
        REQUIRE(aclrtSynchronizeStream(stream) != ACL_SUCCESS);
        CHECK(aclrtDestroyStreamForce(stream));
    }
    CHECK(aclrtFree(word));
    CHECK(aclrtDestroyContext(context));
}

}  // namespace

int main() {
    programs::Device device;
    CHECK(aclrtRegStreamStateCallback("streams_that_fail", on_stream, nullptr));
    const std::uint32_t going_on = count_around_a_failure(ACL_CONTINUE_ON_FAILURE);
    const std::uint32_t stopping = count_around_a_failure(ACL_STOP_ON_FAILURE);
    REQUIRE(going_on == 2 && stopping == 1);
    end_running_work(aclrtStreamAbort);
    end_running_work(aclrtStreamStop);
    CHECK(aclrtRegStreamStateCallback("streams_that_fail", nullptr, nullptr));
    REQUIRE(made.load() >= 6 && ended.load() >= 6);
    std::printf("streams_that_fail: %u going on, %u stopping\n", going_on, stopping);
}
