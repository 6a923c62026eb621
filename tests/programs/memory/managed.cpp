// SPDX-License-Identifier: Apache-2.0
// Managed memory: the same pointers on the host and in a kernel, without copies.
#include "check.h"

namespace {

constexpr std::uint32_t count = 8 * 2048;

float* managed() {
    void* memory = nullptr;
    CHECK(aclrtMemAllocManaged(&memory, count * sizeof(float), ACL_RT_MEM_ATTACH_GLOBAL));
    return static_cast<float*>(memory);
}

}  // namespace

int main() {
    programs::Device device;
    aclrtStream stream = programs::new_stream();
    float *x = managed(), *y = managed(), *sum = managed();
    {
        programs::Kernels kernels;
        for (std::uint32_t round = 0; round < 3; ++round) {
            for (std::uint32_t i = 0; i < count; ++i) {
                x[i] = static_cast<float>(i + round);
                y[i] = static_cast<float>(2 * i);
            }
            CHECK(kernels.launch("add_vectors", 8, stream, x, y, sum, count));
            CHECK(aclrtSynchronizeStream(stream));
            for (std::uint32_t i = 0; i < count; ++i) REQUIRE(sum[i] == static_cast<float>(3 * i + round));
        }
    }
    for (float* memory : {x, y, sum}) CHECK(aclrtFree(memory));
    CHECK(aclrtDestroyStreamForce(stream));
    std::printf("managed: 3 rounds of %u sums\n", count);
}
