// SPDX-License-Identifier: Apache-2.0
// Pinned host memory, and registration of the program's own memory.
#include <cstdlib>
#include <memory>

#include "fixtures/fixture.h"

namespace conformance {
namespace {

using MemoryHost = DeviceTest;

constexpr size_t page = 4096;

struct Pages {
    explicit Pages(size_t size) : data(std::aligned_alloc(page, size)) { std::memset(data, 1, size); }
    ~Pages() { std::free(data); }
    void* data;
};

TEST_F(MemoryHost, PinnedMemoryIsAlignedAndUsable) {
    void* memory = nullptr;
    ASSERT_ACL_OK(aclrtMallocHost(&memory, 1000));
    EXPECT_EQ(reinterpret_cast<uintptr_t>(memory) % 64, 0u);
    std::memset(memory, 3, 1000);
    EXPECT_ACL_OK(aclrtFreeHost(memory));
    EXPECT_ACL_FAILS(ACL_ERROR_RT_PARAM_INVALID, "", aclrtFreeHost(memory));
}

TEST_F(MemoryHost, NullAndZeroAreRefused) {
    void* memory = nullptr;
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "hostPtr", aclrtMallocHost(nullptr, 64));
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "size", aclrtMallocHost(&memory, 0));
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "ptr", aclrtMallocHostWithCfg(nullptr, 64, nullptr));
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "size", aclrtMallocHostWithCfg(&memory, 0, nullptr));
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "hostPtr", aclrtFreeHost(nullptr));
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "hostPtr", aclrtFreeHostWithDevSync(nullptr));
}

TEST_F(MemoryHost, OnlyPinnedMemoryIsFreedAsSuch) {
    int local = 0;
    EXPECT_ACL_FAILS(ACL_ERROR_RT_PARAM_INVALID, "aclrtMallocHost", aclrtFreeHost(&local));
    EXPECT_ACL_FAILS(ACL_ERROR_RT_PARAM_INVALID, "aclrtMallocHost", aclrtFreeHost(device_memory(64)));
    void* memory = nullptr;
    ASSERT_ACL_OK(aclrtMallocHost(&memory, 4096));
    EXPECT_ACL_FAILS(ACL_ERROR_RT_PARAM_INVALID, "", aclrtFreeHost(static_cast<char*>(memory) + 64));
    EXPECT_ACL_OK(aclrtFreeHostWithDevSync(memory));
}

TEST_F(MemoryHost, ConfiguredMemoryHasTheSameAddressOnTheDevice) {
    aclrtMallocAttribute attributes[2] = {};
    attributes[0].attr = ACL_RT_MEM_ATTR_VA_FLAG;
    attributes[0].value.vaFlag = 1;
    attributes[1].attr = ACL_RT_MEM_ATTR_DEVICE_ID;
    attributes[1].value.deviceId = 0;
    aclrtMallocConfig config = {attributes, 2};
    void *memory = nullptr, *device = nullptr;
    ASSERT_ACL_OK(aclrtMallocHostWithCfg(&memory, 256, &config));
    EXPECT_ACL_OK(aclrtHostGetDevicePointer(memory, &device, 0));
    EXPECT_EQ(device, memory);
    EXPECT_ACL_OK(aclrtFreeHost(memory));
    attributes[1].value.deviceId = 1000;
    EXPECT_ACL_FAILS(ACL_ERROR_RT_INVALID_DEVICEID, "device", aclrtMallocHostWithCfg(&memory, 256, &config));
    attributes[0].value.vaFlag = 5;
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "vaFlag", aclrtMallocHostWithCfg(&memory, 256, &config));
}

TEST_F(MemoryHost, RegisteredMemoryHasADevicePointerUntilItIsUnregistered) {
    Pages pages(4 * page);
    void* device = nullptr;
    if (!device_reaches_all_memory()) {
        EXPECT_ACL_FAILS(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, "aclrtMallocHost",
                         aclrtHostRegister(pages.data, 4 * page, ACL_HOST_REGISTER_MAPPED, &device));
        return;
    }
    ASSERT_ACL_OK(aclrtHostRegister(pages.data, 4 * page, ACL_HOST_REGISTER_MAPPED, &device));
    EXPECT_NE(device, nullptr);
    aclrtPtrAttributes found = {};
    EXPECT_ACL_OK(aclrtPointerGetAttributes(pages.data, &found));
    EXPECT_EQ(found.location.type, ACL_MEM_LOCATION_TYPE_HOST);
    void* inside = nullptr;
    EXPECT_ACL_OK(aclrtHostGetDevicePointer(static_cast<char*>(pages.data) + 100, &inside, 0));
    EXPECT_EQ(inside, static_cast<char*>(device) + 100);

    void* again = nullptr;
    EXPECT_ACL_FAILS(ACL_ERROR_HOST_MEMORY_ALREADY_REGISTERED, "overlaps",
                     aclrtHostRegister(pages.data, page, ACL_HOST_REGISTER_MAPPED, &again));
    EXPECT_ACL_FAILS(ACL_ERROR_HOST_MEMORY_ALREADY_REGISTERED, "overlaps",
                     aclrtHostRegisterV2(static_cast<char*>(pages.data) + page, page, ACL_HOST_REG_MAPPED));
    EXPECT_ACL_FAILS(ACL_ERROR_HOST_MEMORY_NOT_REGISTERED, "start",
                     aclrtHostUnregister(static_cast<char*>(pages.data) + page));
    EXPECT_ACL_OK(aclrtHostUnregister(pages.data));
    EXPECT_ACL_FAILS(ACL_ERROR_HOST_MEMORY_NOT_REGISTERED, "ptr", aclrtHostUnregister(pages.data));
    EXPECT_ACL_FAILS(ACL_ERROR_HOST_MEMORY_NOT_REGISTERED, "pHost", aclrtHostGetDevicePointer(pages.data, &device, 0));
}

TEST_F(MemoryHost, RegisterChecksItsArguments) {
    Pages pages(2 * page);
    void* device = nullptr;
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "ptr",
                     aclrtHostRegister(nullptr, page, ACL_HOST_REGISTER_MAPPED, &device));
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "devPtr",
                     aclrtHostRegister(pages.data, page, ACL_HOST_REGISTER_MAPPED, nullptr));
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "size",
                     aclrtHostRegister(pages.data, 0, ACL_HOST_REGISTER_MAPPED, &device));
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "type",
                     aclrtHostRegister(pages.data, page, static_cast<aclrtHostRegisterType>(77), &device));
    EXPECT_ACL_FAILS(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, "type",
                     aclrtHostRegister(pages.data, page, ACL_HOST_REGISTER_IOMEMORY, &device));
    EXPECT_ACL_FAILS(ACL_ERROR_RT_PARAM_INVALID, "4096",
                     aclrtHostRegister(static_cast<char*>(pages.data) + 8, page, ACL_HOST_REGISTER_MAPPED, &device));
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "ptr", aclrtHostRegisterV2(nullptr, page, ACL_HOST_REG_MAPPED));
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "size", aclrtHostRegisterV2(pages.data, 0, ACL_HOST_REG_MAPPED));
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "flag", aclrtHostRegisterV2(pages.data, page, 0));
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "flag", aclrtHostRegisterV2(pages.data, page, 0x40));
    EXPECT_ACL_FAILS(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, "flag",
                     aclrtHostRegisterV2(pages.data, page, ACL_HOST_REG_READONLY));
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "ptr", aclrtHostUnregister(nullptr));
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "pHost", aclrtHostGetDevicePointer(nullptr, &device, 0));
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "pDevice", aclrtHostGetDevicePointer(pages.data, nullptr, 0));
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "flag", aclrtHostGetDevicePointer(pages.data, &device, 1));
}

TEST_F(MemoryHost, PinnedOnlyRegistrationHasNoDevicePointer) {
    Pages pages(page);
    void* device = nullptr;
    ASSERT_ACL_OK(aclrtHostRegisterV2(pages.data, page, ACL_HOST_REG_PINNED));
    EXPECT_ACL_FAILS(ACL_ERROR_HOST_MEMORY_NOT_REGISTERED, "MAPPED", aclrtHostGetDevicePointer(pages.data, &device, 0));
    EXPECT_ACL_OK(aclrtHostUnregister(pages.data));
    if (!device_reaches_all_memory()) return;
    ASSERT_ACL_OK(aclrtHostRegisterV2(pages.data, page, ACL_HOST_REG_PINNED | ACL_HOST_REG_MAPPED));
    EXPECT_ACL_OK(aclrtHostGetDevicePointer(pages.data, &device, 0));
    EXPECT_ACL_OK(aclrtHostUnregister(pages.data));
}

TEST_F(MemoryHost, PinnedMemoryCanBeMappedButNotPinnedAgain) {
    void *memory = nullptr, *device = nullptr;
    ASSERT_ACL_OK(aclrtMallocHost(&memory, page));
    EXPECT_ACL_FAILS(ACL_ERROR_HOST_MEMORY_ALREADY_REGISTERED, "pinned",
                     aclrtHostRegisterV2(memory, page, ACL_HOST_REG_PINNED));
    EXPECT_ACL_OK(aclrtHostRegister(memory, page, ACL_HOST_REGISTER_MAPPED, &device));
    EXPECT_ACL_OK(aclrtFreeHost(memory));  // also ends the registration; the fixture checks for leaks
}

TEST_F(MemoryHost, EveryEngineCanMapHostMemory) {
    for (int engine = ACL_RT_HAC_TYPE_STARS; engine <= ACL_RT_HAC_TYPE_CCU; ++engine) {
        aclrtHostMemMapCapability capability = ACL_RT_HOST_MEM_MAP_NOT_SUPPORTED;
        EXPECT_ACL_OK(aclrtHostMemMapCapabilities(0, static_cast<aclrtHacType>(engine), &capability));
        EXPECT_EQ(capability, ACL_RT_HOST_MEM_MAP_SUPPORTED);
    }
    aclrtHostMemMapCapability capability;
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "capabilities",
                     aclrtHostMemMapCapabilities(0, ACL_RT_HAC_TYPE_AIC, nullptr));
    EXPECT_ACL_FAILS(ACL_ERROR_RT_PARAM_INVALID, "hacType",
                     aclrtHostMemMapCapabilities(0, static_cast<aclrtHacType>(99), &capability));
    EXPECT_ACL_FAILS(ACL_ERROR_RT_INVALID_DEVICEID, "device",
                     aclrtHostMemMapCapabilities(1000, ACL_RT_HAC_TYPE_AIC, &capability));
}

}  // namespace
}  // namespace conformance
