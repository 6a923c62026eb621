// SPDX-License-Identifier: Apache-2.0
// Three events around two pieces of work: their timestamps increase and agree with the elapsed times.
#include <cmath>

#include "check.h"

int main() {
    programs::Device device;
    aclrtStream stream = programs::new_stream();
    aclrtEvent events[3] = {};
    for (aclrtEvent& event : events) CHECK(aclrtCreateEvent(&event));
    auto* words = programs::to_device(std::vector<std::uint32_t>(1024, 1));
    float elapsed[2] = {-1, -1};
    std::uint64_t times[3] = {};
    {
        programs::Kernels kernels;
        REQUIRE(aclrtEventElapsedTime(&elapsed[0], events[0], events[1]) != ACL_SUCCESS);  // nothing recorded yet
        CHECK(aclrtRecordEvent(events[0], stream));
        CHECK(kernels.launch("times_two", 1, stream, words));
        CHECK(aclrtRecordEvent(events[1], stream));
        CHECK(kernels.launch("write_often", 1, stream, words, 1024u, 2000u));
        CHECK(aclrtRecordEvent(events[2], stream));
        CHECK(aclrtSynchronizeStream(stream));
        for (int i = 0; i < 3; ++i) CHECK(aclrtEventGetTimestamp(events[i], &times[i]));
        for (int i = 0; i < 2; ++i) CHECK(aclrtEventElapsedTime(&elapsed[i], events[i], events[i + 1]));
    }
    REQUIRE(times[0] <= times[1] && times[1] <= times[2]);
    for (int i = 0; i < 2; ++i) {
        const double between = static_cast<double>(times[i + 1] - times[i]) / 1000;
        REQUIRE(std::abs(static_cast<double>(elapsed[i]) - between) < 0.01);  // timestamps are in whole microseconds
    }
    for (aclrtEvent event : events) CHECK(aclrtDestroyEvent(event));
    CHECK(aclrtFree(words));
    CHECK(aclrtDestroyStreamForce(stream));
    std::printf("event_times: %.3f ms and %.3f ms\n", static_cast<double>(elapsed[0]), static_cast<double>(elapsed[1]));
}
