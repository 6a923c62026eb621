// SPDX-License-Identifier: Apache-2.0
// Two threads with a stream each: one stream waits in device memory for the value that the other one writes.
#include "check.h"

int main() {
    programs::Device device;
    auto* flag = programs::to_device(std::vector<std::uint64_t>{0});
    void* host = nullptr;
    CHECK(aclrtMallocHost(&host, sizeof(std::uint64_t)));
    std::thread waiter([&] {
        CHECK(aclrtSetDevice(0));
        aclrtStream stream = programs::new_stream();
        CHECK(aclrtValueWait(flag, 123, ACL_STREAM_WAIT_VALUE_EQ, stream));
        CHECK(aclrtMemcpyAsync(host, 8, flag, 8, ACL_MEMCPY_DEVICE_TO_HOST, stream));
        CHECK(aclrtSynchronizeStream(stream));
        CHECK(aclrtDestroyStreamForce(stream));
        CHECK(aclrtResetDevice(0));
    });
    std::thread writer([&] {
        CHECK(aclrtSetDevice(0));
        aclrtStream stream = programs::new_stream();
        CHECK(aclrtValueWrite(flag, 100, 0, stream));
        CHECK(aclrtValueWrite(flag, 123, 0, stream));
        CHECK(aclrtSynchronizeStream(stream));
        CHECK(aclrtDestroyStreamForce(stream));
        CHECK(aclrtResetDevice(0));
    });
    waiter.join();
    writer.join();
    std::uint64_t found = 0;
    std::memcpy(&found, host, sizeof(found));
    REQUIRE(found == 123);
    CHECK(aclrtFreeHost(host));
    CHECK(aclrtFree(flag));
    std::printf("word_between_streams: 123\n");
}
