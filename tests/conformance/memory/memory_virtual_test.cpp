// SPDX-License-Identifier: Apache-2.0
// Physical memory, reserved addresses and mappings.
#include "fixtures/fixture.h"

namespace conformance {
namespace {

constexpr size_t page = size_t{2} << 20;

aclrtPhysicalMemProp device_properties(uint32_t device = 0) {
    aclrtPhysicalMemProp properties = {};
    properties.handleType = ACL_MEM_HANDLE_TYPE_NONE;
    properties.allocationType = ACL_MEM_ALLOCATION_TYPE_PINNED;
    properties.memAttr = ACL_HBM_MEM_HUGE;
    properties.location = {device, ACL_MEM_LOCATION_TYPE_DEVICE};
    return properties;
}

class MemoryVirtual : public DeviceTest {
protected:
    void SetUp() override {
        DeviceTest::SetUp();
        if (!device_maps_memory()) GTEST_SKIP() << "this device maps nothing";
    }
    aclrtDrvMemHandle physical(size_t size = page) {
        aclrtDrvMemHandle handle = nullptr;
        const aclrtPhysicalMemProp properties = device_properties();
        EXPECT_ACL_OK(aclrtMallocPhysical(&handle, size, &properties, 0));
        return handle;
    }
    void* reserve(size_t size) {
        void* address = nullptr;
        EXPECT_ACL_OK(aclrtReserveMemAddress(&address, size, 0, nullptr, 0));
        return address;
    }
};

class MemoryVirtualOnNull : public DeviceTest {};

TEST_F(MemoryVirtualOnNull, IsNotSupported) {
    if (device_maps_memory()) GTEST_SKIP() << "this device maps memory";
    aclrtPhysicalMemProp properties = device_properties();
    aclrtDrvMemHandle handle = nullptr;
    void* address = nullptr;
    EXPECT_ACL_FAILS(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, "device", aclrtMallocPhysical(&handle, page, &properties, 0));
    EXPECT_ACL_FAILS(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, "device", aclrtReserveMemAddress(&address, page, 0, nullptr, 0));
}

TEST_F(MemoryVirtual, MappedMemoryHoldsDataAndIsCopiedLikeAnyOther) {
    aclrtDrvMemHandle handle = physical();
    void* address = reserve(page);
    ASSERT_ACL_OK(aclrtMapMem(address, page, 0, handle, 0));
    const std::vector<char> values(page, 6);
    EXPECT_ACL_OK(aclrtMemcpy(address, page, values.data(), page, ACL_MEMCPY_HOST_TO_DEVICE));
    EXPECT_EQ(read_back(static_cast<char*>(address), page), values);
    EXPECT_ACL_OK(aclrtMemsetAsync(address, page, 7, page, stream_));
    EXPECT_ACL_OK(aclrtSynchronizeStream(stream_));
    EXPECT_EQ(read_back(static_cast<char*>(address) + page - 1, 1)[0], 7);
    aclrtPtrAttributes found = {};
    EXPECT_ACL_OK(aclrtPointerGetAttributes(address, &found));
    EXPECT_EQ(found.location.type, ACL_MEM_LOCATION_TYPE_DEVICE);
    EXPECT_EQ(found.pageSize, page);
    EXPECT_ACL_OK(aclrtUnmapMem(address));
    EXPECT_ACL_FAILS(ACL_ERROR_RT_PARAM_INVALID, "not all mapped",
                     aclrtMemcpy(address, 1, values.data(), 1, ACL_MEMCPY_HOST_TO_DEVICE));
    EXPECT_ACL_OK(aclrtReleaseMemAddress(address));
    EXPECT_ACL_OK(aclrtFreePhysical(handle));
}

TEST_F(MemoryVirtual, ContentsSurviveInPhysicalMemory) {
    aclrtDrvMemHandle handle = physical();
    void *first = reserve(page), *second = reserve(page);
    ASSERT_ACL_OK(aclrtMapMem(first, page, 0, handle, 0));
    EXPECT_ACL_OK(aclrtMemset(first, page, 9, page));
    EXPECT_ACL_OK(aclrtUnmapMem(first));
    ASSERT_ACL_OK(aclrtMapMem(second, page, 0, handle, 0));
    EXPECT_EQ(read_back(static_cast<char*>(second) + 77, 1)[0], 9);
    EXPECT_ACL_OK(aclrtUnmapMem(second));
    EXPECT_ACL_OK(aclrtReleaseMemAddress(first));
    EXPECT_ACL_OK(aclrtReleaseMemAddress(second));
    EXPECT_ACL_OK(aclrtFreePhysical(handle));
}

TEST_F(MemoryVirtual, OneReservationHoldsSeveralMappingsThatActAsOneRange) {
    void* address = reserve(3 * page);
    char* middle = static_cast<char*>(address) + page;
    aclrtDrvMemHandle a = physical(), b = physical();
    ASSERT_ACL_OK(aclrtMapMem(address, page, 0, a, 0));
    ASSERT_ACL_OK(aclrtMapMem(middle, page, 0, b, 0));
    EXPECT_ACL_OK(aclrtMemset(address, 2 * page, 3, 2 * page));
    EXPECT_EQ(read_back(middle + page - 1, 1)[0], 3);
    EXPECT_ACL_FAILS(ACL_ERROR_RT_PARAM_INVALID, "mapped", aclrtMemset(address, 3 * page, 3, 3 * page));
    EXPECT_ACL_FAILS(ACL_ERROR_RT_PARAM_INVALID, "mapped", aclrtMemset(address, SIZE_MAX, 3, SIZE_MAX));
    aclrtMemAccessDesc access = {};
    access.flags = ACL_RT_MEM_ACCESS_FLAGS_READWRITE;
    access.location = {0, ACL_MEM_LOCATION_TYPE_DEVICE};
    EXPECT_ACL_OK(aclrtMemSetAccess(address, 2 * page, &access, 1));
    EXPECT_ACL_FAILS(ACL_ERROR_RT_PARAM_INVALID, "match", aclrtMemSetAccess(address, 3 * page, &access, 1));
    void* base = nullptr;
    size_t size = 0;
    EXPECT_ACL_OK(aclrtMemGetAddressRange(middle + 5, &base, &size));
    EXPECT_EQ(base, middle);
    EXPECT_EQ(size, page);
    EXPECT_ACL_OK(aclrtUnmapMem(address));
    EXPECT_ACL_FAILS(ACL_ERROR_RT_PARAM_INVALID, "still mapped", aclrtReleaseMemAddress(address));
    EXPECT_ACL_OK(aclrtUnmapMem(middle));
    EXPECT_ACL_OK(aclrtReleaseMemAddress(address));
    EXPECT_ACL_OK(aclrtFreePhysical(a));
    EXPECT_ACL_OK(aclrtFreePhysical(b));
}

TEST_F(MemoryVirtual, FreedPhysicalMemoryLivesWhileItIsMapped) {
    size_t before = 0, during = 0, after = 0, total = 0;
    ASSERT_ACL_OK(aclrtGetMemInfo(ACL_HBM_MEM, &before, &total));
    aclrtDrvMemHandle handle = physical();
    void* address = reserve(page);
    ASSERT_ACL_OK(aclrtMapMem(address, page, 0, handle, 0));
    EXPECT_ACL_OK(aclrtFreePhysical(handle));
    EXPECT_ACL_FAILS(ACL_ERROR_RT_INVALID_HANDLE, "handle", aclrtFreePhysical(handle));
    EXPECT_ACL_OK(aclrtMemset(address, page, 1, page));
    ASSERT_ACL_OK(aclrtGetMemInfo(ACL_HBM_MEM, &during, &total));
    EXPECT_LE(during + page, before);
    EXPECT_ACL_OK(aclrtUnmapMem(address));
    ASSERT_ACL_OK(aclrtGetMemInfo(ACL_HBM_MEM, &after, &total));
    EXPECT_EQ(after, before);
    EXPECT_ACL_OK(aclrtReleaseMemAddress(address));
}

TEST_F(MemoryVirtual, RetainedHandlesAreFreedOnceEach) {
    aclrtDrvMemHandle handle = physical(), again = nullptr, revived = nullptr;
    void* address = reserve(page);
    EXPECT_ACL_FAILS(ACL_ERROR_RT_PARAM_INVALID, "mapped", aclrtMemRetainAllocationHandle(address, &again));
    ASSERT_ACL_OK(aclrtMapMem(address, page, 0, handle, 0));
    ASSERT_ACL_OK(aclrtMemRetainAllocationHandle(static_cast<char*>(address) + 100, &again));
    EXPECT_EQ(again, handle);
    EXPECT_ACL_OK(aclrtFreePhysical(handle));
    aclrtPhysicalMemProp properties = {};
    EXPECT_ACL_OK(aclrtMemGetAllocationPropertiesFromHandle(again, &properties));
    EXPECT_ACL_OK(aclrtFreePhysical(again));
    ASSERT_ACL_OK(aclrtMemRetainAllocationHandle(address, &revived));
    EXPECT_ACL_OK(aclrtFreePhysical(revived));
    EXPECT_ACL_OK(aclrtUnmapMem(address));
    EXPECT_ACL_OK(aclrtReleaseMemAddress(address));
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "virPtr", aclrtMemRetainAllocationHandle(nullptr, &again));
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "handle", aclrtMemRetainAllocationHandle(address, nullptr));
}

TEST_F(MemoryVirtual, MappingWithoutAccessNeedsItGranted) {
    aclrtDrvMemHandle handle = physical();
    void* address = reserve(page);
    ASSERT_ACL_OK(aclrtMemMapNoAccess(address, page, 0, handle, 0));
    aclrtMemLocation here = {0, ACL_MEM_LOCATION_TYPE_DEVICE}, other = {1, ACL_MEM_LOCATION_TYPE_DEVICE};
    uint64_t flag = 99;
    EXPECT_ACL_OK(aclrtMemGetAccess(address, &here, &flag));
    EXPECT_EQ(flag, static_cast<uint64_t>(ACL_RT_MEM_ACCESS_FLAGS_NONE));
    EXPECT_ACL_FAILS(ACL_ERROR_RT_PARAM_INVALID, "accessible", aclrtMemset(address, page, 1, page));
    aclrtMemAccessDesc access = {};
    access.flags = ACL_RT_MEM_ACCESS_FLAGS_READWRITE;
    access.location = here;
    EXPECT_ACL_OK(aclrtMemSetAccess(address, page, &access, 1));
    EXPECT_ACL_OK(aclrtMemset(address, page, 1, page));
    EXPECT_ACL_OK(aclrtMemGetAccess(address, &here, &flag));
    EXPECT_EQ(flag, static_cast<uint64_t>(ACL_RT_MEM_ACCESS_FLAGS_READWRITE));
    EXPECT_ACL_OK(aclrtMemGetAccess(address, &other, &flag));
    EXPECT_EQ(flag, static_cast<uint64_t>(ACL_RT_MEM_ACCESS_FLAGS_NONE));
    access.location = other;
    EXPECT_ACL_OK(aclrtMemSetAccess(address, page, &access, 1));
    EXPECT_ACL_OK(aclrtMemGetAccess(address, &other, &flag));
    EXPECT_EQ(flag, static_cast<uint64_t>(ACL_RT_MEM_ACCESS_FLAGS_READWRITE));

    access.flags = ACL_RT_MEM_ACCESS_FLAGS_READ;
    EXPECT_ACL_FAILS(ACL_ERROR_RT_PARAM_INVALID, "flags", aclrtMemSetAccess(address, page, &access, 1));
    access.flags = ACL_RT_MEM_ACCESS_FLAGS_READWRITE;
    access.location.id = 1000;
    EXPECT_ACL_FAILS(ACL_ERROR_RT_INVALID_DEVICEID, "device", aclrtMemSetAccess(address, page, &access, 1));
    EXPECT_ACL_FAILS(ACL_ERROR_RT_PARAM_INVALID, "count", aclrtMemSetAccess(address, page, &access, 0));
    EXPECT_ACL_FAILS(ACL_ERROR_RT_PARAM_INVALID, "size", aclrtMemSetAccess(address, 0, &access, 1));
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "virPtr", aclrtMemSetAccess(nullptr, page, &access, 1));
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "desc", aclrtMemSetAccess(address, page, nullptr, 1));
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "virPtr", aclrtMemGetAccess(nullptr, &here, &flag));
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "location", aclrtMemGetAccess(address, nullptr, &flag));
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "flag", aclrtMemGetAccess(address, &here, nullptr));
    aclrtMemLocation nowhere = {0, ACL_MEM_LOCATION_TYPE_UNREGISTERED};
    EXPECT_ACL_FAILS(ACL_ERROR_RT_PARAM_INVALID, "location", aclrtMemGetAccess(address, &nowhere, &flag));
    EXPECT_ACL_OK(aclrtUnmapMem(address));
    EXPECT_ACL_OK(aclrtReleaseMemAddress(address));
    EXPECT_ACL_OK(aclrtFreePhysical(handle));
}

TEST_F(MemoryVirtual, ReserveChecksItsArguments) {
    void* address = nullptr;
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "virPtr", aclrtReserveMemAddress(nullptr, page, 0, nullptr, 0));
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "size", aclrtReserveMemAddress(&address, 0, 0, nullptr, 0));
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "alignment", aclrtReserveMemAddress(&address, page, 64, nullptr, 0));
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "flags", aclrtReserveMemAddress(&address, page, 0, nullptr, 2));
    EXPECT_ACL_FAILS(ACL_ERROR_RT_PARAM_INVALID, "expectPtr",
                     aclrtReserveMemAddress(&address, page, 0, reinterpret_cast<void*>(page), 0));
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "virPtr", aclrtReserveMemAddressNoUCMemory(nullptr, page, 0, nullptr, 0));
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "virPtr", aclrtReleaseMemAddress(nullptr));
    EXPECT_ACL_FAILS(ACL_ERROR_RT_PARAM_INVALID, "virPtr", aclrtReleaseMemAddress(&address));
    ASSERT_ACL_OK(aclrtReserveMemAddressNoUCMemory(&address, 2 * page, 0, nullptr, 1));
    EXPECT_ACL_FAILS(ACL_ERROR_RT_PARAM_INVALID, "start", aclrtReleaseMemAddress(static_cast<char*>(address) + page));
    EXPECT_ACL_OK(aclrtReleaseMemAddress(address));
    EXPECT_ACL_FAILS(ACL_ERROR_RT_PARAM_INVALID, "start", aclrtReleaseMemAddress(address));
    auto* wish = reinterpret_cast<void*>(uintptr_t{17} << 40);
    ASSERT_ACL_OK(aclrtReserveMemAddress(&address, page, 0, wish, 0));
    EXPECT_ACL_OK(aclrtReleaseMemAddress(address));
}

TEST_F(MemoryVirtual, MapChecksItsArguments) {
    aclrtDrvMemHandle handle = physical();
    void* address = reserve(2 * page);
    int local = 0;
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "virPtr", aclrtMapMem(nullptr, page, 0, handle, 0));
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "handle", aclrtMapMem(address, page, 0, nullptr, 0));
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "size", aclrtMapMem(address, 0, 0, handle, 0));
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "offset", aclrtMapMem(address, page, page, handle, 0));
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "flags", aclrtMapMem(address, page, 0, handle, 1));
    EXPECT_ACL_FAILS(ACL_ERROR_RT_PARAM_INVALID, "size", aclrtMapMem(address, 2 * page, 0, handle, 0));
    EXPECT_ACL_FAILS(ACL_ERROR_RT_PARAM_INVALID, "reserved", aclrtMapMem(&local, page, 0, handle, 0));
    EXPECT_ACL_FAILS(ACL_ERROR_RT_INVALID_HANDLE, "handle", aclrtMapMem(address, page, 0, &local, 0));
    EXPECT_ACL_FAILS(ACL_ERROR_RT_INVALID_HANDLE, "handle", aclrtMapMem(address, page, 0, stream_, 0));
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "virPtr", aclrtMemMapNoAccess(nullptr, page, 0, handle, 0));
    ASSERT_ACL_OK(aclrtMapMem(address, page, 0, handle, 0));
    EXPECT_ACL_FAILS(ACL_ERROR_RT_PARAM_INVALID, "already", aclrtMapMem(address, page, 0, handle, 0));
    EXPECT_ACL_FAILS(ACL_ERROR_RT_PARAM_INVALID, "virPtr", aclrtUnmapMem(static_cast<char*>(address) + page));
    EXPECT_ACL_FAILS(ACL_ERROR_RT_PARAM_INVALID, "aclrtUnmapMem", aclrtFree(address));
    EXPECT_ACL_OK(aclrtUnmapMem(address));
    EXPECT_ACL_FAILS(ACL_ERROR_RT_PARAM_INVALID, "virPtr", aclrtUnmapMem(address));
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "virPtr", aclrtUnmapMem(nullptr));
    EXPECT_ACL_OK(aclrtReleaseMemAddress(address));
    EXPECT_ACL_OK(aclrtFreePhysical(handle));
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "handle", aclrtFreePhysical(nullptr));
}

TEST_F(MemoryVirtual, PhysicalMemoryChecksItsProperties) {
    aclrtDrvMemHandle handle = nullptr;
    aclrtPhysicalMemProp properties = device_properties();
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "handle", aclrtMallocPhysical(nullptr, page, &properties, 0));
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "prop", aclrtMallocPhysical(&handle, page, nullptr, 0));
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "size", aclrtMallocPhysical(&handle, 0, &properties, 0));
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "flags", aclrtMallocPhysical(&handle, page, &properties, 1));
    EXPECT_ACL_FAILS(ACL_ERROR_RT_PARAM_INVALID, "granularity", aclrtMallocPhysical(&handle, page + 1, &properties, 0));
    properties.memAttr = ACL_DDR_MEM_HUGE;
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "memAttr", aclrtMallocPhysical(&handle, page, &properties, 0));
    properties.memAttr = static_cast<aclrtMemAttr>(50);
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "memAttr", aclrtMallocPhysical(&handle, page, &properties, 0));
    properties = device_properties(1000);
    EXPECT_ACL_FAILS(ACL_ERROR_RT_INVALID_DEVICEID, "device", aclrtMallocPhysical(&handle, page, &properties, 0));
    properties = device_properties();
    properties.location.type = ACL_MEM_LOCATION_TYPE_MANAGED;
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "location", aclrtMallocPhysical(&handle, page, &properties, 0));
    properties = device_properties();
    properties.handleType = ACL_MEM_HANDLE_TYPE_POSIX;
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "handleType", aclrtMallocPhysical(&handle, page, &properties, 0));
    properties = device_properties();
    properties.reserve = 1;
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "reserve", aclrtMallocPhysical(&handle, page, &properties, 0));
    size_t free = 0, total = 0;
    ASSERT_ACL_OK(aclrtGetMemInfo(ACL_HBM_MEM, &free, &total));
    properties = device_properties();
    EXPECT_ACL_FAILS(ACL_ERROR_RT_MEMORY_ALLOCATION, "",
                     aclrtMallocPhysical(&handle, (total / page + 1) * page, &properties, 0));
    EXPECT_EQ(handle, nullptr);
}

TEST_F(MemoryVirtual, GranularityAndPropertiesAreReported) {
    aclrtPhysicalMemProp properties = device_properties(), found = {};
    size_t granularity = 0;
    for (auto option : {ACL_RT_MEM_ALLOC_GRANULARITY_MINIMUM, ACL_RT_MEM_ALLOC_GRANULARITY_RECOMMENDED}) {
        EXPECT_ACL_OK(aclrtMemGetAllocationGranularity(&properties, option, &granularity));
        EXPECT_EQ(granularity, page);
    }
    const auto minimum = ACL_RT_MEM_ALLOC_GRANULARITY_MINIMUM;
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "prop", aclrtMemGetAllocationGranularity(nullptr, minimum, &granularity));
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "granularity",
                     aclrtMemGetAllocationGranularity(&properties, minimum, nullptr));
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "option",
                     aclrtMemGetAllocationGranularity(&properties, ACL_RT_MEM_ALLOC_GRANULARITY_UNDEF, &granularity));
    properties.memAttr = ACL_HBM_MEM_HUGE1G;
    EXPECT_ACL_OK(aclrtMemGetAllocationGranularity(&properties, minimum, &granularity));
    EXPECT_EQ(granularity, size_t{1} << 30);

    aclrtDrvMemHandle handle = physical();
    ASSERT_ACL_OK(aclrtMemGetAllocationPropertiesFromHandle(handle, &found));
    EXPECT_EQ(found.memAttr, ACL_HBM_MEM_HUGE);
    EXPECT_EQ(found.location.type, ACL_MEM_LOCATION_TYPE_DEVICE);
    EXPECT_EQ(found.location.id, 0u);
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "handle", aclrtMemGetAllocationPropertiesFromHandle(nullptr, &found));
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "prop", aclrtMemGetAllocationPropertiesFromHandle(handle, nullptr));
    EXPECT_ACL_FAILS(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, "adviceLink",
                     aclrtMemMapSetLink(handle, ACL_RT_MEM_ACCESS_LINK_HCCS));
    EXPECT_ACL_OK(aclrtFreePhysical(handle));
    EXPECT_ACL_FAILS(ACL_ERROR_RT_INVALID_HANDLE, "handle", aclrtMemGetAllocationPropertiesFromHandle(handle, &found));
    EXPECT_ACL_FAILS(ACL_ERROR_RT_INVALID_HANDLE, "handle", aclrtMemMapSetLink(handle, ACL_RT_MEM_ACCESS_LINK_HCCS));
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "handle", aclrtMemMapSetLink(nullptr, ACL_RT_MEM_ACCESS_LINK_HCCS));
    int a = 0, b = 0;
    EXPECT_ACL_FAILS(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, "linkIdx", aclrtMemMapSelectedLink(&a, page, &b, 0));
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "virPtrDst", aclrtMemMapSelectedLink(nullptr, page, &b, 0));
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "virPtrSrc", aclrtMemMapSelectedLink(&a, page, nullptr, 0));
    EXPECT_ACL_FAILS(ACL_ERROR_RT_PARAM_INVALID, "size", aclrtMemMapSelectedLink(&a, 0, &b, 0));
}

TEST_F(MemoryVirtual, ReservationFollowsTheDeviceOfItsFirstMapping) {
    aclrtPhysicalMemProp properties = device_properties(1);
    aclrtDrvMemHandle there = nullptr, here = physical();
    ASSERT_ACL_OK(aclrtMallocPhysical(&there, page, &properties, 0));
    void* address = reserve(2 * page);
    // Under sanitizers the usual range is not available; addresses elsewhere stay with the device they were reserved
    // for.
    const auto place = reinterpret_cast<uintptr_t>(address);
    if (place >= uintptr_t{16} << 40 && place < uintptr_t{24} << 40) {
        ASSERT_ACL_OK(aclrtMapMem(address, page, 0, there, 0));
        EXPECT_ACL_OK(aclrtMemset(address, page, 2, page));
        EXPECT_ACL_FAILS(ACL_ERROR_RT_PARAM_INVALID, "device",
                         aclrtMapMem(static_cast<char*>(address) + page, page, 0, here, 0));
        EXPECT_ACL_OK(aclrtUnmapMem(address));
    } else {
        EXPECT_ACL_FAILS(ACL_ERROR_RT_PARAM_INVALID, "device", aclrtMapMem(address, page, 0, there, 0));
        ASSERT_ACL_OK(aclrtMapMem(address, page, 0, here, 0));
        EXPECT_ACL_OK(aclrtUnmapMem(address));
    }
    EXPECT_ACL_OK(aclrtReleaseMemAddress(address));
    EXPECT_ACL_OK(aclrtFreePhysical(there));
    EXPECT_ACL_OK(aclrtFreePhysical(here));
}

TEST_F(MemoryVirtual, HostPhysicalMemoryIsHostMemory) {
    aclrtPhysicalMemProp properties = device_properties();
    properties.location = {0, ACL_MEM_LOCATION_TYPE_HOST};
    aclrtDrvMemHandle handle = nullptr;
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "memAttr", aclrtMallocPhysical(&handle, page, &properties, 0));
    properties.memAttr = ACL_DDR_MEM_HUGE;
    ASSERT_ACL_OK(aclrtMallocPhysical(&handle, page, &properties, 0));
    void* address = reserve(page);
    ASSERT_ACL_OK(aclrtMapMem(address, page, 0, handle, 0));
    std::memset(address, 1, page);
    aclrtPtrAttributes found = {};
    EXPECT_ACL_OK(aclrtPointerGetAttributes(address, &found));
    EXPECT_EQ(found.location.type, ACL_MEM_LOCATION_TYPE_HOST);
    EXPECT_ACL_OK(aclrtUnmapMem(address));
    EXPECT_ACL_OK(aclrtReleaseMemAddress(address));
    EXPECT_ACL_OK(aclrtFreePhysical(handle));
}

}  // namespace
}  // namespace conformance
