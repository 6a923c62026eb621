// SPDX-License-Identifier: Apache-2.0
// The host side of the vector add: calls a function of the kernel library and compares every element.
#include <cstdint>
#include <cstdio>
#include <vector>

#include "../device.h"
#include "acl/acl.h"

void LaunchAdd(uint32_t blocks, void* stream, uint8_t* x, uint8_t* y, uint8_t* z, uint32_t count);

constexpr uint32_t COUNT = 1 << 20;
constexpr uint32_t BLOCKS = 8;

int main() {
    const size_t bytes = COUNT * sizeof(float);
    std::vector<float> x(COUNT), y(COUNT), z(COUNT);
    for (uint32_t i = 0; i < COUNT; ++i) {
        x[i] = static_cast<float>(i);
        y[i] = static_cast<float>(2 * i + 1);
    }

    CHECK(aclInit(nullptr));
    CHECK(aclrtSetDevice(0));
    aclrtStream stream = nullptr;
    CHECK(aclrtCreateStream(&stream));
    uint8_t *xDevice = nullptr, *yDevice = nullptr, *zDevice = nullptr;
    CHECK(aclrtMalloc((void**)&xDevice, bytes, ACL_MEM_MALLOC_HUGE_FIRST));
    CHECK(aclrtMalloc((void**)&yDevice, bytes, ACL_MEM_MALLOC_HUGE_FIRST));
    CHECK(aclrtMalloc((void**)&zDevice, bytes, ACL_MEM_MALLOC_HUGE_FIRST));
    CHECK(aclrtMemcpy(xDevice, bytes, x.data(), bytes, ACL_MEMCPY_HOST_TO_DEVICE));
    CHECK(aclrtMemcpy(yDevice, bytes, y.data(), bytes, ACL_MEMCPY_HOST_TO_DEVICE));

    LaunchAdd(BLOCKS, stream, xDevice, yDevice, zDevice, COUNT);
    CHECK(aclrtSynchronizeStream(stream));

    CHECK(aclrtMemcpy(z.data(), bytes, zDevice, bytes, ACL_MEMCPY_DEVICE_TO_HOST));
    uint32_t wrong = 0;
    for (uint32_t i = 0; i < COUNT; ++i) wrong += z[i] == x[i] + y[i] ? 0 : 1;
    std::printf("vector_add_library on %s: %u elements, %u blocks, %u wrong\n", aclrtGetSocName(), COUNT, BLOCKS,
                wrong);
    std::printf("  %.0f + %.0f = %.0f\n", x[1000], y[1000], z[1000]);

    CHECK(aclrtFree(xDevice));
    CHECK(aclrtFree(yDevice));
    CHECK(aclrtFree(zDevice));
    CHECK(aclrtDestroyStream(stream));
    CHECK(aclrtResetDevice(0));
    CHECK(aclFinalize());
    return wrong == 0 ? 0 : 1;
}
