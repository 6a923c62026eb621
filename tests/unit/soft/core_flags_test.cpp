// SPDX-License-Identifier: Apache-2.0
// The table of cross-core flags, without running any cores: which cores a set counts for, which it releases, and the
// limits of a counter.
#include "device/execution/core_flags.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>

#include <canopy/chips.h>
#include "device/execution/core.h"

namespace canopy {
namespace {

constexpr CoreGroup one_and_two{1, 2};

// The cores of `groups` groups, each with a fiber that can be parked in a wait.
class Table {
public:
    explicit Table(CoreGroup group, std::uint32_t groups) {
        EXPECT_TRUE(flags.begin(group, groups));
        for (std::uint32_t i = 0; i < groups * group.size(); ++i) {
            fibers.push_back(std::make_unique<ParkedCore>());
            fibers.back()->number = i;
        }
    }
    ~Table() { flags.take_waiting(); }

    // Numbers of the cores released by a set.
    std::vector<std::uint32_t> set(std::uint32_t core, std::uint32_t mode, std::uint32_t id) {
        ParkedCores released;
        EXPECT_TRUE(flags.set(core, mode, id, released));
        return numbers(released);
    }
    std::vector<std::uint32_t> wait(std::uint32_t core, std::uint8_t mode, std::uint8_t id) {
        return stand(core, {WaitKind::flag, 0, mode, id});
    }
    std::vector<std::uint32_t> stand(std::uint32_t core, const CoreWait& wait) {
        ParkedCores released;
        fibers[core]->wait = wait;
        flags.wait(core, fibers[core].get(), released);
        return numbers(released);
    }
    // How often each core could take the flag.
    std::vector<int> counts(std::uint32_t mode, std::uint32_t id) {
        std::vector<int> all;
        for (std::uint32_t core = 0; core < fibers.size(); ++core) {
            int count = 0;
            while (flags.take(core, mode, id)) ++count;
            all.push_back(count);
        }
        return all;
    }

    CoreFlags flags;
    std::vector<std::unique_ptr<ParkedCore>> fibers;

private:
    static std::vector<std::uint32_t> numbers(ParkedCores& released) {
        std::vector<std::uint32_t> found;
        while (ParkedCore* fiber = released.pop()) found.push_back(fiber->number);
        std::sort(found.begin(), found.end());
        return found;
    }
};

using Counts = std::vector<int>;
using Cores = std::vector<std::uint32_t>;

TEST(CoreFlags, ModeZeroCountsForAllOfAKindOnceEachHasSetIt) {
    Table table(one_and_two, 2);  // cube 0, vector 1 2, cube 3, vector 4 5
    for (const std::uint32_t core : {1u, 2u, 4u, 4u}) table.set(core, 0, 7);
    EXPECT_EQ(table.counts(0, 7), Counts({0, 0, 0, 0, 0, 0}));
    table.set(5, 0, 7);
    EXPECT_EQ(table.counts(0, 7), Counts({0, 1, 1, 0, 1, 1}));
    for (const std::uint32_t core : {1u, 2u, 5u}) table.set(core, 0, 7);  // the second set of core 4 still counts
    EXPECT_EQ(table.counts(0, 7), Counts({0, 1, 1, 0, 1, 1}));
    table.set(0, 0, 7);
    table.set(3, 0, 7);
    EXPECT_EQ(table.counts(0, 7), Counts({1, 0, 0, 1, 0, 0}));
}

TEST(CoreFlags, ModeOneStaysInsideTheGroup) {
    Table table(one_and_two, 2);
    table.set(1, 1, 0);
    table.set(5, 1, 0);
    EXPECT_EQ(table.counts(1, 0), Counts({0, 0, 0, 0, 0, 0}));
    table.set(2, 1, 0);
    EXPECT_EQ(table.counts(1, 0), Counts({0, 1, 1, 0, 0, 0}));
}

TEST(CoreFlags, ModeTwoGoesFromTheCubeToEachVectorCoreAndFromAllOfThemBack) {
    Table table(one_and_two, 2);
    table.set(0, 2, 15);
    table.set(0, 2, 15);
    EXPECT_EQ(table.counts(2, 15), Counts({0, 2, 2, 0, 0, 0}));
    table.set(4, 2, 15);
    EXPECT_EQ(table.counts(2, 15), Counts({0, 0, 0, 0, 0, 0}));
    table.set(5, 2, 15);
    EXPECT_EQ(table.counts(2, 15), Counts({0, 0, 0, 1, 0, 0}));
}

TEST(CoreFlags, ModeFourReachesOneCoreAndKeepsToItself) {
    Table table(one_and_two, 2);
    table.set(3, 4, 2);
    table.set(3, 4, 16 + 2);
    table.set(3, 4, 16 + 2);
    EXPECT_EQ(table.counts(2, 2), Counts({0, 0, 0, 0, 0, 0}));
    EXPECT_EQ(table.counts(4, 2), Counts({0, 0, 0, 0, 1, 2}));
    table.set(4, 4, 5);
    table.set(5, 4, 5);
    table.set(5, 4, 5);
    EXPECT_EQ(table.counts(4, 5), Counts({0, 0, 0, 1, 0, 0}));
    int second = 0;
    while (table.flags.take(3, 4, 16 + 5)) ++second;
    EXPECT_EQ(second, 2);
}

TEST(CoreFlags, WaitersAreReleasedInsteadOfCounted) {
    Table table(one_and_two, 1);
    EXPECT_EQ(table.wait(1, 2, 3), Cores{});
    EXPECT_EQ(table.wait(2, 2, 4), Cores{});
    EXPECT_EQ(table.flags.waiting(), 2u);
    EXPECT_EQ(table.flags.first_waiting(), table.fibers[1].get());
    EXPECT_EQ(table.set(0, 2, 3), Cores{1});
    EXPECT_EQ(table.counts(2, 3), Counts({0, 0, 1}));
    EXPECT_EQ(table.set(0, 2, 4), Cores{2});
    EXPECT_EQ(table.counts(2, 4), Counts({0, 1, 0}));
    table.set(0, 2, 6);
    EXPECT_EQ(table.wait(1, 2, 6), Cores{1}) << "set before the wait";
    EXPECT_EQ(table.flags.waiting(), 0u);
}

TEST(CoreFlags, VectorCoresOfAGroupMeet) {
    Table table(one_and_two, 2);
    const CoreWait meeting{WaitKind::meeting, CANOPY_SYNC_PAIR, 0, 0};
    EXPECT_EQ(table.stand(1, meeting), Cores{});
    EXPECT_EQ(table.stand(5, meeting), Cores{});
    EXPECT_EQ(table.wait(4, 2, 0), Cores{}) << "another wait is no part of the meeting";
    EXPECT_EQ(table.stand(2, meeting), (Cores{1, 2}));
    EXPECT_EQ(table.set(3, 2, 0), Cores{4});
    EXPECT_EQ(table.stand(4, meeting), (Cores{4, 5}));
}

TEST(CoreFlags, CountersEndAtTheirLimit) {
    for (const auto& [core, mode] : {std::pair{0u, 2u}, {0u, 4u}, {1u, 4u}, {1u, 2u}, {1u, 1u}, {1u, 0u}}) {
        Table table(one_and_two, 1);
        ParkedCores released;
        for (std::uint32_t i = 0; i < CANOPY_FLAG_LIMIT; ++i) EXPECT_TRUE(table.flags.set(core, mode, 1, released));
        EXPECT_FALSE(table.flags.set(core, mode, 1, released)) << core << " " << mode;
    }
}

TEST(CoreFlags, BeginForgetsEverything) {
    Table table(one_and_two, 1);
    table.set(0, 2, 1);
    table.set(1, 0, 1);
    ASSERT_TRUE(table.flags.begin(one_and_two, 1));
    EXPECT_EQ(table.counts(2, 1), Counts({0, 0, 0}));
    table.set(2, 0, 1);
    EXPECT_EQ(table.counts(0, 1), Counts({0, 0, 0}));
}

TEST(CoreFlags, IdsAndModesThatExist) {
    for (const std::uint32_t mode : {0u, 1u, 2u, 4u}) {
        EXPECT_TRUE(flag_exists(false, mode, 15));
        EXPECT_FALSE(flag_exists(false, mode, 16));
    }
    EXPECT_TRUE(flag_exists(true, 4, 31));
    EXPECT_FALSE(flag_exists(true, 4, 32));
    EXPECT_FALSE(flag_exists(true, 2, 16));
    EXPECT_FALSE(flag_exists(true, 3, 0));
    EXPECT_FALSE(flag_exists(true, 5, 0));
}

// ---- cores ---------------------------------------------------------------------------------------------------------

TEST(Core, MemoriesHaveTheSizesOfEveryChip) {
    for (const Chip& chip : chip_table) {
        EXPECT_EQ(core_memory_size(chip.architecture, CANOPY_MEMORY_UB), chip.unified_buffer) << chip.name;
        EXPECT_EQ(core_memory_size(chip.architecture, CANOPY_MEMORY_L1), chip.l1_buffer) << chip.name;
        EXPECT_EQ(core_memory_size(chip.architecture, CANOPY_MEMORY_L0A), chip.l0a_buffer) << chip.name;
        EXPECT_EQ(core_memory_size(chip.architecture, CANOPY_MEMORY_L0B), chip.l0b_buffer) << chip.name;
        EXPECT_EQ(core_memory_size(chip.architecture, CANOPY_MEMORY_L0C), chip.l0c_buffer) << chip.name;
    }
}

TEST(Core, IsReusedForTheSameArchitectureAndExchangedForAnother) {
    std::unique_ptr<SoftCore> slot;
    CanopyCore* first = open_core(slot, 2201);
    ASSERT_NE(first, nullptr);
    constexpr int places[] = {0, CANOPY_CORE_CLEARED - 1, CANOPY_CORE_CLEARED};
    for (const int place : places) first->registers[place] = 1;
    first->memory[CANOPY_MEMORY_UB].base[5] = 42;
    EXPECT_EQ(open_core(slot, 2201), first);
    EXPECT_EQ(first->registers[places[0]], 0);
    EXPECT_EQ(first->registers[places[1]], 0);
    EXPECT_EQ(first->registers[places[2]], 1) << "the others are the language's own to clear";
    EXPECT_EQ(first->memory[CANOPY_MEMORY_UB].base[5], 42) << "memories are not cleared";
    const CanopyCore* other = open_core(slot, 3510);
    ASSERT_NE(other, nullptr);
    EXPECT_EQ(other->memory[CANOPY_MEMORY_UB].size, 256u * 1024);
}

TEST(Core, AddressesBesideAMemoryAreDescribed) {
    std::unique_ptr<SoftCore> slot;
    const CanopyCore* core = open_core(slot, 2201);
    ASSERT_NE(core, nullptr);
    for (int memory = CANOPY_MEMORY_UB; memory < CANOPY_MEMORY_COUNT; ++memory) {
        const auto low = reinterpret_cast<std::uintptr_t>(core->memory[memory].base);
        const std::uintptr_t end = low + core->memory[memory].size;
        EXPECT_EQ(describe_core_address(low), "");
        EXPECT_EQ(describe_core_address(end - 1), "");
        EXPECT_NE(describe_core_address(end).find("ran past the end"), std::string::npos);
        EXPECT_NE(describe_core_address(end + 30000).find("ran past the end"), std::string::npos);
    }
    const auto end = reinterpret_cast<std::uintptr_t>(core->memory[CANOPY_MEMORY_L1].base) + 512 * 1024;
    EXPECT_NE(describe_core_address(end + 8).find("L1 (512 KiB)"), std::string::npos);
    slot.reset();
    EXPECT_EQ(describe_core_address(end), "") << "the core is gone";
}

}  // namespace
}  // namespace canopy
