// SPDX-License-Identifier: Apache-2.0
// Events between processes: one consumer on the same device, then up to eight on other devices. The producer records
// behind a wait that the host releases, so every consumer's stream really waits; consumers record the event again.
#include "partner.h"

namespace {

constexpr std::uint32_t most_consumers = 8;

aclrtEventRecordedStatus status_of(aclrtEvent event) {
    aclrtEventRecordedStatus status = ACL_EVENT_RECORDED_STATUS_NOT_READY;
    CHECK(aclrtQueryEventStatus(event, &status));
    return status;
}

int consume() {
    const programs::Line other = programs::starter();
    const auto number = other.get<std::int32_t>();
    programs::Device device(number);
    const auto handle = other.get<aclrtIpcEventHandle>();
    aclrtEvent event = nullptr;
    CHECK(aclrtIpcOpenEventHandle(handle, &event));
    aclrtStream stream = programs::new_stream();
    CHECK(aclrtStreamWaitEvent(stream, event));
    CHECK_CODE(ACL_ERROR_RT_STREAM_SYNC_TIMEOUT, aclrtSynchronizeStreamWithTimeout(stream, 1));
    other.tell();  // its stream waits
    CHECK(aclrtSynchronizeStream(stream));
    CHECK(aclrtRecordEvent(event, stream));
    CHECK(aclrtSynchronizeEvent(event));
    CHECK(aclrtDestroyEvent(event));
    CHECK(aclrtDestroyStream(stream));
    other.tell();
    return 0;
}

void produce(std::uint32_t consumers, std::uint32_t devices) {
    aclrtStream stream = programs::new_stream();
    aclrtEvent event = nullptr;
    CHECK(aclrtCreateEventExWithFlag(&event, ACL_EVENT_IPC));
    aclrtNotify held = nullptr;
    CHECK(aclrtCreateNotify(&held, 0));
    CHECK(aclrtWaitAndResetNotify(held, stream, 0));
    CHECK(aclrtRecordEvent(event, stream));
    aclrtIpcEventHandle handle;
    CHECK(aclrtIpcGetEventHandle(event, &handle));
    {
        std::vector<programs::Partner> partners;
        partners.reserve(consumers);
        for (std::uint32_t i = 0; i < consumers; ++i) {
            partners.emplace_back("consume");
            partners.back().give(static_cast<std::int32_t>(i % devices));
            partners.back().give(handle);
        }
        for (const programs::Partner& partner : partners) partner.wait();
        aclrtStream release = programs::new_stream();
        CHECK(aclrtRecordNotify(held, release));
        for (const programs::Partner& partner : partners) partner.wait();
        CHECK(aclrtDestroyStream(release));
    }
    CHECK(aclrtSynchronizeStream(stream));
    CHECK(aclrtSynchronizeEvent(event));
    REQUIRE(status_of(event) == ACL_EVENT_RECORDED_STATUS_COMPLETE);
    CHECK(aclrtDestroyEvent(event));
    CHECK(aclrtDestroyNotify(held));
    CHECK(aclrtDestroyStream(stream));
}

}  // namespace

int main(int count, char**) {
    if (count > 1) return consume();
    programs::Device device;
    std::uint32_t devices = 0;
    CHECK(aclrtGetDeviceCount(&devices));
    produce(1, 1);
    produce(most_consumers, devices);
    std::printf("events: one consumer, then %u on %u devices\n", most_consumers, devices);
}
