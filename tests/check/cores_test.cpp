// SPDX-License-Identifier: Apache-2.0
// Global memory: inside a core, and between the cores of a launch.
#include <gtest/gtest.h>

#include <thread>

#include "made_up.h"

namespace canopy::check {
namespace {

constexpr auto S = CANOPY_CHECK_S, V = CANOPY_CHECK_V, MTE2 = CANOPY_CHECK_MTE2, MTE3 = CANOPY_CHECK_MTE3,
               FIX = CANOPY_CHECK_FIX;

CanopyCheckAccess adds_gm(std::uint64_t offset, std::uint64_t bytes) {
    CanopyCheckAccess access = access_of(CANOPY_CHECK_READ_WRITE, CANOPY_MEMORY_GLOBAL, global_base + offset, bytes);
    access.atomic = CANOPY_CHECK_ATOMIC_ADD;
    return access;
}

// ---- inside a core
// ---------------------------------------------------------------------------------------------------

struct OneCore : testing::Test {
    MadeUpLaunch launch{1, 2201, only_races()};
    MadeUpCore core = launch.core();
};

TEST_F(OneCore, ACopyOutThatIsReadBackNeedsAFlag) {
    core.does(MTE3, 10, {writes_gm(0, 4096)});
    core.does(MTE2, 11, {reads_gm(4000, 4096)});
    core.orders(MTE3, MTE2);
    core.does(MTE2, 12, {reads_gm(0, 4096)});
    EXPECT_EQ(launch.end(), Found{"race.pipe RAW GM MTE3_MTE2"});
    EXPECT_EQ(launch.sink.findings[0].places[0].address, global_base + 4000);
    EXPECT_EQ(launch.sink.findings[0].places[0].bytes, 96U);
}

TEST_F(OneCore, CopiesOutThatOverlapNeedABarrier) {
    core.does(MTE3, 10, {writes_gm(0, 100)});
    core.does(MTE3, 11, {writes_gm(80, 100)});
    core.barrier(MTE3);
    core.does(MTE3, 12, {writes_gm(0, 200)});
    EXPECT_EQ(launch.end(), Found{"race.in-pipe WAW GM PipeBarrier<PIPE_MTE3>"});
    EXPECT_EQ(launch.sink.findings[0].places[0].bytes, 20U);
}

TEST_F(OneCore, APlainCopyAndAnAtomicOneNeedABarrier) {
    core.does(MTE3, 10, {writes_gm(0, 128)});
    core.does(MTE3, 11, {adds_gm(0, 128)});
    core.does(MTE3, 12, {adds_gm(0, 128)});
    EXPECT_EQ(launch.end(), Found(2, "race.atomic WAW GM PipeBarrier<PIPE_MTE3>"));
    EXPECT_EQ(launch.sink.findings[0].headline, "Potential WAW hazard detected at GM, one of them atomic");
}

TEST_F(OneCore, RowsOfALoopKeepTheirNumbers) {
    // Row i is written, then row i - 1 is read: that one is complete, since the flag was set behind it.
    for (std::uint64_t i = 0; i < 100; ++i) {
        core.does(MTE3, 10, {writes_gm(i * 1024, 512)});
        if (i > 0) {
            core.waits(MTE3, MTE2);
            core.does(MTE2, 11, {reads_gm((i - 1) * 1024, 512)});
        }
        core.sets(MTE3, MTE2);
        if (i == 50) core.does(MTE2, 12, {reads_gm((i - 30) * 1024, 512)});
    }
    core.does(MTE2, 13, {reads_gm(99 * 1024, 32)});
    core.does(MTE2, 14, {reads_gm(98 * 1024, 32)});
    EXPECT_EQ(launch.end(), Found{"race.pipe RAW GM MTE3_MTE2"});
    EXPECT_EQ(launch.sink.findings[0].places[1].line, 13U);
}

TEST_F(OneCore, ReadsThatAreOverwrittenNeedAFlag) {
    for (std::uint64_t i = 0; i < 40; ++i) {
        core.does(MTE2, 10, {reads_gm(i * 512, 512)});
        core.orders(MTE2, V);
        core.orders(V, MTE3);
        core.does(MTE3, 11, {writes_gm(i * 512, 512)});
    }
    core.does(MTE2, 12, {reads_gm(40 * 512, 512)});
    core.does(MTE3, 13, {writes_gm(40 * 512, 4)});
    EXPECT_EQ(launch.end(), Found{"race.pipe WAR GM MTE2_MTE3"});
    EXPECT_EQ(launch.sink.findings[0].places[0].bytes, 4U);
}

TEST_F(OneCore, TheScalarUnitComparesWithWhatIsCompleteForOthers) {
    for (std::uint64_t i = 0; i < 40; ++i) {
        core.does(MTE3, 10, {writes_gm(i * 8192, 512)});
        core.orders(MTE3, MTE2);
        core.does(MTE2, 11, {reads_gm(i * 8192, 512)});
        core.orders(MTE2, MTE3);
    }
    core.does(S, 12, {reads_gm(600, 4)});
    core.does(S, 13, {reads_gm(8192, 4)});
    core.orders(MTE3, S);
    core.does(S, 14, {reads_gm(8192, 4)});
    EXPECT_EQ(launch.end(), Found{"race.pipe RAW GM MTE3_S"});
    EXPECT_EQ(launch.sink.findings[0].places[1].line, 13U);
}

TEST_F(OneCore, RangesAreSortedAndJoined) {
    for (std::uint64_t i = 0; i < 10; ++i) core.does(MTE2, 10, {reads_gm(4096 + i * 64, 64)});
    core.does(MTE3, 11, {writes_gm(0, 64)});
    launch.end();
    ASSERT_EQ(launch.touched.size(), 2U);
    EXPECT_EQ(launch.touched[0].begin, global_base);
    EXPECT_TRUE(launch.touched[0].written);
    EXPECT_EQ(launch.touched[1].begin, global_base + 4096);
    EXPECT_EQ(launch.touched[1].end, global_base + 4096 + 640);
    EXPECT_FALSE(launch.touched[1].written);
}

// ---- between cores
// ---------------------------------------------------------------------------------------------------

TEST(Cores, BlocksThatOverlapByARow) {
    MadeUpLaunch launch(4, 2201, only_races());
    for (std::uint32_t block = 0; block < 4; ++block) {
        MadeUpCore core = launch.core(block);
        for (std::uint64_t row = 0; row < 11; ++row) core.does(MTE3, 10, {writes_gm((block * 10 + row) * 256, 256)});
    }
    EXPECT_EQ(launch.end(), Found(3, "race.core WAW GM SyncAll"));
    const Finding& finding = launch.sink.findings[0];
    EXPECT_EQ(finding.places[0].bytes, 256U);
    EXPECT_EQ(
        finding.explanation,
        "no order between the cores: needs a SyncAll behind the write of aiv(0); aiv(1) has not waited for aiv(0)");
}

TEST(Cores, ColumnsOfBlocksDoNotMeet) {
    MadeUpLaunch launch(4, 2201, only_races());
    for (std::uint32_t block = 0; block < 4; ++block) {
        MadeUpCore core = launch.core(block);
        for (std::uint64_t row = 0; row < 100; ++row) core.does(MTE3, 10, {writes_gm(row * 1024 + block * 256, 256)});
    }
    EXPECT_EQ(launch.end(), Found{});
}

TEST(Cores, ReadersDoNotConflict) {
    MadeUpLaunch launch(4, 2201, only_races());
    for (std::uint32_t block = 0; block < 4; ++block) launch.core(block).does(MTE2, 10, {reads_gm(0, 4096)});
    EXPECT_EQ(launch.end(), Found{});
}

// Each core writes its part, meets the others, and reads the part of its neighbour.
struct Neighbours {
    MadeUpLaunch launch{3, 2201, only_races()};
    std::vector<MadeUpCore> cores;

    Neighbours() {
        for (std::uint32_t block = 0; block < 3; ++block) cores.push_back(launch.core(block));
    }
    void write() const {
        for (std::size_t i = 0; i < cores.size(); ++i) cores[i].does(MTE3, 10, {writes_gm(i * 64, 64)});
    }
    void meet(std::uint32_t kind = CANOPY_CHECK_MEET_HARDWARE) const {
        for (const bool begin : {true, false})
            for (const MadeUpCore& core : cores)
                (*core).meet(kind, CANOPY_SYNC_ALL, begin, CANOPY_CHECK_ALL, CANOPY_CHECK_ALL, at_line(20));
    }
    void read() const {
        for (std::size_t i = 0; i < cores.size(); ++i)
            cores[i].does(MTE2, 11, {reads_gm((i + 1) % cores.size() * 64, 64)});
    }
};

TEST(Cores, AMeetingOrdersAllOfThem) {
    for (const auto kind : {CANOPY_CHECK_MEET_HARDWARE, CANOPY_CHECK_MEET_SOFTWARE}) {
        Neighbours neighbours;
        for (int round = 0; round < 3; ++round) {
            neighbours.write();
            neighbours.meet(kind);
            neighbours.read();
            neighbours.meet(kind);
        }
        EXPECT_EQ(neighbours.launch.end(), Found{});
    }
}

TEST(Cores, WithoutAMeetingTheyRace) {
    Neighbours neighbours;
    neighbours.write();
    neighbours.read();
    EXPECT_EQ(neighbours.launch.end(), Found(3, "race.core RAW GM SyncAll"));
}

TEST(Cores, AMeetingPerRoundIsNotEnoughForAWorkspace) {
    Neighbours neighbours;
    for (int round = 0; round < 3; ++round) {
        neighbours.write();
        neighbours.meet();
        neighbours.read();
    }
    EXPECT_EQ(neighbours.launch.end(), Found(3, "race.core WAR GM SyncAll"));
}

TEST(Cores, AtomicAdditionsMayComeInAnyOrder) {
    MadeUpLaunch launch(3, 2201, only_races());
    for (std::uint32_t block = 0; block < 3; ++block) {
        MadeUpCore core = launch.core(block);
        if (block == 0) {
            core.does(MTE3, 9, {writes_gm(0, 64)});
            core.barrier(MTE3);
        }
        core.does(MTE3, 10, {adds_gm(0, 64)});
    }
    EXPECT_EQ(launch.end(), Found(2, "race.atomic WAW GM SyncAll"));
}

// ---- flags
// -----------------------------------------------------------------------------------------------------------

struct Group : testing::Test {
    MadeUpLaunch launch{1, 2201, only_races(), 2, 1};
    MadeUpCore cube = launch.cube();
    MadeUpCore first = launch.core(0, false, 0), second = launch.core(0, false, 1);
};

TEST_F(Group, AFlagCarriesWhatItsPipeHasDone) {
    cube.does(FIX, 10, {writes_gm(0, 128)});
    cube.sets_core_flag(2, FIX, 3);
    for (const MadeUpCore* core : {&first, &second}) {
        core->waits_core_flag(2, 3);
        core->does(MTE2, 11, {reads_gm(core == &first ? 0 : 64, 64)});
    }
    EXPECT_EQ(launch.end(), Found{});
}

TEST_F(Group, AFlagCarriesNothingOfOtherPipes) {
    first.does(MTE3, 10, {writes_gm(0, 64)});
    first.sets_core_flag(2, V, 3);
    second.sets_core_flag(2, V, 3);
    cube.waits_core_flag(2, 3);
    cube.does(MTE2, 11, {reads_gm(0, 64)});
    EXPECT_EQ(launch.end(), Found{"race.core RAW GM CrossCoreSetFlag<2, PIPE_MTE3>"});
    EXPECT_EQ(
        launch.sink.findings[0].explanation,
        "no order between the cores: needs CrossCoreSetFlag<2, PIPE_MTE3> behind the write of aiv(0), and a wait of "
        "aic(0); what aic(0) has last heard of aiv(0) does not cover this write by PIPE_MTE3");
}

TEST_F(Group, BothVectorCoresReachTheCube) {
    first.does(MTE3, 10, {writes_gm(0, 64)});
    second.does(MTE3, 10, {writes_gm(64, 64)});
    first.sets_core_flag(2, MTE3, 3);
    second.sets_core_flag(2, MTE3, 3);
    cube.waits_core_flag(2, 3);
    cube.does(MTE2, 11, {reads_gm(0, 128)});
    EXPECT_EQ(launch.end(), Found{});
}

TEST_F(Group, VectorCoresOfAGroupMeetByMode1) {
    first.does(MTE3, 10, {writes_gm(0, 64)});
    first.sets_core_flag(1, MTE3, 3);
    second.sets_core_flag(1, MTE3, 3);
    second.waits_core_flag(1, 3);
    second.does(MTE2, 11, {reads_gm(0, 64)});
    first.waits_core_flag(1, 3);
    EXPECT_EQ(launch.end(), Found{});
}

TEST_F(Group, ASecondWriteBehindTheFlagIsNotCovered) {
    cube.does(FIX, 10, {writes_gm(0, 64)});
    cube.sets_core_flag(2, FIX, 3);
    cube.does(FIX, 11, {writes_gm(64, 64)});
    first.waits_core_flag(2, 3);
    first.does(MTE2, 12, {reads_gm(0, 128)});
    EXPECT_EQ(launch.end(), Found{"race.core RAW GM CrossCoreSetFlag<2, PIPE_FIX>"});
    EXPECT_EQ(launch.sink.findings[0].places[0].line, 11U);
    EXPECT_EQ(launch.sink.findings[0].places[0].bytes, 64U);
}

TEST(Flags, Mode0OrdersAllCoresOfAKind) {
    MadeUpLaunch launch(2, 2201, only_races(), 1, 1);
    MadeUpCore a = launch.core(0), b = launch.core(1);
    a.does(MTE3, 10, {writes_gm(0, 64)});
    a.sets_core_flag(0, MTE3, 5);
    b.sets_core_flag(0, MTE3, 5);
    b.waits_core_flag(0, 5);
    b.does(MTE2, 11, {reads_gm(0, 64)});
    EXPECT_EQ(launch.end(), Found{});
}

TEST(Flags, Mode4GoesToOneVectorCore) {
    for (const bool both : {true, false}) {
        MadeUpLaunch launch(1, 3510, only_races(), 2, 1);
        MadeUpCore cube = launch.cube(), first = launch.core(0, false, 0), second = launch.core(0, false, 1);
        first.does(MTE3, 10, {writes_gm(0, 64)});
        second.does(MTE3, 10, {writes_gm(64, 64)});
        first.sets_core_flag(4, MTE3, 8);
        second.sets_core_flag(4, MTE3, 8);
        cube.waits_core_flag(4, 8, MTE2);
        if (both) cube.waits_core_flag(4, 24, MTE2);
        cube.does(MTE2, 11, {reads_gm(0, 128)});
        EXPECT_EQ(launch.end(), both ? Found{} : Found{"race.core RAW GM CrossCoreSetFlag<2, PIPE_MTE3>"});
    }
}

TEST(Flags, On3510OnlyTheNamedPipeWaits) {
    MadeUpLaunch launch(1, 3510, only_races(), 1, 1);
    MadeUpCore cube = launch.cube(), vector = launch.core();
    cube.does(FIX, 10, {writes_gm(0, 64)});
    cube.sets_core_flag(4, FIX, 1);
    vector.waits_core_flag(4, 1, V);
    vector.does(MTE2, 11, {reads_gm(0, 64)});
    EXPECT_EQ(launch.end(), Found{"race.core RAW GM CrossCoreSetFlag<2, PIPE_FIX>"});
}

TEST(Flags, GroupsOf3510ShareUb) {
    for (const bool flag : {true, false}) {
        MadeUpLaunch launch(1, 3510, only_races(), 1, 1);
        MadeUpCore cube = launch.cube(), vector = launch.core();
        const std::uint64_t ub = facts_of_core(0).memory[CANOPY_MEMORY_UB].base;
        cube.does(FIX, 10, {writes(CANOPY_MEMORY_UB, ub, 4096)});
        if (flag) cube.sets_core_flag(4, FIX, 1);
        if (flag) vector.waits_core_flag(4, 1, V);
        vector.does(V, 11, {reads(CANOPY_MEMORY_UB, ub, 4096)});
        EXPECT_EQ(launch.end(), flag ? Found{} : Found{"race.group RAW UB CrossCoreSetFlag<4, PIPE_FIX>"});
    }
}

// ---- words
// -----------------------------------------------------------------------------------------------------------

TEST(Words, LibraryCallsCarryOrder) {
    for (const bool word : {true, false}) {
        MadeUpLaunch launch(2, 2201, only_races());
        MadeUpCore a = launch.core(0), b = launch.core(1);
        a.does(MTE3, 10, {writes_gm(0, 64)});
        (*a).order(CANOPY_CHECK_ALL, CANOPY_CHECK_ALL, at_line(11));
        if (word) (*a).word(CANOPY_CHECK_WORD_PUBLISH, reinterpret_cast<const void*>(global_base + 4096), at_line(11));
        if (word) (*b).word(CANOPY_CHECK_WORD_TAKE, reinterpret_cast<const void*>(global_base + 4096), at_line(12));
        b.does(MTE2, 13, {reads_gm(0, 64)});
        EXPECT_EQ(launch.end(), word ? Found{} : Found{"race.core RAW GM SyncAll"});
    }
}

TEST(Words, AccessesPastTheCacheSignal) {
    for (const std::uint32_t flags : {std::uint32_t{CANOPY_CHECK_BYPASS}, std::uint32_t{0}}) {
        MadeUpLaunch launch(2, 2201, only_races());
        MadeUpCore a = launch.core(0), b = launch.core(1);
        a.does(MTE3, 10, {writes_gm(0, 64)});
        a.orders(MTE3, S);
        a.does(S, 11, {writes_gm(4096, 4)}, flags);
        b.does(S, 12, {reads_gm(4096, 4)}, flags);
        b.does(MTE2, 13, {reads_gm(0, 64)});
        EXPECT_EQ(launch.end().size(), flags != 0 ? 0U : 2U);
    }
}

TEST(Words, CleanedLinesSignal) {
    MadeUpLaunch launch(2, 2201, only_races());
    MadeUpCore a = launch.core(0), b = launch.core(1);
    const auto* line = reinterpret_cast<const void*>(global_base + 4096);
    a.does(S, 10, {writes_gm(0, 4)});
    a.does(S, 11, {writes_gm(4096, 4)});
    (*a).cache(CANOPY_CHECK_CACHE_CLEAN_LINE, line, at_line(12));
    (*b).cache(CANOPY_CHECK_CACHE_CLEAN_LINE, line, at_line(13));
    b.does(S, 14, {reads_gm(4096, 4)});
    b.does(S, 15, {reads_gm(0, 4)});
    EXPECT_EQ(launch.end(), Found{});
}

// ---- threads
// ---------------------------------------------------------------------------------------------------------

// Every core on a thread, with flags, meetings and words all the time; run by the thread sanitizer, too.
TEST(Cores, FindTheSameOnManyThreads) {
    constexpr std::uint32_t blocks = 8;
    MadeUpLaunch launch(blocks, 2201, only_races());
    std::vector<MadeUpCore> cores;
    for (std::uint32_t block = 0; block < blocks; ++block) cores.push_back(launch.core(block));
    std::vector<std::thread> threads;
    for (std::uint32_t block = 0; block < blocks; ++block) {
        threads.emplace_back([&, block] {
            const MadeUpCore& core = cores[block];
            for (std::uint64_t i = 0; i < 200; ++i) {
                core.does(MTE2, 10, {reads_gm(i * 64, 64), writes_ub(0, 64)});
                core.does(V, 11, {reads_ub(0, 64)});
                core.does(MTE3, 12, {writes_gm(1 << 20 | block * 32, 64)});
                (*core).word(CANOPY_CHECK_WORD_PUBLISH, reinterpret_cast<const void*>(global_base), at_line(13));
                core.sets_core_flag(0, MTE2, 1);
                core.barrier(CANOPY_CHECK_ALL);
            }
        });
    }
    for (std::thread& thread : threads) thread.join();
    const Found found = launch.end();
    EXPECT_EQ(std::ranges::count(found, "race.pipe RAW UB MTE2_V"), blocks);
    EXPECT_EQ(std::ranges::count(found, "race.core WAW GM SyncAll"), blocks - 1);
    EXPECT_EQ(found.size(), 2 * blocks - 1U);
}

}  // namespace
}  // namespace canopy::check
