// SPDX-License-Identifier: Apache-2.0
// The saturation mode of a device, the overflow switch of a stream, and the overflow status of the device.
#include <algorithm>

#include "check.h"

int main() {
    programs::Device device;
    aclrtFloatOverflowMode mode = ACL_RT_OVERFLOW_MODE_UNDEF;
    CHECK(aclrtGetDeviceSatMode(&mode));
    REQUIRE(mode == ACL_RT_OVERFLOW_MODE_INFNAN);
    CHECK(aclrtSetDeviceSatMode(ACL_RT_OVERFLOW_MODE_SATURATION));
    CHECK(aclrtGetDeviceSatMode(&mode));
    REQUIRE(mode == ACL_RT_OVERFLOW_MODE_SATURATION);

    aclrtStream stream = programs::new_stream();
    std::uint32_t enabled = 1;
    CHECK(aclrtGetStreamOverflowSwitch(stream, &enabled));
    REQUIRE(enabled == 0);
    CHECK(aclrtSetStreamOverflowSwitch(stream, 1));
    CHECK(aclrtGetStreamOverflowSwitch(stream, &enabled));
    REQUIRE(enabled == 1);

    auto* status = programs::to_device(std::vector<std::uint8_t>(64, 0xff));
    CHECK(aclrtResetOverflowStatus(stream));
    CHECK(aclrtGetOverflowStatus(status, 64, stream));
    CHECK(aclrtSynchronizeStream(stream));
    const auto bytes = programs::to_host(status, 64);
    REQUIRE(std::all_of(bytes.begin(), bytes.end(), [](std::uint8_t byte) { return byte == 0; }));
    CHECK(aclrtFree(status));
    CHECK(aclrtDestroyStream(stream));
    CHECK(aclrtSetDeviceSatMode(ACL_RT_OVERFLOW_MODE_INFNAN));
    std::printf("overflow_switches: no overflow\n");
}
