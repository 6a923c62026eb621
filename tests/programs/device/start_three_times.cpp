// SPDX-License-Identifier: Apache-2.0
// A process starts and ends the runtime three times, with contexts, streams and memory each time.
#include "check.h"

namespace {

constexpr std::size_t bytes = 1000;

void live_once(int value) {
    programs::Device device;
    aclrtContext context = nullptr;
    CHECK(aclrtCreateContext(&context, 0));
    aclrtStream stream = programs::new_stream();
    void *memory = nullptr, *host = nullptr;
    CHECK(aclrtMalloc(&memory, bytes, ACL_MEM_MALLOC_NORMAL_ONLY));
    CHECK(aclrtMallocHost(&host, bytes));
    CHECK(aclrtMemsetAsync(memory, bytes, value, bytes, stream));
    CHECK(aclrtMemcpyAsync(host, bytes, memory, bytes, ACL_MEMCPY_DEVICE_TO_HOST, stream));
    CHECK(aclrtSynchronizeStream(stream));
    for (std::size_t i = 0; i < bytes; ++i) REQUIRE(static_cast<const char*>(host)[i] == value);
    CHECK(aclrtFreeHost(host));
    CHECK(aclrtFree(memory));
    CHECK(aclrtDestroyStream(stream));
    CHECK(aclrtDestroyContext(context));
}

}  // namespace

int main() {
    for (int life = 1; life <= 3; ++life) live_once(life);
    std::printf("start_three_times: 3 lives\n");
}
