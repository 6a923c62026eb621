// SPDX-License-Identifier: Apache-2.0
// The scalar data cache of cores.
#include <optional>

#include "made_up.h"

namespace canopy::check {
namespace {

constexpr std::uint8_t S = CANOPY_CHECK_S, MTE2 = CANOPY_CHECK_MTE2, MTE3 = CANOPY_CHECK_MTE3;

struct CacheTest : testing::Test {
    void begin(std::uint32_t blocks = 1) { launch.emplace(blocks, 2201, only(&Classes::cache)); }
    static void cleans(const MadeUpCore& core, std::uint64_t offset) {
        (*core).cache(CANOPY_CHECK_CACHE_CLEAN_LINE, reinterpret_cast<const void*>(global_base + offset), at_line(1));
    }
    static void cleans_all(const MadeUpCore& core) { (*core).cache(CANOPY_CHECK_CACHE_CLEAN_ALL, nullptr, at_line(1)); }
    // All cores meet.
    static void meet(std::initializer_list<MadeUpCore> cores) {
        for (const bool enters : {true, false})
            for (const MadeUpCore& core : cores)
                (*core).meet(CANOPY_CHECK_MEET_HARDWARE, CANOPY_SYNC_VECTOR, enters, CANOPY_CHECK_ALL, CANOPY_CHECK_ALL,
                             at_line(50));
    }
    Found end() {
        launch->end();
        return with_lines(launch->sink.findings);
    }

    std::optional<MadeUpLaunch> launch;
};

TEST_F(CacheTest, CopiesDoNotSeeWhatIsInTheCache) {
    for (const bool cleaned : {false, true}) {
        begin();
        const MadeUpCore core = launch->core();
        core.does(S, 1, {writes_gm(0, 4)});
        if (cleaned) cleans(core, 4);
        core.orders(S, MTE2);
        core.does(MTE2, 2, {reads_gm(0, 64), writes_ub(0, 64)});
        core.does(MTE2, 3, {reads_gm(64, 64), writes_ub(0, 64)});
        EXPECT_EQ(end(), cleaned ? Found{} : Found{"cache.dirty 1 2"});
    }
}

TEST_F(CacheTest, NeitherDoReadsPastTheCache) {
    begin();
    const MadeUpCore core = launch->core();
    core.does(S, 1, {writes_gm(0, 4)});
    core.does(S, 2, {reads_gm(0, 4)}, CANOPY_CHECK_BYPASS);
    cleans_all(core);
    core.does(S, 3, {reads_gm(0, 4)}, CANOPY_CHECK_BYPASS);
    EXPECT_EQ(end(), Found{"cache.dirty 1 2"});
}

TEST_F(CacheTest, AWritePastTheCacheWaitsForTheLineToBeWritten) {
    for (const bool waits : {false, true}) {
        begin();
        const MadeUpCore core = launch->core();
        core.does(S, 1, {writes_gm(0, 4)});
        cleans(core, 0);
        if (waits) (*core).data_barrier(1, at_line(2));
        core.does(S, 3, {writes_gm(8, 4)}, CANOPY_CHECK_BYPASS);
        EXPECT_EQ(end(), waits ? Found{} : Found{"cache.dirty 1 3"});
    }
}

TEST_F(CacheTest, LinesAreOlderThanWhatCopiesHaveWritten) {
    for (const bool cleaned : {false, true}) {
        begin();
        const MadeUpCore core = launch->core();
        core.does(S, 1, {reads_gm(0, 4)});
        core.does(MTE3, 2, {reads_ub(0, 32), writes_gm(0, 32)});
        core.orders(MTE3, S);
        if (cleaned) cleans(core, 0);
        core.does(S, 3, {reads_gm(16, 4)});
        core.does(S, 4, {reads_gm(32, 4)});   // bytes that the copy did not write
        core.does(S, 5, {reads_gm(128, 4)});  // a line that was not held
        EXPECT_EQ(end(), cleaned ? Found{} : Found{"cache.stale 2 3"});
    }
}

TEST_F(CacheTest, ManyLinesAreCopiedAtOnce) {
    begin();
    const MadeUpCore core = launch->core();
    core.does(S, 1, {reads_gm(6400, 4)});
    core.does(MTE3, 2, {reads_ub(0, 65536), writes_gm(0, 65536)});
    core.orders(MTE3, S);
    core.does(S, 3, {reads_gm(6400, 4)});
    EXPECT_EQ(end(), Found{"cache.stale 2 3"});
}

TEST_F(CacheTest, CoresDoNotWriteToOneLine) {
    begin(4);
    for (std::uint32_t block = 0; block < 4; ++block) launch->core(block).does(S, 1, {writes_gm(block * 4, 4)});
    EXPECT_EQ(end(), Found{"cache.line 1 1"});
    EXPECT_EQ(launch->sink.findings[0].headline, "Potential hazard of the scalar data cache at GM");
    begin(4);
    for (std::uint32_t block = 0; block < 4; ++block) launch->core(block).does(S, 1, {writes_gm(block * 64, 4)});
    EXPECT_EQ(end(), Found{});
}

TEST_F(CacheTest, UnlessTheyTakeTurnsAndClean) {
    for (const bool cleaned : {false, true}) {
        begin(2);
        const MadeUpCore first = launch->core(0), second = launch->core(1);
        first.does(S, 1, {writes_gm(0, 4)});
        if (cleaned) cleans(first, 0);
        meet({first, second});
        second.does(S, 2, {writes_gm(4, 4)});
        if (cleaned) cleans(second, 0);
        meet({first, second});
        first.does(S, 3, {writes_gm(8, 4)});
        EXPECT_EQ(end(), cleaned ? Found{} : Found{"cache.line 1 2"});
    }
}

TEST_F(CacheTest, CleaningDoesNotHelpWithoutAnOrder) {
    begin(2);
    for (std::uint32_t block = 0; block < 2; ++block) {
        const MadeUpCore core = launch->core(block);
        core.does(S, 1, {writes_gm(block * 4, 4)});
        cleans(core, 0);
    }
    EXPECT_EQ(end(), Found{"cache.line 1 1"});
}

TEST_F(CacheTest, ALineThatIsHeldIsOlderThanWhatAnotherCoreWrites) {
    for (const bool cleaned : {false, true}) {
        begin(2);
        const MadeUpCore writer = launch->core(0), reader = launch->core(1);
        reader.does(S, 1, {reads_gm(0, 4)});
        meet({writer, reader});
        writer.does(S, 2, {writes_gm(0, 4)});
        cleans(writer, 0);
        meet({writer, reader});
        if (cleaned) cleans(reader, 0);
        reader.does(S, 3, {reads_gm(0, 4)});
        reader.does(S, 4, {reads_gm(0, 4)});
        EXPECT_EQ(end(), cleaned ? Found{} : Found{"cache.stale 2 3"});
    }
}

TEST_F(CacheTest, WhatAnotherCoreHasNotCleanedIsNotInMemory) {
    for (const bool cleaned : {false, true}) {
        begin(2);
        const MadeUpCore writer = launch->core(0), reader = launch->core(1);
        writer.does(S, 1, {writes_gm(0, 4)});
        if (cleaned) cleans(writer, 0);
        meet({writer, reader});
        reader.does(S, 2, {reads_gm(0, 4)});
        reader.does(MTE2, 3, {reads_gm(0, 64), writes_ub(0, 64)});
        reader.does(S, 4, {reads_gm(32, 4)});
        EXPECT_EQ(end(), cleaned ? Found{} : (Found{"cache.dirty 1 2", "cache.dirty 1 3"}));
    }
}

TEST_F(CacheTest, WithoutAnOrderTheRaceIsToldAndNotTheCache) {
    begin(2);
    const MadeUpCore writer = launch->core(0), reader = launch->core(1);
    writer.does(S, 1, {writes_gm(0, 4)});
    reader.does(S, 2, {reads_gm(0, 4)});
    EXPECT_EQ(end(), Found{});
}

TEST_F(CacheTest, LocalMemoriesAreNotCached) {
    begin();
    const MadeUpCore core = launch->core();
    core.does(S, 1, {writes_ub(0, 4)});
    core.orders(S, MTE3);
    core.does(MTE3, 2, {reads_ub(0, 32), writes_gm(0, 32)});
    EXPECT_EQ(end(), Found{});
}

}  // namespace
}  // namespace canopy::check
