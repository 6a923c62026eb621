// SPDX-License-Identifier: Apache-2.0
// Flags of the pipes of a core, their ids, mutexes, and the end of a kernel.
#include <optional>

#include "made_up.h"

namespace canopy::check {
namespace {

constexpr std::uint32_t V = CANOPY_CHECK_V, MTE2 = CANOPY_CHECK_MTE2, MTE3 = CANOPY_CHECK_MTE3, M = CANOPY_CHECK_M,
                        MTE1 = CANOPY_CHECK_MTE1;

struct FlagsTest : testing::Test {
    void begin(std::uint32_t architecture = 2201, CheckOptions options = only(&Classes::sync), bool cube = false) {
        launch.emplace(1, architecture, options);
        launch->facts.cube_cores = cube ? 1 : 0;
        core.emplace(launch->core(0, cube));
    }
    void set(std::uint32_t line, std::uint32_t from, std::uint32_t to, std::int32_t id) {
        core->sets(from, to, id, line);
    }
    void wait(std::uint32_t line, std::uint32_t from, std::uint32_t to, std::int32_t id) {
        core->waits(from, to, id, line);
    }
    void event_id(std::uint32_t line, CanopyCheckIdEvent event, std::uint32_t from, std::uint32_t to, std::int32_t id) {
        (**core).event_id(event, from, to, id, at_line(line));
    }
    void pipe(std::uint32_t event) {
        CanopyCheckBuffer buffer{};
        buffer.event = event;
        (**core).buffer(buffer);
    }
    Found end() {
        launch->end(false);
        return with_lines(launch->sink.findings);
    }
    const Finding& first() { return launch->sink.findings.at(0); }

    std::optional<MadeUpLaunch> launch;
    std::optional<MadeUpCore> core;
};

TEST_F(FlagsTest, PairsAreRight) {
    begin();
    for (std::int32_t id = 0; id < 6; ++id) set(1, MTE2, V, id);
    for (std::int32_t id = 0; id < 6; ++id) wait(2, MTE2, V, id);
    set(3, V, V, 0);  // a barrier, whose wait does nothing
    EXPECT_EQ(end(), Found{});
}

TEST_F(FlagsTest, AFlagLeftSpoilsTheNextKernel) {
    begin();
    set(1, MTE2, V, 0);
    EXPECT_EQ(end(), Found{"sync.set 1"});
    EXPECT_EQ(first().level, Level::error);
    EXPECT_EQ(first().headline, "Unpaired set_flag");
}

TEST_F(FlagsTest, AWaitNeedsItsFlag) {
    begin();
    set(1, MTE2, V, 1);
    wait(2, MTE2, V, 0);
    wait(3, MTE2, V, 1);
    wait(4, MTE2, V, 1);
    EXPECT_EQ(end(), (Found{"sync.wait 2", "sync.wait 4"}));
}

TEST_F(FlagsTest, AWaitForAnotherIdNamesTheOneThatIsSet) {
    begin();
    set(1, MTE2, V, 1);
    wait(2, MTE2, V, 0);
    wait(3, MTE2, V, 1);
    EXPECT_EQ(end(), Found{"sync.wait 2"});
    EXPECT_EQ(first().explanation, "MTE2_V, id 0, is not set: a chip waits for ever; id 1 is set");
}

TEST_F(FlagsTest, AFlagIsNotSetTwice) {
    begin();
    set(1, V, MTE3, 0);
    set(2, V, MTE3, 0);
    wait(3, V, MTE3, 0);
    EXPECT_EQ(end(), Found{"sync.double 1 2"});
}

TEST_F(FlagsTest, NothingIsLeftByAKernelThatWasStopped) {
    begin();
    set(1, V, MTE3, 0);
    (**core).end(false);
    launch->check->end();
    EXPECT_TRUE(launch->sink.findings.empty());
}

TEST_F(FlagsTest, TargetsAreIndependentUnlessAskedOtherwise) {
    for (const bool strict : {false, true}) {
        CheckOptions options = only(&Classes::sync);
        options.strict_ids = strict;
        begin(2201, options);
        set(1, V, MTE3, 0);
        set(2, V, MTE2, 0);
        wait(3, V, MTE3, 0);
        wait(4, V, MTE2, 0);
        EXPECT_EQ(end(), strict ? Found{"sync.double 1 2"} : Found{});
    }
}

TEST_F(FlagsTest, IdsHaveARange) {
    begin();
    set(1, V, MTE3, 8);
    set(2, V, MTE3, -1);
    EXPECT_EQ(end(), (Found{"sync.ids 1", "sync.ids 2"}));
    begin(1001);
    set(1, V, MTE3, 4);
    EXPECT_EQ(end(), Found{"sync.ids 1"});
}

TEST_F(FlagsTest, TheLastIdsAreTheSystemsWithoutAPipe) {
    begin();
    set(1, V, MTE3, 6);
    wait(1, V, MTE3, 6);
    EXPECT_EQ(end(), Found{"sync.reserved-id 1"});
    EXPECT_EQ(first().level, Level::warning);
    begin();
    pipe(CANOPY_CHECK_PIPE_INIT);
    set(1, V, MTE3, 6);
    wait(1, V, MTE3, 6);
    EXPECT_EQ(end(), Found{});
}

TEST_F(FlagsTest, TheNinthIdThatIsNotReleasedIsOneTooMany) {
    begin();
    for (std::int32_t i = 0; i < 8; ++i) event_id(1, CANOPY_CHECK_ID_ALLOCATE, MTE2, V, i);
    event_id(2, CANOPY_CHECK_ID_ALLOCATE, V, MTE2, 0);
    event_id(3, CANOPY_CHECK_ID_RELEASE, MTE2, V, 3);
    event_id(4, CANOPY_CHECK_ID_ALLOCATE, MTE2, V, 3);
    event_id(5, CANOPY_CHECK_ID_FETCH, MTE2, V, 0);
    event_id(6, CANOPY_CHECK_ID_ALLOCATE, MTE2, V, -1);
    EXPECT_EQ(end(), Found{"sync.ids 1 6"});
}

TEST_F(FlagsTest, APipeKeepsIdsOfCubeCores) {
    begin(2201, only(&Classes::sync), true);
    pipe(CANOPY_CHECK_PIPE_INIT);
    for (std::int32_t i = 0; i < 6; ++i) event_id(1, CANOPY_CHECK_ID_ALLOCATE, M, MTE1, i);
    EXPECT_EQ(end(), Found{"sync.ids 1 1"});
    begin(2201, only(&Classes::sync), true);
    pipe(CANOPY_CHECK_PIPE_INIT);
    set(1, M, MTE1, 2);
    wait(2, M, MTE1, 2);
    set(3, M, MTE1, 3);
    wait(4, M, MTE1, 3);
    EXPECT_EQ(end(), Found{"sync.reserved-id 1"});
}

TEST_F(FlagsTest, MutexesArePaired) {
    begin(3510);
    const auto mutex = [&](bool lock, std::uint32_t pipe_of_lock, std::uint32_t id, std::uint32_t line) {
        (**core).mutex(lock, pipe_of_lock, id, at_line(line));
    };
    mutex(true, MTE2, 0, 1);
    mutex(false, MTE2, 0, 2);
    mutex(true, V, 0, 3);
    mutex(false, MTE3, 0, 4);  // another pipe
    mutex(true, V, 0, 5);      // locked already
    mutex(true, V, 27, 6);     // stays locked
    mutex(true, V, 28, 7);     // reserved
    mutex(false, V, 28, 8);
    EXPECT_EQ(end(), (Found{"sync.mutex 3 5", "sync.mutex 4", "sync.mutex 5", "sync.mutex 6", "sync.mutex 7",
                            "sync.mutex 8"}));
}

TEST_F(FlagsTest, AKernelWaitsForItsPipesBeforeItEnds) {
    for (const bool waits : {false, true}) {
        begin();
        core->does(MTE3, 1, {reads_ub(0, 32)});
        if (waits) core->barrier(CANOPY_CHECK_ALL);
        EXPECT_EQ(end(), waits ? Found{} : Found{"sync.end 1"});
    }
    begin();
    pipe(CANOPY_CHECK_PIPE_INIT);
    core->does(MTE3, 1, {reads_ub(0, 32)});
    pipe(CANOPY_CHECK_PIPE_DESTROY);
    EXPECT_EQ(end(), Found{});
}

TEST_F(FlagsTest, ClassesThatAreNotAskedForAreSilent) {
    begin(2201, only(&Classes::memory));
    set(1, V, MTE3, 6);
    set(2, V, MTE3, 6);
    wait(3, V, MTE2, 0);
    EXPECT_EQ(end(), Found{});
}

}  // namespace
}  // namespace canopy::check
