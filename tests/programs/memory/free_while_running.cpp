// SPDX-License-Identifier: Apache-2.0
// Memory is freed while a kernel still writes to it; the kernel must not reach newly allocated memory.
#include "check.h"

namespace {

constexpr std::uint32_t count = 1u << 16;

}  // namespace

int main() {
    programs::Device device;
    aclrtStream stream = programs::new_stream();
    {
        programs::Kernels kernels;
        for (int round = 0; round < 20; ++round) {
            auto* words = programs::to_device(std::vector<std::uint32_t>(count, 1));
            CHECK(kernels.launch("write_often", 1, stream, words, count, 50u));
            CHECK(aclrtFree(words));
            const std::vector<std::uint32_t> clean(count, 0xabcd);
            auto* fresh = programs::to_device(clean);  // possibly at the same address
            CHECK(aclrtSynchronizeStream(stream));
            REQUIRE(programs::to_host(fresh, count) == clean);
            CHECK(aclrtFree(fresh));
        }
    }
    CHECK(aclrtDestroyStreamForce(stream));
    std::printf("free_while_running: 20 rounds\n");
}
