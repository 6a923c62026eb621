// SPDX-License-Identifier: Apache-2.0
// The program of the kernel libraries: plain C++, compiled by the host's compiler. It sees functions, not kernels.
#include <cstdint>
#include <cstdio>
#include <vector>

#include "../device.h"
#include "acl/acl.h"
#include "operations.h"

int main() {
    const uint32_t count = 100000;
    std::vector<float> values(count);
    for (uint32_t i = 0; i < count; ++i) values[i] = static_cast<float>(i);

    CHECK(aclInit(nullptr));
    CHECK(aclrtSetDevice(0));
    aclrtStream stream = nullptr;
    CHECK(aclrtCreateStream(&stream));
    float* device = CopyToDevice(values);

    Scale(device, count, 2.0f, stream);
    Shift(device, count, 1.0f, stream);
    CHECK(aclrtSynchronizeStream(stream));
    const std::vector<float> result = CopyToHost(device, count);

    uint32_t wrong = 0;
    for (uint32_t i = 0; i < count; ++i) wrong += result[i] == 2.0f * values[i] + 1.0f ? 0 : 1;
    std::printf("kernel_libraries: %u elements, %u wrong\n", count, wrong);

    CHECK(aclrtFree(device));
    CHECK(aclrtDestroyStream(stream));
    CHECK(aclrtResetDevice(0));
    CHECK(aclFinalize());
    return wrong == 0 ? 0 : 1;
}
