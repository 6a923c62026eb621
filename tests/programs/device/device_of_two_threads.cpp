// SPDX-License-Identifier: Apache-2.0
// Two threads set the same device and share its default context; the second one resets it for both.
#include "check.h"

int main() {
    CHECK(aclInit(nullptr));
    CHECK(aclrtSetDevice(0));
    aclrtContext own = nullptr, theirs = nullptr;
    CHECK(aclrtGetCurrentContext(&own));
    void* memory = nullptr;
    CHECK(aclrtMalloc(&memory, 4, ACL_MEM_MALLOC_HUGE_FIRST));
    std::thread worker([&] {
        std::int32_t number = -1;
        REQUIRE(aclrtGetDevice(&number) != ACL_SUCCESS);  // a new thread has no device
        CHECK(aclrtSetDevice(0));
        CHECK(aclrtGetDevice(&number));
        REQUIRE(number == 0);
        CHECK(aclrtGetCurrentContext(&theirs));
        CHECK(aclrtMemset(memory, 4, 5, 4));
        std::uint32_t word = 0;
        CHECK(aclrtMemcpy(&word, 4, memory, 4, ACL_MEMCPY_DEVICE_TO_HOST));
        REQUIRE(word == 0x05050505);
        CHECK(aclrtFree(memory));
        CHECK(aclrtResetDeviceForce(0));
    });
    worker.join();
    REQUIRE(own == theirs);
    CHECK(aclFinalize());
    std::printf("device_of_two_threads: one context\n");
}
