// SPDX-License-Identifier: Apache-2.0
// The states of an event: not recorded, recorded after work that is still running, complete.
#include "check.h"

namespace {

aclrtEventRecordedStatus state(aclrtEvent event) {
    aclrtEventRecordedStatus status = ACL_EVENT_RECORDED_STATUS_COMPLETE;
    CHECK(aclrtQueryEventStatus(event, &status));
    return status;
}

}  // namespace

int main() {
    programs::Device device;
    aclrtContext context = nullptr;
    CHECK(aclrtCreateContext(&context, 0));
    aclrtStream stream = programs::new_stream();
    aclrtEvent event = nullptr;
    CHECK(aclrtCreateEvent(&event));
    auto* word = programs::to_device(std::vector<std::uint32_t>{0});
    {
        programs::Kernels kernels;
        programs::Signal running, told;
        REQUIRE(state(event) == ACL_EVENT_RECORDED_STATUS_NOT_READY);
        CHECK(kernels.launch("run_until_told", 1, stream, running.on_device(), told.on_device()));
        CHECK(kernels.launch("add_one", 1, stream, word));
        CHECK(aclrtRecordEvent(event, stream));
        running.wait();
        REQUIRE(state(event) == ACL_EVENT_RECORDED_STATUS_NOT_READY);
        told.set();
        CHECK(aclrtSynchronizeEvent(event));
        REQUIRE(state(event) == ACL_EVENT_RECORDED_STATUS_COMPLETE);
        REQUIRE(programs::to_host(word, 1)[0] == 1);
    }
    CHECK(aclrtFree(word));
    CHECK(aclrtDestroyEvent(event));
    CHECK(aclrtDestroyStreamForce(stream));
    CHECK(aclrtDestroyContext(context));
    std::printf("event_states: 0 0 1\n");
}
