// SPDX-License-Identifier: Apache-2.0
// Managed memory, advice and prefetches.
#include "fixtures/fixture.h"

namespace conformance {
namespace {

constexpr size_t granule = size_t{2} << 20;
constexpr aclrtMemManagedLocation on_device = {ACL_MEM_LOCATIONTYPE_DEVICE, 0};
constexpr aclrtMemManagedLocation on_host = {ACL_MEM_LOCATIONTYPE_HOST, 0};

class MemoryManaged : public DeviceTest {
protected:
    void SetUp() override {
        DeviceTest::SetUp();
        ASSERT_ACL_OK(aclrtMemAllocManaged(&memory_, 2 * granule, ACL_RT_MEM_ATTACH_GLOBAL));
    }
    void TearDown() override {
        EXPECT_ACL_OK(aclrtFree(memory_));
        DeviceTest::TearDown();
    }
    int32_t attribute(aclrtMemManagedRangeAttribute which, size_t size = 2 * granule) {
        int32_t value = 99;
        EXPECT_ACL_OK(aclrtMemManagedGetAttr(which, memory_, size, &value, sizeof(value)));
        return value;
    }
    void advise(aclrtMemManagedAdviseType advice, aclrtMemManagedLocation location, size_t size = 2 * granule) {
        EXPECT_ACL_OK(aclrtMemManagedAdvise(memory_, size, advice, location));
    }
    void* memory_ = nullptr;
};

TEST_F(MemoryManaged, HostAndDeviceUseTheSameAddress) {
    std::memset(memory_, 1, 2 * granule);
    ASSERT_ACL_OK(aclrtMemsetAsync(memory_, granule, 2, granule, stream_));
    ASSERT_ACL_OK(aclrtSynchronizeStream(stream_));
    if (device_computes()) {
        EXPECT_EQ(static_cast<char*>(memory_)[granule - 1], 2);
    }
    EXPECT_EQ(static_cast<char*>(memory_)[granule], 1);
    aclrtPtrAttributes found = {};
    EXPECT_ACL_OK(aclrtPointerGetAttributes(memory_, &found));
    EXPECT_EQ(found.location.type, ACL_MEM_LOCATION_TYPE_MANAGED);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(memory_) % granule, 0u);
}

TEST_F(MemoryManaged, SizeIsRoundedUp) {
    void *memory = nullptr, *base = nullptr;
    size_t size = 0;
    ASSERT_ACL_OK(aclrtMemAllocManaged(&memory, 1, ACL_RT_MEM_ATTACH_GLOBAL));
    EXPECT_ACL_OK(aclrtMemGetAddressRange(memory, &base, &size));
    EXPECT_EQ(size, granule);
    EXPECT_ACL_FAILS(ACL_ERROR_RT_PARAM_INVALID, "not the start", aclrtFree(static_cast<char*>(memory) + 64));
    EXPECT_ACL_OK(aclrtFree(memory));
    EXPECT_ACL_FAILS(ACL_ERROR_RT_PARAM_INVALID, "devPtr", aclrtFree(memory));
}

TEST_F(MemoryManaged, FreeingWaitsForWorkThatUsesIt) {
    constexpr size_t size = 8 * granule;
    for (int round = 0; round < 10; ++round) {
        void* memory = nullptr;
        ASSERT_ACL_OK(aclrtMemAllocManaged(&memory, size, ACL_RT_MEM_ATTACH_GLOBAL));
        for (int value = 0; value < 4; ++value) ASSERT_ACL_OK(aclrtMemsetAsync(memory, size, value, size, stream_));
        ASSERT_ACL_OK(aclrtFree(memory));
        ASSERT_ACL_OK(aclrtSynchronizeStream(stream_));
    }
}

TEST_F(MemoryManaged, AllocationArgumentsAreChecked) {
    void* memory = nullptr;
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "ptr", aclrtMemAllocManaged(nullptr, granule, 1));
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "size", aclrtMemAllocManaged(&memory, 0, 1));
    EXPECT_ACL_FAILS(ACL_ERROR_RT_PARAM_INVALID, "flag", aclrtMemAllocManaged(&memory, granule, 0));
    EXPECT_ACL_FAILS(ACL_ERROR_RT_MEMORY_ALLOCATION, "size", aclrtMemAllocManaged(&memory, UINT64_MAX, 1));
}

TEST_F(MemoryManaged, AdviceIsRememberedForEachPart) {
    EXPECT_EQ(attribute(ACL_MEM_RANGE_ATTRIBUTE_READ_MOSTLY), 0);
    advise(ACL_MEM_ADVISE_SET_READ_MOSTLY, on_device, granule);
    EXPECT_EQ(attribute(ACL_MEM_RANGE_ATTRIBUTE_READ_MOSTLY, granule), 1);
    EXPECT_EQ(attribute(ACL_MEM_RANGE_ATTRIBUTE_READ_MOSTLY), 0);  // only part of the range has it
    advise(ACL_MEM_ADVISE_UNSET_READ_MOSTLY, on_device, granule);
    EXPECT_EQ(attribute(ACL_MEM_RANGE_ATTRIBUTE_READ_MOSTLY, granule), 0);

    EXPECT_EQ(attribute(ACL_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION), -2);
    advise(ACL_MEM_ADVISE_SET_PREFERRED_LOCATION, {ACL_MEM_LOCATIONTYPE_DEVICE, 1});
    EXPECT_EQ(attribute(ACL_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION), 1);
    EXPECT_EQ(attribute(ACL_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION_TYPE), ACL_MEM_LOCATIONTYPE_DEVICE);
    EXPECT_EQ(attribute(ACL_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION_ID), 1);
    advise(ACL_MEM_ADVISE_SET_PREFERRED_LOCATION, on_host, granule);
    EXPECT_EQ(attribute(ACL_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION, granule), -1);
    EXPECT_EQ(attribute(ACL_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION), -2);
    EXPECT_EQ(attribute(ACL_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION_TYPE), ACL_MEM_LOCATIONTYPE_INVALID);
    advise(ACL_MEM_ADVISE_UNSET_PREFERRED_LOCATION, on_device);
    EXPECT_EQ(attribute(ACL_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION_TYPE), ACL_MEM_LOCATIONTYPE_INVALID);
}

TEST_F(MemoryManaged, AccessorsAreListed) {
    advise(ACL_MEM_ADVISE_SET_ACCESSED_BY, {ACL_MEM_LOCATIONTYPE_DEVICE, 1});
    advise(ACL_MEM_ADVISE_SET_ACCESSED_BY, on_device);
    int32_t values[4] = {9, 9, 9, 9};
    const auto accessed = ACL_MEM_RANGE_ATTRIBUTE_ACCESSED_BY;
    ASSERT_ACL_OK(aclrtMemManagedGetAttr(accessed, memory_, granule, values, sizeof(values)));
    EXPECT_EQ(std::vector<int32_t>(values, values + 4), (std::vector<int32_t>{0, 1, -2, -2}));
    advise(ACL_MEM_ADVISE_UNSET_ACCESSED_BY, on_device);
    advise(ACL_MEM_ADVISE_SET_ACCESSED_BY, on_host);
    ASSERT_ACL_OK(aclrtMemManagedGetAttr(accessed, memory_, granule, values, sizeof(values)));
    EXPECT_EQ(std::vector<int32_t>(values, values + 4), (std::vector<int32_t>{-1, 1, -2, -2}));
}

TEST_F(MemoryManaged, PrefetchIsOrderedAndRemembered) {
    EXPECT_EQ(attribute(ACL_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION), -2);
    ASSERT_ACL_OK(aclrtMemManagedPrefetchAsync(memory_, 2 * granule, on_device, 0, stream_));
    ASSERT_ACL_OK(aclrtSynchronizeStream(stream_));
    EXPECT_EQ(attribute(ACL_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION), 0);
    EXPECT_EQ(attribute(ACL_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION_TYPE), ACL_MEM_LOCATIONTYPE_DEVICE);
    EXPECT_EQ(attribute(ACL_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION_ID), 0);
    const void* parts[2] = {memory_, static_cast<char*>(memory_) + granule};
    size_t sizes[2] = {granule, granule}, starts[2] = {0, 1};
    aclrtMemManagedLocation places[2] = {on_host, {ACL_MEM_LOCATIONTYPE_DEVICE, 1}};
    ASSERT_ACL_OK(aclrtMemManagedPrefetchBatchAsync(parts, sizes, 2, places, starts, 2, 0, stream_));
    EXPECT_EQ(attribute(ACL_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION, granule), -1);
    int32_t second = 9;
    ASSERT_ACL_OK(
        aclrtMemManagedGetAttr(ACL_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION, parts[1], granule, &second, 4));
    EXPECT_EQ(second, 1);
    EXPECT_ACL_OK(aclrtSynchronizeStream(stream_));
}

TEST_F(MemoryManaged, SeveralAttributesAtOnce) {
    advise(ACL_MEM_ADVISE_SET_READ_MOSTLY, on_device);
    aclrtMemManagedRangeAttribute which[2] = {ACL_MEM_RANGE_ATTRIBUTE_READ_MOSTLY,
                                              ACL_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION};
    int32_t a = 9, b = 9;
    void* data[2] = {&a, &b};
    size_t sizes[2] = {4, 4};
    ASSERT_ACL_OK(aclrtMemManagedGetAttrs(which, 2, memory_, granule, data, sizes));
    EXPECT_EQ(a, 1);
    EXPECT_EQ(b, -2);
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "attributes",
                     aclrtMemManagedGetAttrs(nullptr, 2, memory_, granule, data, sizes));
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "ptr", aclrtMemManagedGetAttrs(which, 2, nullptr, granule, data, sizes));
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "data",
                     aclrtMemManagedGetAttrs(which, 2, memory_, granule, nullptr, sizes));
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "dataSizes",
                     aclrtMemManagedGetAttrs(which, 2, memory_, granule, data, nullptr));
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "numAttributes",
                     aclrtMemManagedGetAttrs(which, 0, memory_, granule, data, sizes));
    data[1] = nullptr;
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "data[i]",
                     aclrtMemManagedGetAttrs(which, 2, memory_, granule, data, sizes));
}

TEST_F(MemoryManaged, RangesAndPlacesAreChecked) {
    const auto set = ACL_MEM_ADVISE_SET_PREFERRED_LOCATION;
    const auto read_mostly = ACL_MEM_RANGE_ATTRIBUTE_READ_MOSTLY;
    char* inside = static_cast<char*>(memory_) + 64;
    int32_t value = 0;
    int64_t wide = 0;
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "ptr", aclrtMemManagedAdvise(nullptr, granule, set, on_device));
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "size", aclrtMemManagedAdvise(memory_, 0, set, on_device));
    EXPECT_ACL_FAILS(ACL_ERROR_RT_PARAM_INVALID, "multiple", aclrtMemManagedAdvise(inside, granule, set, on_device));
    EXPECT_ACL_FAILS(ACL_ERROR_RT_PARAM_INVALID, "multiple", aclrtMemManagedAdvise(memory_, 100, set, on_device));
    EXPECT_ACL_FAILS(ACL_ERROR_RT_PARAM_INVALID, "larger", aclrtMemManagedAdvise(memory_, 3 * granule, set, on_device));
    EXPECT_ACL_FAILS(ACL_ERROR_RT_PARAM_INVALID, "not managed", aclrtMemManagedAdvise(&value, granule, set, on_device));
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "advise",
                     aclrtMemManagedAdvise(memory_, granule, static_cast<aclrtMemManagedAdviseType>(9), on_device));
    EXPECT_ACL_FAILS(ACL_ERROR_RT_INVALID_DEVICEID, "device",
                     aclrtMemManagedAdvise(memory_, granule, set, {ACL_MEM_LOCATIONTYPE_DEVICE, 1000}));
    EXPECT_ACL_FAILS(ACL_ERROR_RT_PARAM_INVALID, "location",
                     aclrtMemManagedAdvise(memory_, granule, set, {ACL_MEM_LOCATIONTYPE_INVALID, 0}));
    EXPECT_ACL_FAILS(
        ACL_ERROR_INVALID_PARAM, "attribute",
        aclrtMemManagedGetAttr(static_cast<aclrtMemManagedRangeAttribute>(0), memory_, granule, &value, 4));
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "ptr", aclrtMemManagedGetAttr(read_mostly, nullptr, granule, &value, 4));
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "data",
                     aclrtMemManagedGetAttr(read_mostly, memory_, granule, nullptr, 4));
    EXPECT_ACL_FAILS(ACL_ERROR_RT_PARAM_INVALID, "dataSize",
                     aclrtMemManagedGetAttr(read_mostly, memory_, granule, &value, 3));
    EXPECT_ACL_FAILS(ACL_ERROR_RT_PARAM_INVALID, "dataSize",
                     aclrtMemManagedGetAttr(read_mostly, memory_, granule, &wide, 8));
}

TEST_F(MemoryManaged, PrefetchArgumentsAreChecked) {
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "ptr",
                     aclrtMemManagedPrefetchAsync(nullptr, granule, on_device, 0, stream_));
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "size", aclrtMemManagedPrefetchAsync(memory_, 0, on_device, 0, stream_));
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "flags",
                     aclrtMemManagedPrefetchAsync(memory_, granule, on_device, 1, stream_));
    EXPECT_ACL_FAILS(ACL_ERROR_RT_INVALID_HANDLE, "stream",
                     aclrtMemManagedPrefetchAsync(memory_, granule, on_device, 0, memory_));
    const void* parts[1] = {memory_};
    size_t sizes[1] = {granule}, starts[1] = {0};
    aclrtMemManagedLocation places[1] = {on_device};
    const auto batch = [&](const void** p, size_t* s, size_t n, aclrtMemManagedLocation* l, size_t* i, size_t k,
                           uint64_t f) { return aclrtMemManagedPrefetchBatchAsync(p, s, n, l, i, k, f, stream_); };
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "ptrs", batch(nullptr, sizes, 1, places, starts, 1, 0));
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "sizes", batch(parts, nullptr, 1, places, starts, 1, 0));
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "prefetchLocs", batch(parts, sizes, 1, nullptr, starts, 1, 0));
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "prefetchLocIdxs", batch(parts, sizes, 1, places, nullptr, 1, 0));
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "count", batch(parts, sizes, 0, places, starts, 1, 0));
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "numPrefetchLocs", batch(parts, sizes, 1, places, starts, 2, 0));
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "flags", batch(parts, sizes, 1, places, starts, 1, 1));
    starts[0] = 1;
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "prefetchLocIdxs", batch(parts, sizes, 1, places, starts, 1, 0));
}

}  // namespace
}  // namespace conformance
