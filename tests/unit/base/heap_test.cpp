// SPDX-License-Identifier: Apache-2.0
// Heap: allocation and release, the pages behind them, and the errors that checking mode finds.
#include "base/heap.h"

#include <gtest/gtest.h>
#include <sys/mman.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <fstream>
#include <random>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "base/error_text.h"
#include "soft/fault_catcher.h"

namespace canopy {
namespace {

using test::read_faults;
using test::write_faults;

constexpr std::uint64_t mebibyte = std::uint64_t{1} << 20;

std::unique_ptr<Heap> make(std::uint64_t capacity, bool checking = false) {
    auto heap = Heap::create({"heap-test", capacity, checking});
    EXPECT_TRUE(heap.ok());
    return std::move(*heap);
}

std::byte* take(Heap& heap, std::size_t size, std::uint32_t flags = 0) {
    auto address = heap.allocate(size, flags);
    EXPECT_TRUE(address.ok());
    return address.ok() ? static_cast<std::byte*>(*address) : nullptr;
}

std::string recent_text() {
    const char* text = take_error_text();
    return text == nullptr ? "" : text;
}

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

TEST(Heap, ListsItsAllocationsAndKnowsThoseThatWereMarked) {
    for (const bool checking : {false, true}) {
        const auto heap = make(64 * mebibyte, checking);
        const std::byte* const begin = static_cast<std::byte*>(heap->range().base);
        EXPECT_FALSE(heap->next(begin));
        std::vector<std::byte*> blocks;
        for (const std::size_t size : {100, 5000, 512, 70'000}) blocks.push_back(take(*heap, size, 5));
        heap->mark_all();
        EXPECT_EQ(heap->flags(blocks[2]), 5u);
        EXPECT_EQ(heap->find(blocks[2])->size, 512u);
        EXPECT_TRUE(heap->release(blocks[1]).ok());
        std::byte* const fresh = take(*heap, 5000, 5);  // outside checking mode in the same place
        if (!checking) EXPECT_EQ(fresh, blocks[1]);
        std::vector<std::pair<void*, bool>> found;
        for (auto each = heap->next(begin); each;
             each = heap->next(static_cast<std::byte*>(each->range.base) + each->range.size))
            found.emplace_back(each->range.base, each->marked);
        std::vector<std::pair<void*, bool>> expected{
            {blocks[0], true}, {blocks[2], true}, {blocks[3], true}, {fresh, false}};
        std::sort(expected.begin(), expected.end());
        EXPECT_EQ(found, expected);
        heap->mark_all();
        EXPECT_TRUE(heap->next(fresh)->marked);
        EXPECT_TRUE(heap->release(fresh).ok());
        for (const int index : {0, 2, 3}) EXPECT_TRUE(heap->release(blocks[static_cast<std::size_t>(index)]).ok());
        EXPECT_FALSE(heap->next(begin));
    }
}

TEST(Heap, AddressesAreAlignedDisjointAndWritable) {
    const auto heap = make(64 * mebibyte);
    std::vector<std::byte*> blocks;
    for (const std::size_t size : {1, 63, 64, 512, 513, 4096, 100'000}) {
        std::byte* block = take(*heap, size);
        EXPECT_EQ(reinterpret_cast<std::uintptr_t>(block) % 512, 0u);
        std::memset(block, static_cast<int>(blocks.size() + 1), size);
        blocks.push_back(block);
    }
    for (std::size_t index = 0; index < blocks.size(); ++index)
        EXPECT_EQ(blocks[index][0], static_cast<std::byte>(index + 1));
    for (std::byte* block : blocks) EXPECT_TRUE(heap->release(block).ok());
    EXPECT_EQ(heap->usage().allocations, 0u);
    EXPECT_EQ(heap->usage().free, heap->usage().total);
}

TEST(Heap, FindGivesBaseAndRequestedSize) {
    for (const bool checking : {false, true}) {
        const auto heap = make(64 * mebibyte, checking);
        std::byte* block = take(*heap, 1000, 5);
        const auto found = heap->find(block + 999);
        ASSERT_TRUE(found);
        EXPECT_EQ(found->base, block);
        EXPECT_EQ(found->size, 1000u);
        EXPECT_EQ(heap->flags(block + 999), 5u);
        EXPECT_FALSE(heap->find(block + 1000));
        EXPECT_FALSE(heap->find(block - 1));
        EXPECT_FALSE(heap->find(&heap));
        EXPECT_FALSE(heap->find(nullptr));
        ASSERT_TRUE(heap->release(block).ok());
        EXPECT_FALSE(heap->find(block));
    }
}

TEST(Heap, UsageCountsBytesPeakAndAllocations) {
    for (const bool checking : {false, true}) {
        const auto heap = make(mebibyte, checking);
        std::byte* first = take(*heap, 1000);
        std::byte* second = take(*heap, 512);
        EXPECT_EQ(heap->usage().total, mebibyte);
        EXPECT_EQ(heap->usage().free, mebibyte - 1024 - 512);
        EXPECT_EQ(heap->usage().allocations, 2u);
        ASSERT_TRUE(heap->release(first).ok());
        ASSERT_TRUE(heap->release(second).ok());
        EXPECT_EQ(heap->usage().free, mebibyte);
        EXPECT_EQ(heap->usage().peak, 1536u);
    }
}

TEST(Heap, AnotherHeapAtTheSamePlaceTakesTheSameAllocations) {
    for (const bool checking : {false, true}) {
        std::vector<std::pair<std::byte*, std::size_t>> live;
        std::uintptr_t place = 0;
        {
            const auto heap = make(8 * mebibyte, checking);
            place = reinterpret_cast<std::uintptr_t>(heap->range().base);
            for (const std::size_t size : {1u, 63u, 64u, 4096u, 5000u, 70'000u, 2'000'000u})
                live.emplace_back(take(*heap, size), size);
            EXPECT_TRUE(heap->release(live[3].first).ok());
            live.erase(live.begin() + 3);
        }
        auto made = Heap::create({.name = "again", .capacity = 8 * mebibyte, .checking = checking, .place = place});
        ASSERT_TRUE(made.ok());
        Heap& heap = **made;
        ASSERT_EQ(reinterpret_cast<std::uintptr_t>(heap.range().base), place);
        for (auto next = live.rbegin(); next != live.rend(); ++next) {
            ASSERT_TRUE(heap.allocate_at(next->first, next->second, 3).ok());
            std::memset(next->first, 7, next->second);
            EXPECT_EQ(heap.find(next->first)->base, next->first);
            EXPECT_EQ(heap.find(next->first)->size, next->second);
            EXPECT_EQ(heap.flags(next->first), 3u);
            EXPECT_EQ(heap.allocate_at(next->first, next->second, 0).code(), 207001) << "they are taken";
        }
        EXPECT_EQ(heap.usage().allocations, live.size());
        EXPECT_EQ(heap.allocate_at(live[0].first, 0, 0).code(), 107000);
        EXPECT_EQ(heap.allocate_at(live[0].first + 1, 5, 0).code(), 107000);
        EXPECT_EQ(heap.allocate_at(live[0].first - 8 * mebibyte, 64, 0).code(), 107000);
        EXPECT_EQ(heap.allocate_at(live[0].first, 9 * mebibyte, 0).code(), 107000);
        const std::byte* other = take(heap, 100'000);
        for (const auto& [address, size] : live) {
            EXPECT_TRUE(other + 100'000 <= address || address + size <= other);
            EXPECT_EQ(address[0], std::byte{7});
            EXPECT_FALSE(heap.check());
            EXPECT_TRUE(heap.release(address).ok());
        }
    }
}

TEST(Heap, OutOfMemorySaysHowMuchWasAskedForAndHowMuchIsFree) {
    for (const bool checking : {false, true}) {
        const auto heap = make(mebibyte, checking);
        std::byte* block = take(*heap, mebibyte - 512);
        (void)recent_text();
        EXPECT_EQ(heap->allocate(1024, 0).status().code(), 207001);
        const std::string text = recent_text();
        EXPECT_TRUE(has(text, "1024 bytes") && has(text, "512 of 1048576")) << text;
        EXPECT_EQ(heap->allocate(~std::size_t{0}, 0).status().code(), 207001);
        std::byte* last = take(*heap, 512);
        EXPECT_TRUE(heap->release(last).ok());
        EXPECT_TRUE(heap->release(block).ok());
        EXPECT_TRUE(heap->release(take(*heap, mebibyte)).ok());
    }
}

TEST(Heap, EmptyAllocationIsAnError) {
    EXPECT_EQ(make(mebibyte)->allocate(0, 0).status().code(), 107000);
    EXPECT_EQ(Heap::create({"none", 0, false}).status().code(), 207001);
    EXPECT_EQ(Heap::create({"huge", ~std::uint64_t{0}, true}).status().code(), 207001);
}

TEST(Heap, ReleaseOfAWrongAddressSaysWhatIsWrong) {
    for (const bool checking : {false, true}) {
        const auto heap = make(64 * mebibyte, checking);
        std::byte* block = take(*heap, 4096);
        std::byte* other = take(*heap, 4096);
        (void)recent_text();

        EXPECT_EQ(heap->release(block + 512).code(), 107000);
        EXPECT_TRUE(has(recent_text(), "byte 512 of the 4096-byte allocation"));
        int local = 0;
        EXPECT_EQ(heap->release(&local).code(), 107000);
        EXPECT_TRUE(has(recent_text(), "not in device memory"));
        EXPECT_EQ(heap->release(nullptr).code(), 107000);
        EXPECT_TRUE(has(recent_text(), "not in device memory"));
        ASSERT_TRUE(heap->release(block).ok());
        EXPECT_EQ(heap->release(block).code(), 107000);
        EXPECT_TRUE(has(recent_text(), "already freed"));
        EXPECT_EQ(heap->usage().allocations, 1u);
        EXPECT_TRUE(heap->release(other).ok());
    }
}

TEST(Heap, ReleasedMemoryIsHandedOutAgainAtOnce) {
    const auto heap = make(256 * mebibyte);
    std::byte* keep = take(*heap, 512);
    for (const std::size_t size : {std::size_t{512}, std::size_t{mebibyte}, std::size_t{100 * mebibyte}}) {
        std::byte* block = take(*heap, size);
        ASSERT_TRUE(heap->release(block).ok());
        EXPECT_EQ(take(*heap, size), block);
        ASSERT_TRUE(heap->release(block).ok());
    }
    EXPECT_TRUE(heap->release(keep).ok());
}

TEST(Heap, AddressesAboveTheHighestAllocationFault) {
    const auto heap = make(1024 * mebibyte);
    std::byte* block = take(*heap, mebibyte);
    EXPECT_FALSE(write_faults(block + mebibyte - 1));
    EXPECT_TRUE(write_faults(block + 512 * mebibyte));
    EXPECT_TRUE(read_faults(block + 512 * mebibyte));
    std::byte* large = take(*heap, 700 * mebibyte);
    EXPECT_FALSE(write_faults(large + 700 * mebibyte - 1));
    EXPECT_TRUE(heap->release(block).ok());
    EXPECT_TRUE(heap->release(large).ok());
}

TEST(Heap, TrimGivesPagesOfFreeMemoryBackAndKeepsLiveBytes) {
    const auto heap = make(256 * mebibyte);
    std::vector<std::byte*> blocks;
    for (int index = 0; index < 32; ++index) {
        blocks.push_back(take(*heap, mebibyte));
        std::memset(blocks.back(), index + 1, mebibyte);
    }
    EXPECT_GE(heap->resident(), 32 * mebibyte);
    for (int index = 0; index < 32; ++index) {
        if (index != 7) {
            EXPECT_TRUE(heap->release(blocks[index]).ok());
        }
    }
    EXPECT_GE(heap->resident(), 32 * mebibyte);
    heap->trim();
    EXPECT_EQ(heap->resident(), mebibyte);
    for (std::uint64_t offset = 0; offset < mebibyte; offset += 4096) ASSERT_EQ(blocks[7][offset], std::byte{8});
    std::byte* again = take(*heap, mebibyte);
    std::memset(again, 0x11, mebibyte);
    EXPECT_EQ(again[mebibyte - 1], std::byte{0x11});
    EXPECT_TRUE(heap->release(again).ok());
    EXPECT_TRUE(heap->release(blocks[7]).ok());
}

TEST(Heap, LargeFreedBlocksGoBackToTheSystemWhenTooMuchLiesUnused) {
    auto made = Heap::create({"heap-test", 1024 * mebibyte, false, 100 * mebibyte});
    ASSERT_TRUE(made.ok());
    const auto heap = std::move(*made);
    std::vector<std::byte*> blocks;
    for (int index = 0; index < 3; ++index) {
        blocks.push_back(take(*heap, 64 * mebibyte));
        std::memset(blocks.back(), 1, 64 * mebibyte);
    }
    ASSERT_TRUE(heap->release(blocks[1]).ok());
    EXPECT_EQ(heap->resident(), 192 * mebibyte) << "one block below the limit stays warm";
    ASSERT_TRUE(heap->release(blocks[0]).ok());
    EXPECT_EQ(heap->resident(), 128 * mebibyte);
    EXPECT_EQ(blocks[2][5], std::byte{1});
    ASSERT_TRUE(heap->release(blocks[2]).ok());
    EXPECT_EQ(heap->resident(), 64 * mebibyte);
}

TEST(Heap, OtherMappingsOfTheFileShowTheSameBytes) {
    const auto heap = make(64 * mebibyte);
    take(*heap, 4096);
    std::byte* block = take(*heap, 4096);
    std::memcpy(block, "shared", 7);
    void* view = mmap(nullptr, 4096, PROT_READ, MAP_SHARED, heap->file(), static_cast<off_t>(heap->offset_of(block)));
    ASSERT_NE(view, MAP_FAILED);
    EXPECT_STREQ(static_cast<const char*>(view), "shared");
    munmap(view, 4096);
}

TEST(Heap, ClaimedBytesAreNotAvailableToAllocations) {
    const auto heap = make(mebibyte);
    EXPECT_TRUE(heap->claim(mebibyte / 2));
    EXPECT_FALSE(heap->claim(mebibyte / 2 + 1));
    EXPECT_EQ(heap->usage().free, mebibyte / 2);
    EXPECT_EQ(heap->allocate(mebibyte / 2 + 1, 0).status().code(), 207001);
    heap->unclaim(mebibyte / 2);
    EXPECT_TRUE(heap->release(take(*heap, mebibyte)).ok());
}

TEST(Heap, DescribesAddressesInPlainWords) {
    const auto heap = make(256 * mebibyte);
    std::byte* first = take(*heap, 4096);
    std::byte* second = take(*heap, 100);
    const std::string at = fmt::format("{}", static_cast<void*>(second));
    EXPECT_EQ(heap->describe(second + 3), "byte 3 of the 100-byte allocation at " + at);
    EXPECT_EQ(heap->describe(second + 100), "1 byte past the end of the 100-byte allocation at " + at);
    EXPECT_EQ(heap->describe(second + 1000), "901 bytes past the end of the 100-byte allocation at " + at);
    EXPECT_EQ(heap->describe(second + 10 * mebibyte), "in device memory that is not allocated");
    EXPECT_EQ(heap->describe(&at), "not in device memory");
    ASSERT_TRUE(heap->release(first).ok());
    EXPECT_EQ(heap->describe(first + 17),
              fmt::format("inside the freed 4096-byte allocation at {}", static_cast<void*>(first)));
    EXPECT_TRUE(heap->release(second).ok());
}

// Every thread writes its own pattern into its blocks and verifies it before freeing them.
void churn(Heap& heap, unsigned seed, int steps, std::atomic<int>& damaged) {
    std::mt19937 random(seed);
    std::vector<std::pair<std::byte*, std::size_t>> mine;
    const auto drop = [&](std::size_t index) {
        const auto [block, size] = mine[index];
        const auto found = heap.find(block + size - 1);
        const bool intact = found && found->base == block && found->size == size &&
                            block[0] == static_cast<std::byte>(seed) && block[size - 1] == static_cast<std::byte>(seed);
        if (!intact || !heap.release(block).ok()) ++damaged;
        mine[index] = mine.back();
        mine.pop_back();
    };
    for (int step = 0; step < steps; ++step) {
        if (mine.size() < 32 && random() % 2 == 0) {
            const std::size_t size = 1 + random() % (random() % 8 == 0 ? 3 * mebibyte : 20'000);
            auto block = heap.allocate(size, 0);
            if (!block.ok()) continue;
            mine.emplace_back(static_cast<std::byte*>(*block), size);
            mine.back().first[0] = mine.back().first[size - 1] = static_cast<std::byte>(seed);
        } else if (!mine.empty()) {
            drop(random() % mine.size());
        }
    }
    while (!mine.empty()) drop(0);
}

TEST(Heap, ManyThreadsAllocateAndReleaseAtOnce) {
    for (const bool checking : {false, true}) {
        const auto heap = make(128 * mebibyte, checking);
        std::atomic<int> damaged{0};
        std::atomic<bool> stop{false};
        std::thread trimmer([&] {
            while (!stop) heap->trim();
        });
        std::vector<std::thread> threads;
        for (unsigned seed = 1; seed <= 6; ++seed)
            threads.emplace_back([&, seed] { churn(*heap, seed, checking ? 1'000 : 10'000, damaged); });
        for (std::thread& thread : threads) thread.join();
        stop = true;
        trimmer.join();
        EXPECT_EQ(damaged, 0);
        EXPECT_EQ(heap->usage().allocations, 0u);
        EXPECT_EQ(heap->usage().free, heap->usage().total);
        EXPECT_FALSE(heap->check());
    }
}

TEST(Heap, AllThreadsTogetherReleaseAnAddressExactlyOnce) {
    for (const bool checking : {false, true}) {
        const auto heap = make(512 * mebibyte, checking);
        for (const std::size_t size : {std::size_t{1000}, std::size_t{65 * mebibyte}}) {
            for (int round = 0; round < 50; ++round) {
                std::byte* block = take(*heap, size);
                std::atomic<int> released{0};
                std::vector<std::thread> threads;
                for (int index = 0; index < 3; ++index)
                    threads.emplace_back([&] { released += heap->release(block).ok() ? 1 : 0; });
                for (std::thread& thread : threads) thread.join();
                ASSERT_EQ(released, 1);
            }
        }
        EXPECT_EQ(heap->usage().allocations, 0u);
    }
}

TEST(CheckingHeap, WriteOneBytePastABlockOfWholePagesFaults) {
    const auto heap = make(64 * mebibyte, true);
    std::byte* block = take(*heap, 4096);
    std::byte* neighbour = take(*heap, 4096);
    EXPECT_FALSE(write_faults(block));
    EXPECT_FALSE(write_faults(block + 4095));
    EXPECT_TRUE(write_faults(block + 4096));
    EXPECT_TRUE(read_faults(block + 4096));
    EXPECT_TRUE(write_faults(neighbour - 1));
    EXPECT_EQ(heap->describe(block + 4096),
              fmt::format("1 byte past the end of the 4096-byte allocation at {}", static_cast<void*>(block)));
    EXPECT_FALSE(heap->check());
    EXPECT_TRUE(heap->release(block).ok());
    EXPECT_TRUE(heap->release(neighbour).ok());
}

TEST(CheckingHeap, WriteOneBytePastAnOddSizeIsFoundByCheck) {
    const auto heap = make(64 * mebibyte, true);
    std::byte* before = take(*heap, 100);
    std::byte* block = take(*heap, 100);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(block) % Heap::alignment, 0u);
    std::memset(block, 0, 100);
    EXPECT_FALSE(heap->check());
    block[100] = std::byte{1};
    const auto finding = heap->check();
    ASSERT_TRUE(finding);
    EXPECT_EQ(finding->base, block);
    EXPECT_EQ(finding->size, 100u);
    EXPECT_EQ(finding->offset, 100);
    EXPECT_FALSE(finding->freed);
    EXPECT_EQ(finding->describe(), fmt::format("memory written 1 byte past the end of the 100-byte allocation at {}",
                                               static_cast<void*>(block)));
    EXPECT_FALSE(heap->check()) << "a damage is reported once";
    EXPECT_TRUE(write_faults(block + 128)) << "the guard page follows the 64-byte unit";
    EXPECT_TRUE(heap->release(block).ok());
    EXPECT_TRUE(heap->release(before).ok());
    EXPECT_FALSE(heap->check());
}

TEST(CheckingHeap, WriteInFrontOfABlockIsFoundByCheck) {
    const auto heap = make(64 * mebibyte, true);
    std::byte* block = take(*heap, 100);
    block[-3] = std::byte{1};
    const auto finding = heap->check();
    ASSERT_TRUE(finding);
    EXPECT_EQ(finding->offset, -3);
    EXPECT_TRUE(has(finding->describe(), "3 bytes before the start of the 100-byte allocation"));
    EXPECT_TRUE(heap->release(block).ok());
}

TEST(CheckingHeap, DamageOfABlockFreedBeforeTheCheckIsReportedAfterwards) {
    const auto heap = make(64 * mebibyte, true);
    std::byte* block = take(*heap, 100);
    block[110] = std::byte{0};
    EXPECT_TRUE(heap->release(block).ok());
    const auto finding = heap->check();
    ASSERT_TRUE(finding);
    EXPECT_EQ(finding->base, block);
    EXPECT_EQ(finding->offset, 110);
    EXPECT_TRUE(finding->freed);
    EXPECT_FALSE(heap->check());
}

TEST(CheckingHeap, UseAfterFreeFaultsAndIsDescribed) {
    const auto heap = make(64 * mebibyte, true);
    std::byte* block = take(*heap, 10'000);
    ASSERT_TRUE(heap->release(block).ok());
    EXPECT_TRUE(read_faults(block));
    EXPECT_TRUE(write_faults(block + 9'999));
    EXPECT_EQ(heap->describe(block + 5),
              fmt::format("inside the freed 10000-byte allocation at {}", static_cast<void*>(block)));
    std::byte* next = take(*heap, 10'000);
    EXPECT_NE(next, block) << "a freed address waits before it is used again";
    EXPECT_TRUE(heap->release(next).ok());
}

TEST(CheckingHeap, LeavesMappingsToTheRestOfTheProcess) {
    std::uint64_t mappings = 0;
    std::ifstream("/proc/sys/vm/max_map_count") >> mappings;
    if (mappings > 100'000) GTEST_SKIP() << "this system allows more mappings than a test should use";
    const auto heap = make(1024 * mebibyte, true);
    std::vector<void*> blocks;
    int code = 0;
    while (code == 0) {
        auto block = heap->allocate(64, 0);
        if (block.ok()) blocks.push_back(*block);
        code = block.status().code();
        ASSERT_LE(blocks.size(), mappings);
    }
    EXPECT_EQ(code, 207001);
    EXPECT_TRUE(has(recent_text(), "vm.max_map_count"));
    EXPECT_GT(blocks.size(), mappings / 3);
    std::thread([] {}).join();
    for (void* block : blocks) ASSERT_TRUE(heap->release(block).ok());
    EXPECT_TRUE(heap->release(take(*heap, 64)).ok());
}

TEST(CheckingHeap, QuarantineNeverKeepsAnAllocationOut) {
    const auto heap = make(64 * mebibyte, true);
    for (int round = 0; round < 2'000; ++round) {
        std::byte* block = take(*heap, 60 * mebibyte);
        ASSERT_NE(block, nullptr);
        block[round] = std::byte{1};
        ASSERT_TRUE(heap->release(block).ok());
    }
    EXPECT_LE(heap->resident(), mebibyte) << "freed memory keeps addresses, not pages";
}

}  // namespace
}  // namespace canopy
