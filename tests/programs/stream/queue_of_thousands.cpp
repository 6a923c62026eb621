// SPDX-License-Identifier: Apache-2.0
// Thousands of kernels queued in a row, on the default stream and on a created one.
#include "check.h"

int main() {
    programs::Device device;
    auto* word = programs::to_device(std::vector<std::uint32_t>{0});
    aclrtStream stream = programs::new_stream();
    {
        programs::Kernels kernels;
        CHECK(kernels.launch("add_one", 1, nullptr, word));
        CHECK(aclrtSynchronizeStream(nullptr));
        REQUIRE(programs::to_host(word, 1)[0] == 1);
        CHECK(kernels.launch("add_one", 1, stream, word));
        CHECK(aclrtSynchronizeStream(stream));
        REQUIRE(programs::to_host(word, 1)[0] == 2);
        for (int i = 0; i < 3000; ++i) CHECK(kernels.launch("add_one", 8, stream, word));
        CHECK(aclrtSynchronizeStream(stream));
        aclrtStreamStatus status = ACL_STREAM_STATUS_NOT_READY;
        CHECK(aclrtStreamQuery(stream, &status));
        REQUIRE(status == ACL_STREAM_STATUS_COMPLETE);
    }
    const std::uint32_t found = programs::to_host(word, 1)[0];
    REQUIRE(found == 3002);
    CHECK(aclrtDestroyStreamForce(stream));
    CHECK(aclrtFree(word));
    std::printf("queue_of_thousands: %u\n", found);
}
