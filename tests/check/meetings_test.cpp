// SPDX-License-Identifier: Apache-2.0
// Flags between cores and meetings, as far as they may be used at all.
#include <optional>

#include "made_up.h"

namespace canopy::check {
namespace {

constexpr auto MTE3 = CANOPY_CHECK_MTE3, FIX = CANOPY_CHECK_FIX;

// Launches of which all cores end.
struct MeetingsTest : testing::Test {
    void begin(std::uint32_t blocks, std::uint32_t vector_cores, std::uint32_t cube_cores,
               std::uint32_t architecture = 2201) {
        launch.emplace(blocks, architecture, only(&Classes::sync), vector_cores, cube_cores);
        launch->facts.mix = true;
    }
    static void meet(const MadeUpCore& core, std::uint32_t line, std::uint32_t scope = CANOPY_SYNC_VECTOR,
                     bool leaves = true) {
        (*core).meet(CANOPY_CHECK_MEET_HARDWARE, scope, true, CANOPY_CHECK_ALL, CANOPY_CHECK_ALL, at_line(line));
        if (leaves)
            (*core).meet(CANOPY_CHECK_MEET_HARDWARE, scope, false, CANOPY_CHECK_ALL, CANOPY_CHECK_ALL, at_line(line));
    }
    static void set(const MadeUpCore& core, std::uint32_t line, std::uint32_t mode, std::uint32_t id) {
        (*core).core_flag(true, mode, core_pipe, id, at_line(line));
    }
    static void wait(const MadeUpCore& core, std::uint32_t line, std::uint32_t mode, std::uint32_t id) {
        (*core).core_flag(false, mode, CANOPY_CHECK_S, id, at_line(line));
    }
    Found end() {
        launch->end();
        return with_lines(launch->sink.findings);
    }
    static constexpr std::uint32_t core_pipe = MTE3;
    std::optional<MadeUpLaunch> launch;
};

TEST_F(MeetingsTest, CoresThatMeetEquallyOftenAreRight) {
    begin(3, 2, 0);
    for (std::uint32_t block = 0; block < 3; ++block)
        for (std::uint32_t sub = 0; sub < 2; ++sub) {
            const MadeUpCore core = launch->core(block, false, sub);
            meet(core, 1);
            meet(core, 2);
            if (block == 1) meet(core, 3, CANOPY_SYNC_PAIR);
        }
    EXPECT_EQ(end(), Found{});
}

TEST_F(MeetingsTest, OneThatMeetsMoreOftenIsFound) {
    begin(3, 1, 0);
    for (std::uint32_t block = 0; block < 3; ++block) {
        const MadeUpCore core = launch->core(block);
        meet(core, 1);
        if (block == 1) meet(core, 2);
    }
    EXPECT_EQ(end(), Found{"sync.arrival 1 2"});
    EXPECT_NE(launch->sink.findings[0].explanation.find("aiv(1) has come 2 times"), std::string::npos);
}

TEST_F(MeetingsTest, OneThatWaitsForOthersThatHaveEndedIsFound) {
    begin(2, 1, 0);
    const MadeUpCore waiting = launch->core(0), ended = launch->core(1);
    meet(waiting, 1, CANOPY_SYNC_VECTOR, false);
    (*ended).end(true);
    (*waiting).end(false);
    launch->check->end();
    EXPECT_EQ(with_lines(launch->sink.findings), Found{"sync.arrival 0 1"});
}

TEST_F(MeetingsTest, NothingIsSaidOfCoresThatAFaultHasStopped) {
    begin(2, 1, 0);
    const MadeUpCore fine = launch->core(0), faulted = launch->core(1);
    meet(fine, 1);
    meet(fine, 2);
    set(fine, 3, 1, 0);
    (*fine).end(true);
    (*faulted).end(false);
    launch->check->end();
    EXPECT_EQ(with_lines(launch->sink.findings), Found{});
}

TEST_F(MeetingsTest, PairsMeetOnTheirOwn) {
    begin(2, 2, 0);
    for (std::uint32_t block = 0; block < 2; ++block)
        for (std::uint32_t sub = 0; sub < 2; ++sub) {
            const MadeUpCore core = launch->core(block, false, sub);
            if (block == 1 && sub == 1) meet(core, 2, CANOPY_SYNC_PAIR);
            meet(core, 1, CANOPY_SYNC_PAIR);
        }
    EXPECT_EQ(end(), Found{"sync.arrival 1 1"});
}

TEST_F(MeetingsTest, CountersHoldFifteen) {
    begin(1, 1, 1);
    const MadeUpCore vector = launch->core(0), cube = launch->cube(0);
    for (int i = 0; i < 15; ++i) set(vector, 1, 2, 3);
    for (int i = 0; i < 8; ++i) wait(cube, 2, 2, 3);
    for (int i = 0; i < 8; ++i) set(vector, 1, 2, 3);
    for (int i = 0; i < 15; ++i) wait(cube, 2, 2, 3);
    EXPECT_EQ(end(), Found{});
    begin(1, 1, 1);
    const MadeUpCore setter = launch->core(0), waiter = launch->cube(0);
    for (int i = 0; i < 16; ++i) set(setter, 1, 2, 3);
    for (int i = 0; i < 16; ++i) wait(waiter, 2, 2, 3);
    EXPECT_EQ(end(), Found{"sync.counter 1"});
}

TEST_F(MeetingsTest, CountersAreEmptyWhenAKernelEnds) {
    begin(1, 2, 1, 3510);
    const MadeUpCore first = launch->core(0, false, 0), second = launch->core(0, false, 1), cube = launch->cube(0);
    // Each vector core has its own counter on the cube core.
    set(first, 1, 4, 8);
    set(second, 2, 4, 8);
    wait(cube, 3, 4, 8);
    EXPECT_EQ(end(), Found{"sync.counter 2"});
    EXPECT_NE(launch->sink.findings[0].explanation.find("flag 24 of aic(0)"), std::string::npos);
}

TEST_F(MeetingsTest, FlagsThatSomeSendersNeverSetAreFound) {
    begin(1, 2, 1);
    const MadeUpCore first = launch->core(0, false, 0), second = launch->core(0, false, 1), cube = launch->cube(0);
    set(cube, 1, 2, 0);  // reaches both
    wait(first, 2, 2, 0);
    wait(second, 3, 2, 0);
    set(first, 4, 2, 1);  // needs both
    EXPECT_EQ(end(), Found{"sync.counter 4"});
}

TEST_F(MeetingsTest, EveryCoreSetsAFlagOfAll) {
    begin(3, 1, 0);
    std::vector<MadeUpCore> cores;
    for (std::uint32_t block = 0; block < 3; ++block) cores.push_back(launch->core(block));
    for (int round = 0; round < 20; ++round) {
        for (const MadeUpCore& core : cores) set(core, 1, 0, 5);
        for (const MadeUpCore& core : cores) wait(core, 2, 0, 5);
    }
    EXPECT_EQ(end(), Found{});
}

TEST_F(MeetingsTest, OneFlagInTwoModesIsDoubtful) {
    begin(1, 1, 1);
    const MadeUpCore vector = launch->core(0), cube = launch->cube(0);
    set(cube, 1, 2, 3);
    set(vector, 2, 1, 3);
    wait(vector, 3, 2, 3);
    wait(vector, 4, 1, 3);
    EXPECT_EQ(end(), Found{"sync.mode 1 2"});
}

TEST_F(MeetingsTest, FlagsOfMeetingsAreReserved) {
    begin(1, 1, 1);
    const MadeUpCore vector = launch->core(0), cube = launch->cube(0);
    meet(vector, 1);
    set(cube, 2, 2, 12);
    wait(vector, 3, 2, 12);
    EXPECT_EQ(end(), Found{"sync.reserved-id 1 2"});
}

TEST_F(MeetingsTest, KernelsNeedASchedulerAndACoreForEachBlock) {
    begin(2, 1, 0);
    launch->facts.mix = false;
    launch->facts.cores_of_chip = 1;
    for (std::uint32_t block = 0; block < 2; ++block) meet(launch->core(block), 1);
    EXPECT_EQ(end(), (Found{"sync.blocks 1", "sync.kind 1"}));
    begin(2, 1, 0);
    launch->facts.mix = false;
    launch->facts.cores_of_chip = 2;
    // Through global memory it works without.
    for (std::uint32_t block = 0; block < 2; ++block) {
        const MadeUpCore core = launch->core(block);
        for (const bool enters : {true, false})
            (*core).meet(CANOPY_CHECK_MEET_SOFTWARE, CANOPY_SYNC_VECTOR, enters, CANOPY_CHECK_ALL, CANOPY_CHECK_ALL,
                         at_line(1));
    }
    EXPECT_EQ(end(), Found{});
    begin(1, 1, 1);
    launch->facts.mix = false;
    const MadeUpCore cube = launch->cube(0);
    (*cube).core_flag(true, 2, FIX, 3, at_line(1));
    EXPECT_EQ(end(), (Found{"sync.counter 1", "sync.kind 1"}));
}

}  // namespace
}  // namespace canopy::check
