// SPDX-License-Identifier: Apache-2.0
// The kind of memory at an address and which bytes are usable, below the interface, for every kind.
#include "core/memory/memory.h"

#include <gtest/gtest.h>

#include <cstdlib>

#include "base/error_text.h"
#include "core/lifecycle/contexts.h"
#include "core/memory/host_memory.h"
#include "core/memory/managed_memory.h"
#include "core/memory/virtual_memory.h"
#include "core/process/context.h"

namespace canopy {
namespace {

class MemoryPlaceTest : public testing::Test {
protected:
    void SetUp() override { ASSERT_TRUE(set_device(0).ok()); }
    void TearDown() override {
        EXPECT_TRUE(reset_device(0, ResetMode::forced).ok());
        take_error_text();
    }
    static bool usable(DeviceAddress address, std::size_t size) { return usable_place(address, size, "address").ok(); }
};

TEST_F(MemoryPlaceTest, DeviceMemoryIsUsableToItsEndAndWhileItLives) {
    Result<DeviceAddress> memory = allocate_device_memory({1000});
    ASSERT_TRUE(memory.ok());
    const DeviceAddress bytes = *memory;
    const MemoryPlace place = classify(bytes + 999);
    EXPECT_EQ(place.kind, MemoryKind::device);
    EXPECT_EQ(place.record->index, 0u);
    EXPECT_EQ(place.range.base, *memory);
    EXPECT_TRUE(usable(bytes, 1000));
    EXPECT_TRUE(usable(bytes + 999, 1));
    EXPECT_FALSE(usable(bytes, place.range.size + 1));
    EXPECT_FALSE(usable(bytes, SIZE_MAX));
    EXPECT_FALSE(reachable(bytes, SIZE_MAX));
    EXPECT_TRUE(release_device_memory(*memory).ok());
    EXPECT_FALSE(usable(bytes, 1));
}

TEST_F(MemoryPlaceTest, PaddingIsTheChips) {
    Result<DeviceAddress> padded = allocate_device_memory({100});
    AllocationRequest request{100};
    request.padded = false;
    Result<DeviceAddress> plain = allocate_device_memory(request);
    ASSERT_TRUE(padded.ok() && plain.ok());
    if (!Runtime::instance().settings().checking) {
        EXPECT_EQ(classify(*padded).range.size, 128u + Runtime::instance().settings().chip->malloc_padding);
        EXPECT_EQ(classify(*plain).range.size, 128u);
    }
    EXPECT_TRUE(release_device_memory(*padded).ok());
    EXPECT_TRUE(release_device_memory(*plain).ok());
}

TEST_F(MemoryPlaceTest, PinnedMemoryIsHostMemoryWithABound) {
    Result<void*> pinned = allocate_pinned({256, nullptr});
    ASSERT_TRUE(pinned.ok());
    const DeviceAddress memory = device_address(*pinned);
    EXPECT_EQ(classify(memory).kind, MemoryKind::pinned_host);
    EXPECT_FALSE(classify(memory).pageable());
    EXPECT_FALSE(classify(memory).on_device());
    EXPECT_TRUE(usable(memory, 256));
    EXPECT_FALSE(usable(memory, 1 << 20));
    EXPECT_TRUE(release_pinned(memory).ok());
    EXPECT_FALSE(usable(memory, 1));
}

TEST_F(MemoryPlaceTest, ARangeThatIsRegisteredInPartIsPlainMemory) {
    constexpr std::size_t page = 4096;
    void* memory = std::aligned_alloc(page, 2 * page);
    Result<DeviceRecord*> record = current_device();
    ASSERT_TRUE(record.ok());
    Registration registration;
    registration.host = {memory, page};
    registration.record = *record;
    registration.mapped = true;
    const DeviceAddress address = device_address(memory);
    ASSERT_TRUE(register_host_memory(registration).ok());
    EXPECT_EQ(usable_place(address, page, "address")->kind, MemoryKind::registered_host);
    EXPECT_EQ(usable_place(address, page + 1, "address")->kind, MemoryKind::unknown);
    EXPECT_EQ(classify(address + page).kind, MemoryKind::unknown);
    EXPECT_TRUE(unregister_host_memory(address).ok());
    EXPECT_EQ(classify(address).kind, MemoryKind::unknown);
    std::free(memory);
}

TEST_F(MemoryPlaceTest, ManagedMemoryCountsAsTheDevices) {
    Result<DeviceAddress> memory = allocate_managed(1);
    ASSERT_TRUE(memory.ok());
    const MemoryPlace place = classify(*memory);
    EXPECT_EQ(place.kind, MemoryKind::managed);
    EXPECT_TRUE(place.on_device());
    EXPECT_TRUE(usable(*memory, managed_granularity));
    EXPECT_FALSE(usable(*memory, managed_granularity + 1));
    EXPECT_EQ(managed_bytes(), managed_granularity);
    EXPECT_TRUE(release_device_memory(*memory).ok());
    EXPECT_EQ(managed_bytes(), 0u);
}

TEST_F(MemoryPlaceTest, ReservedAddressesAreUsableWhereSomethingIsMapped) {
    PhysicalProperties properties;
    properties.memory_attribute = 4;
    Result<std::size_t> granularity = physical_granularity(properties, false);
    if (!granularity.ok()) GTEST_SKIP() << "this device maps nothing";
    const std::size_t page = *granularity;
    Result<DeviceAddress> address = reserve_addresses(2 * page, {});
    Result<Handle> physical = allocate_physical(page, properties);
    ASSERT_TRUE(address.ok() && physical.ok());
    EXPECT_EQ(classify(*address).kind, MemoryKind::mapped);
    EXPECT_FALSE(usable(*address, 1));
    ASSERT_TRUE(map_physical(*address, page, *physical, false).ok());
    EXPECT_FALSE(usable(*address, 1));
    ASSERT_TRUE(allow_access(*address, page, {LocationKind::device, 0}).ok());
    EXPECT_TRUE(usable(*address, page));
    EXPECT_FALSE(usable(*address, page + 1));
    EXPECT_TRUE(reachable(*address, page));
    EXPECT_TRUE(unmap_physical(*address).ok());
    EXPECT_TRUE(release_physical(*physical).ok());
    EXPECT_TRUE(release_addresses(*address).ok());
    EXPECT_EQ(classify(*address).kind, MemoryKind::unknown);
}

TEST_F(MemoryPlaceTest, EverythingIsCounted) {
    const LiveMemory before = count_live_memory();
    Result<void*> pinned = allocate_pinned({64, nullptr});
    Result<DeviceAddress> managed = allocate_managed(64);
    ASSERT_TRUE(pinned.ok() && managed.ok());
    EXPECT_GT(count_live_memory().host_bytes, before.host_bytes + managed_granularity);
    EXPECT_TRUE(release_pinned(device_address(*pinned)).ok());
    EXPECT_TRUE(release_device_memory(*managed).ok());
    EXPECT_EQ(count_live_memory().host_bytes, before.host_bytes);
    EXPECT_EQ(count_live_memory().objects, before.objects);
}

}  // namespace
}  // namespace canopy
