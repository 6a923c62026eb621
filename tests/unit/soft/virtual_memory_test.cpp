// SPDX-License-Identifier: Apache-2.0
// SoftVirtualMemory: physical memory, reservations and mappings, their rules and their bookkeeping.
#include "device/soft/memory/virtual_memory.h"

#include <gtest/gtest.h>

#include <atomic>
#include <cstring>
#include <thread>
#include <vector>

#include "device/opaque_pointer.h"
#include "soft/fault_catcher.h"

namespace canopy {
namespace {

using test::read_faults;
using test::write_faults;

constexpr std::size_t page = SoftVirtualMemory::page;

#if defined(__SANITIZE_THREAD__)
constexpr bool range_is_usable = false;  // the thread sanitizer does not let programs use these addresses
#else
constexpr bool range_is_usable = true;
#endif

class VirtualMemoryTest : public testing::Test {
protected:
    VirtualMemoryTest() {
        auto heap = Heap::create({"budget", 64 * page, false});
        EXPECT_TRUE(heap.ok());
        heap_ = std::move(*heap);
        auto memory = SoftVirtualMemory::create("physical", *heap_);
        EXPECT_TRUE(memory.ok());
        memory_ = std::move(*memory);
    }
    void TearDown() override {
        const auto counts = memory_->counts();
        EXPECT_EQ(counts.physical, 0u);
        EXPECT_EQ(counts.reservations, 0u);
        EXPECT_EQ(counts.mappings, 0u);
        EXPECT_EQ(heap_->usage().free, heap_->usage().total);
    }

    VirtualMemory::Physical physical(std::size_t size) {
        auto made = memory_->create(size);
        EXPECT_TRUE(made.ok());
        return made.ok() ? *made : 0;
    }
    std::byte* reservation(std::size_t size, std::size_t alignment = 0) {
        auto made = memory_->reserve(size, alignment, {});
        EXPECT_TRUE(made.ok());
        return made.ok() ? static_cast<std::byte*>(opaque_pointer(*made)) : nullptr;
    }

    std::unique_ptr<Heap> heap_;
    std::unique_ptr<SoftVirtualMemory> memory_;
};

TEST_F(VirtualMemoryTest, MappedMemoryIsWritableAndStartsAsZero) {
    std::byte* base = reservation(4 * page);
    EXPECT_TRUE(write_faults(base)) << "a bare reservation has no access";
    const auto memory = physical(2 * page);
    ASSERT_TRUE(memory_->map(device_address(base + page), 2 * page, memory, true).ok());
    EXPECT_EQ(base[page], std::byte{0});
    std::memset(base + page, 7, 2 * page);
    EXPECT_TRUE(write_faults(base + page - 1));
    EXPECT_TRUE(write_faults(base + 3 * page));
    ASSERT_TRUE(memory_->unmap(device_address(base + page), 2 * page).ok());
    EXPECT_TRUE(read_faults(base + page));
    memory_->destroy(memory);
    EXPECT_TRUE(memory_->unreserve(device_address(base)).ok());
}

TEST_F(VirtualMemoryTest, ReservationsLieInTheRangeAndAreAligned) {
    EXPECT_EQ(memory_->granularity(false), page);
    EXPECT_EQ(memory_->granularity(true), page);
    for (const std::size_t alignment : {std::size_t{0}, std::size_t{1}, page, 64 * page, std::size_t{1} << 30}) {
        std::byte* base = reservation(3 * page, alignment);
        const auto number = reinterpret_cast<std::uintptr_t>(base);
        EXPECT_EQ(number % std::max(alignment, page), 0u);
        if (range_is_usable) {
            EXPECT_GE(number, SoftVirtualMemory::first_address);
            EXPECT_LT(number, SoftVirtualMemory::end_address);
        }
        EXPECT_TRUE(memory_->unreserve(device_address(base)).ok());
        EXPECT_FALSE(memory_->unreserve(device_address(base)).ok());
    }
}

TEST_F(VirtualMemoryTest, AWantedAddressIsGrantedWhenFreeAndReplacedWhenTaken) {
    const DeviceAddress wanted(SoftVirtualMemory::first_address + (std::uintptr_t{1} << 40));
    const auto first = memory_->reserve(page, 0, wanted);
    ASSERT_TRUE(first.ok());
    if (range_is_usable) {
        EXPECT_EQ(first.value(), wanted);
    }
    const auto second = memory_->reserve(page, 0, wanted);
    ASSERT_TRUE(second.ok());
    EXPECT_NE(second.value(), first.value());
    EXPECT_TRUE(memory_->unreserve(first.value()).ok());
    EXPECT_TRUE(memory_->unreserve(second.value()).ok());
}

TEST_F(VirtualMemoryTest, ReserveRefusesWrongArguments) {
    const DeviceAddress low(SoftVirtualMemory::first_address - page);
    const DeviceAddress high(SoftVirtualMemory::end_address);
    const DeviceAddress too_close(SoftVirtualMemory::end_address - page);
    const DeviceAddress crooked(SoftVirtualMemory::first_address + 4096);
    EXPECT_EQ(memory_->reserve(0, 0, {}).status().code(), 107000);
    EXPECT_EQ(memory_->reserve(page + 1, 0, {}).status().code(), 107000);
    EXPECT_EQ(memory_->reserve(page, 3, {}).status().code(), 107000);
    EXPECT_EQ(memory_->reserve(page, 0, low).status().code(), 107000);
    EXPECT_EQ(memory_->reserve(page, 0, high).status().code(), 107000);
    EXPECT_EQ(memory_->reserve(2 * page, 0, too_close).status().code(), 107000);
    EXPECT_EQ(memory_->reserve(page, 0, crooked).status().code(), 107000);
    EXPECT_EQ(memory_->reserve(std::size_t{16} << 40, 0, {}).status().code(), 207001);
    EXPECT_EQ(memory_->reserve(page, std::size_t{1} << 63, {}).status().code(), 207001);
}

TEST_F(VirtualMemoryTest, OnePhysicalMemoryShowsTheSameBytesAtTwoAddresses) {
    std::byte* first = reservation(page);
    std::byte* second = reservation(2 * page);
    const auto memory = physical(page);
    ASSERT_TRUE(memory_->map(device_address(first), page, memory, true).ok());
    ASSERT_TRUE(memory_->map(device_address(second + page), page, memory, true).ok());
    std::memcpy(first + 100, "alias", 6);
    EXPECT_STREQ(reinterpret_cast<const char*>(second + page + 100), "alias");
    second[page] = std::byte{9};
    EXPECT_EQ(first[0], std::byte{9});
    ASSERT_TRUE(memory_->unmap(device_address(first), page).ok());
    EXPECT_EQ(second[page], std::byte{9});
    ASSERT_TRUE(memory_->unmap(device_address(second + page), page).ok());
    memory_->destroy(memory);
    EXPECT_TRUE(memory_->unreserve(device_address(first)).ok());
    EXPECT_TRUE(memory_->unreserve(device_address(second)).ok());
}

TEST_F(VirtualMemoryTest, BytesStayWithThePhysicalMemory) {
    std::byte* base = reservation(2 * page);
    const auto memory = physical(page);
    ASSERT_TRUE(memory_->map(device_address(base), page, memory, true).ok());
    base[5] = std::byte{42};
    ASSERT_TRUE(memory_->unmap(device_address(base), page).ok());
    ASSERT_TRUE(memory_->map(device_address(base + page), page, memory, true).ok());
    EXPECT_EQ(base[page + 5], std::byte{42});
    ASSERT_TRUE(memory_->unmap(device_address(base + page), page).ok());
    memory_->destroy(memory);
    const auto fresh = physical(page);
    ASSERT_TRUE(memory_->map(device_address(base), page, fresh, true).ok());
    EXPECT_EQ(base[5], std::byte{0}) << "new physical memory shows nothing of the old";
    ASSERT_TRUE(memory_->unmap(device_address(base), page).ok());
    memory_->destroy(fresh);
    EXPECT_TRUE(memory_->unreserve(device_address(base)).ok());
}

TEST_F(VirtualMemoryTest, InaccessibleMappingFaultsUntilAccessIsSet) {
    std::byte* base = reservation(3 * page);
    const auto first = physical(page);
    const auto second = physical(2 * page);
    ASSERT_TRUE(memory_->map(device_address(base), page, first, false).ok());
    ASSERT_TRUE(memory_->map(device_address(base + page), 2 * page, second, false).ok());
    EXPECT_TRUE(read_faults(base));
    EXPECT_FALSE(memory_->find(device_address(base))->accessible);
    EXPECT_EQ(memory_->set_accessible(device_address(base), page / 2).code(), 107000);
    EXPECT_EQ(memory_->set_accessible(device_address(base), 2 * page).code(), 107000);
    EXPECT_EQ(memory_->set_accessible(device_address(base + page / 2), page).code(), 107000);
    EXPECT_EQ(memory_->set_accessible(device_address(base), 0).code(), 107000);
    ASSERT_TRUE(memory_->set_accessible(device_address(base), 3 * page).ok());
    EXPECT_FALSE(write_faults(base));
    EXPECT_FALSE(write_faults(base + 3 * page - 1));
    EXPECT_TRUE(memory_->find(device_address(base + 2 * page))->accessible);
    ASSERT_TRUE(memory_->unmap(device_address(base), 3 * page).ok());
    memory_->destroy(first);
    memory_->destroy(second);
    EXPECT_TRUE(memory_->unreserve(device_address(base)).ok());
}

TEST_F(VirtualMemoryTest, DestroyedMemoryLivesUntilItsLastMappingGoes) {
    std::byte* base = reservation(2 * page);
    const auto memory = physical(page);
    ASSERT_TRUE(memory_->map(device_address(base), page, memory, true).ok());
    memory_->destroy(memory);
    base[0] = std::byte{1};
    EXPECT_EQ(memory_->counts().physical, 1u);
    EXPECT_EQ(heap_->usage().free, heap_->usage().total - page);
    EXPECT_EQ(memory_->map(device_address(base + page), page, memory, true).code(), 107017)
        << "its handle is gone at once";
    memory_->destroy(memory);
    EXPECT_FALSE(memory_->size_of(memory));
    ASSERT_TRUE(memory_->unmap(device_address(base), page).ok());
    EXPECT_EQ(memory_->counts().physical, 0u);
    EXPECT_TRUE(memory_->unreserve(device_address(base)).ok());
}

TEST_F(VirtualMemoryTest, MapRefusesWrongArguments) {
    std::byte* base = reservation(2 * page);
    const auto memory = physical(page);
    const auto large = physical(4 * page);
    EXPECT_EQ(memory_->map(device_address(base), page, 0, true).code(), 107017);
    EXPECT_EQ(memory_->map(device_address(base), page, 9999, true).code(), 107017);
    EXPECT_EQ(memory_->map(device_address(base), 2 * page, memory, true).code(), 107000) << "not the physical size";
    EXPECT_EQ(memory_->map(device_address(base + 4096), page, memory, true).code(), 107000) << "crooked address";
    EXPECT_EQ(memory_->map(device_address(base), 4 * page, large, true).code(), 107000)
        << "longer than the reservation";
    EXPECT_EQ(memory_->map(device_address(base + 2 * page), page, memory, true).code(), 107000)
        << "behind the reservation";
    EXPECT_EQ(memory_->map(device_address(base - page), page, memory, true).code(), 107000)
        << "in front of the reservation";
    EXPECT_EQ(memory_->map({}, page, memory, true).code(), 107000);
    ASSERT_TRUE(memory_->map(device_address(base), page, memory, true).ok());
    EXPECT_EQ(memory_->map(device_address(base), page, memory, true).code(), 107000) << "already mapped";
    EXPECT_EQ(memory_->unreserve(device_address(base)).code(), 107000) << "still mapped";
    EXPECT_EQ(memory_->unreserve(device_address(base + page)).code(), 107000) << "not the start";
    EXPECT_EQ(memory_->unmap(device_address(base + page), page).code(), 107000) << "nothing there";
    EXPECT_EQ(memory_->unmap(device_address(base), 2 * page).code(), 107000) << "more than is mapped";
    EXPECT_EQ(memory_->counts().mappings, 1u);
    ASSERT_TRUE(memory_->unmap(device_address(base), page).ok());
    memory_->destroy(memory);
    memory_->destroy(large);
    EXPECT_TRUE(memory_->unreserve(device_address(base)).ok());
    EXPECT_EQ(memory_->unreserve(device_address(base)).code(), 107000);
}

TEST_F(VirtualMemoryTest, PhysicalMemoryCountsAgainstTheDevice) {
    EXPECT_EQ(memory_->create(0).status().code(), 107000);
    EXPECT_EQ(memory_->create(page - 1).status().code(), 107000);
    EXPECT_EQ(memory_->create(65 * page).status().code(), 207001);
    const auto all = physical(64 * page);
    EXPECT_EQ(memory_->create(page).status().code(), 207001);
    EXPECT_EQ(heap_->allocate(1, 0).status().code(), 207001);
    memory_->destroy(all);
    const auto address = heap_->allocate(64 * page, 0);
    ASSERT_TRUE(address.ok());
    EXPECT_EQ(memory_->create(page).status().code(), 207001);
    EXPECT_TRUE(heap_->release(address.value()).ok());
}

TEST_F(VirtualMemoryTest, FindGivesTheMappingAroundAnAddress) {
    std::byte* base = reservation(4 * page);
    const auto memory = physical(2 * page);
    ASSERT_TRUE(memory_->map(device_address(base + page), 2 * page, memory, true).ok());
    EXPECT_FALSE(memory_->find(device_address(base)));
    const auto found = memory_->find(device_address(base + 3 * page - 1));
    ASSERT_TRUE(found);
    EXPECT_EQ(found->range.base, device_address(base + page));
    EXPECT_EQ(found->range.size, 2 * page);
    EXPECT_EQ(found->memory, memory);
    EXPECT_FALSE(memory_->find(device_address(base + 3 * page)));
    EXPECT_FALSE(memory_->find({}));
    EXPECT_EQ(memory_->size_of(memory), 2 * page);
    ASSERT_TRUE(memory_->unmap(device_address(base + page), 2 * page).ok());
    EXPECT_FALSE(memory_->find(device_address(base + page)));
    memory_->destroy(memory);
    EXPECT_TRUE(memory_->unreserve(device_address(base)).ok());
}

TEST_F(VirtualMemoryTest, WhatIsLeftIsGivenBackWithTheObject) {
    std::byte* base = reservation(2 * page);
    const auto memory = physical(page);
    ASSERT_TRUE(memory_->map(device_address(base), page, memory, true).ok());
    memory_.reset();
    EXPECT_TRUE(read_faults(base));
    EXPECT_EQ(heap_->usage().free, heap_->usage().total);
    auto again = SoftVirtualMemory::create("physical", *heap_);
    ASSERT_TRUE(again.ok());
    memory_ = std::move(*again);
}

TEST_F(VirtualMemoryTest, ManyThreadsReserveMapAndUnmapAtOnce) {
    std::atomic<int> failures{0};
    std::vector<std::thread> threads;
    for (int thread = 1; thread <= 4; ++thread) {
        threads.emplace_back([&, thread] {
            for (int round = 0; round < 200; ++round) {
                auto base = memory_->reserve(2 * page, 0, {});
                auto memory = memory_->create(page);
                if (!base.ok() || !memory.ok()) {
                    ++failures;
                    continue;
                }
                auto* bytes = static_cast<std::byte*>(opaque_pointer(*base));
                bool ok = memory_->map(device_address(bytes), page, *memory, false).ok() &&
                          memory_->set_accessible(device_address(bytes), page).ok();
                if (ok) {
                    bytes[round] = static_cast<std::byte>(thread);
                    ok = bytes[round] == static_cast<std::byte>(thread) &&
                         memory_->find(device_address(bytes))->memory == *memory;
                }
                memory_->destroy(*memory);
                ok = ok && memory_->unmap(device_address(bytes), page).ok() &&
                     memory_->unreserve(device_address(bytes)).ok();
                failures += ok ? 0 : 1;
            }
        });
    }
    for (std::thread& thread : threads) thread.join();
    EXPECT_EQ(failures, 0);
}

}  // namespace
}  // namespace canopy
