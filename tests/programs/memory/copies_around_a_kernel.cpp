// SPDX-License-Identifier: Apache-2.0
// A kernel writes a word, copies move it, kernels change it: in one stream, and with copies outside any stream.
#include "check.h"

int main() {
    programs::Device device;
    aclrtStream stream = programs::new_stream();
    auto* first = programs::to_device(std::vector<std::uint32_t>{0});
    auto* second = programs::to_device(std::vector<std::uint32_t>{0});
    void* host = nullptr;
    CHECK(aclrtMallocHost(&host, 4));
    {
        programs::Kernels kernels;
        CHECK(kernels.launch("set_to", 1, stream, first, 123u));
        CHECK(aclrtMemcpyAsync(second, 4, first, 4, ACL_MEMCPY_DEVICE_TO_DEVICE, stream));
        CHECK(kernels.launch("add_one", 1, stream, second));
        CHECK(aclrtMemcpyAsync(host, 4, second, 4, ACL_MEMCPY_DEVICE_TO_HOST, stream));
        CHECK(aclrtSynchronizeStream(stream));
        REQUIRE(*static_cast<std::uint32_t*>(host) == 124);
        // No synchronisation between the kernel and the copy, but the copy still sees what the kernel wrote.
        CHECK(kernels.launch("set_to", 1, stream, first, 55u));
        CHECK(aclrtMemcpy(second, 4, first, 4, ACL_MEMCPY_DEVICE_TO_DEVICE));
        REQUIRE(programs::to_host(second, 1)[0] == 55);
    }
    CHECK(aclrtFreeHost(host));
    CHECK(aclrtFree(first));
    CHECK(aclrtFree(second));
    CHECK(aclrtDestroyStreamForce(stream));
    std::printf("copies_around_a_kernel: 124 55\n");
}
