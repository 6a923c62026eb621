// SPDX-License-Identifier: Apache-2.0
// Pinned host buffers that a kernel reads and writes in place.
#include "check.h"

namespace {

constexpr std::uint32_t count = 8 * 2048;
constexpr std::size_t bytes = count * sizeof(float);

struct Buffer {
    Buffer() {
        CHECK(aclrtMallocHost(&host, bytes));
        CHECK(aclrtHostRegisterV2(host, bytes, ACL_HOST_REG_MAPPED));
        CHECK(aclrtHostGetDevicePointer(host, &device, 0));
    }
    ~Buffer() {
        CHECK(aclrtHostUnregister(host));
        CHECK(aclrtFreeHost(host));
    }
    Buffer(const Buffer&) = delete;
    Buffer& operator=(const Buffer&) = delete;
    float& operator[](std::uint32_t i) { return static_cast<float*>(host)[i]; }

    void *host = nullptr, *device = nullptr;
};

}  // namespace

int main() {
    programs::Device device;
    aclrtStream stream = programs::new_stream();
    {
        programs::Kernels kernels;
        Buffer x, y, sum;
        for (std::uint32_t i = 0; i < count; ++i) {
            x[i] = static_cast<float>(i);
            y[i] = static_cast<float>(i % 7);
            sum[i] = -1;
        }
        CHECK(kernels.launch("add_vectors", 8, stream, x.device, y.device, sum.device, count));
        CHECK(aclrtSynchronizeStream(stream));
        for (std::uint32_t i = 0; i < count; ++i) REQUIRE(sum[i] == x[i] + y[i]);
    }
    CHECK(aclrtDestroyStream(stream));
    std::printf("zero_copy: %u sums\n", count);
}
