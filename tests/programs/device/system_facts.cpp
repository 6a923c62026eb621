// SPDX-License-Identifier: Apache-2.0
// What a program can query before it uses a device: versions, run mode, number formats, the chip.
#include "check.h"

int main() {
    CHECK(aclInit(nullptr));
    char package[] = "runtime";
    char version[ACL_PKG_VERSION_MAX_SIZE] = {};
    std::int32_t number = 0;
    CHECK(aclsysGetVersionStr(package, version));
    CHECK(aclsysGetVersionNum(package, &number));
    REQUIRE(version[0] != '\0' && number > 0);

    aclrtRunMode mode = ACL_DEVICE;
    CHECK(aclrtGetRunMode(&mode));
    REQUIRE(mode == ACL_HOST);
    const aclFloat16 half = aclFloatToFloat16(1.625f);
    REQUIRE(half == 0x3e80 && aclFloat16ToFloat(half) == 1.625f);
    REQUIRE(aclDataTypeSize(ACL_FLOAT) == 4 && aclDataTypeSize(ACL_FLOAT16) == 2 && aclDataTypeSize(ACL_INT64) == 8);

    const char* chip = aclrtGetSocName();
    REQUIRE(chip != nullptr);
    std::int32_t compatible = 0;
    CHECK(aclrtCheckArchCompatibility(chip, &compatible));
    REQUIRE(compatible == 1);
    std::uint32_t devices = 0;
    CHECK(aclrtGetDeviceCount(&devices));
    REQUIRE(devices > 0);
    CHECK(aclFinalize());
    std::printf("system_facts: runtime %s, %u devices like %s\n", version, devices, chip);
}
