// SPDX-License-Identifier: Apache-2.0
// Which accesses of the pipes of a core a chip keeps in order, and which not.
#include <gtest/gtest.h>

#include "made_up.h"

namespace canopy::check {
namespace {

constexpr auto S = CANOPY_CHECK_S, V = CANOPY_CHECK_V, M = CANOPY_CHECK_M, MTE1 = CANOPY_CHECK_MTE1,
               MTE2 = CANOPY_CHECK_MTE2, MTE3 = CANOPY_CHECK_MTE3, FIX = CANOPY_CHECK_FIX;

// Tests with events of a core `core`, and what is found.
struct OnePipeline : testing::Test {
    MadeUpLaunch launch{1, 2201, only_races()};
    MadeUpCore core = launch.core();
};

TEST_F(OnePipeline, CopyInThenVectorNeedsAFlag) {
    core.does(MTE2, 10, {writes_ub(0, 4096)});
    core.does(V, 11, {reads_ub(0, 4096), writes_ub(8192, 4096)});
    EXPECT_EQ(launch.end(), Found{"race.pipe RAW UB MTE2_V"});
    const Finding& finding = launch.sink.findings[0];
    EXPECT_EQ(finding.headline, "Potential RAW hazard detected at UB");
    EXPECT_EQ(finding.explanation, "no order: needs MTE2_V behind the write; PIPE_V has not waited for PIPE_MTE2");
    ASSERT_EQ(finding.places.size(), 2U);
    EXPECT_EQ(finding.places[0].line, 10U);
    EXPECT_EQ(finding.places[0].pipe, "PIPE_MTE2");
    EXPECT_EQ(finding.places[0].access, "write");
    EXPECT_EQ(finding.places[0].operand, "dst");
    EXPECT_EQ(finding.places[1].line, 11U);
    EXPECT_EQ(finding.places[1].core, "aiv(0)");
    EXPECT_EQ(finding.places[1].bytes, 4096U);
}

TEST_F(OnePipeline, AFlagOrdersThem) {
    core.does(MTE2, 10, {writes_ub(0, 4096)});
    core.orders(MTE2, V);
    core.does(V, 11, {reads_ub(0, 4096), writes_ub(8192, 4096)});
    core.orders(V, MTE3);
    core.does(MTE3, 12, {reads_ub(8192, 4096)});
    EXPECT_EQ(launch.end(), Found{});
}

TEST_F(OnePipeline, AFlagOrdersOnlyWhatWasGivenBeforeItWasSet) {
    core.sets(MTE2, V);
    core.does(MTE2, 10, {writes_ub(0, 4096)});
    core.waits(MTE2, V, 0, 30);
    core.does(V, 11, {reads_ub(0, 4096)});
    EXPECT_EQ(launch.end(), Found{"race.pipe RAW UB MTE2_V"});
    EXPECT_NE(launch.sink.findings[0].explanation.find("PIPE_V has last waited for PIPE_MTE2 at kernel.cpp:30"),
              std::string::npos);
}

TEST_F(OnePipeline, EqualFindingsAreCounted) {
    for (int i = 0; i < 24; ++i) {
        core.does(MTE2, 10, {writes_ub(0, 64)});
        core.does(V, 11, {reads_ub(0, 64)});
        core.barrier(CANOPY_CHECK_ALL);
    }
    EXPECT_EQ(launch.end(), Found{"race.pipe RAW UB MTE2_V"});
    EXPECT_EQ(launch.sink.findings[0].count, 24U);
}

TEST_F(OnePipeline, OneBufferInALoopNeedsAWayBack) {
    for (int i = 0; i < 2; ++i) {
        core.does(MTE2, 10, {writes_ub(0, 4096)});
        core.orders(MTE2, V);
        core.does(V, 11, {reads_ub(0, 4096), writes_ub(8192, 4096)});
        core.orders(V, MTE3);
        core.does(MTE3, 12, {reads_ub(8192, 4096)});
    }
    // Two writes of one pipe are not in order either, but what mends the one mends the other.
    EXPECT_EQ(launch.end(), (Found{"race.pipe WAR UB MTE3_V", "race.pipe WAR UB V_MTE2"}));
}

TEST_F(OnePipeline, WaitsOfTheScalarUnitHoldForAllPipes) {
    core.does(MTE2, 10, {writes_ub(0, 4096)});
    core.orders(MTE2, S);
    core.does(V, 11, {reads_ub(0, 4096)});
    core.does(MTE3, 12, {reads_ub(0, 4096)});
    EXPECT_EQ(launch.end(), Found{});
}

TEST_F(OnePipeline, FlagsPassOnWhatTheirPipeHasWaitedFor) {
    core.does(MTE2, 10, {writes_ub(0, 4096)});
    core.orders(MTE2, V);
    core.orders(V, MTE3);
    core.does(MTE3, 12, {reads_ub(0, 4096)});
    EXPECT_EQ(launch.end(), Found{});
}

TEST_F(OnePipeline, ABarrierOfOnePipeOrdersNoOther) {
    core.does(MTE2, 10, {writes_ub(0, 4096)});
    core.barrier(MTE2);
    core.barrier(V);
    core.does(V, 11, {reads_ub(0, 4096)});
    EXPECT_EQ(launch.end(), Found{"race.pipe RAW UB MTE2_V"});
}

TEST_F(OnePipeline, ABarrierOfAllPipesOrdersEverything) {
    core.does(MTE2, 10, {writes_ub(0, 4096)});
    core.does(V, 11, {writes_ub(4096, 4096)});
    core.does(S, 12, {writes_ub(8192, 4)});
    core.barrier(CANOPY_CHECK_ALL);
    core.does(MTE3, 13, {reads_ub(0, 12288)});
    EXPECT_EQ(launch.end(), Found{});
}

TEST_F(OnePipeline, ScalarAccessesNeedFlagsToo) {
    core.does(S, 10, {writes_ub(0, 4)});
    core.does(MTE3, 11, {reads_ub(0, 32)});
    core.does(V, 12, {writes_ub(64, 64)});
    core.does(S, 13, {reads_ub(64, 4)});
    EXPECT_EQ(launch.end(), (Found{"race.pipe RAW UB S_MTE3", "race.pipe RAW UB V_S"}));
    EXPECT_EQ(launch.sink.findings[0].places[0].bytes, 4U);
}

TEST_F(OnePipeline, ADataBarrierOrdersScalarAccessesToItsMemory) {
    core.does(S, 10, {writes_ub(0, 4)});
    (*core).data_barrier(2, at_line(11));
    core.does(MTE3, 12, {reads_ub(0, 32)});
    core.does(S, 13, {writes_ub(64, 4)});
    (*core).data_barrier(1, at_line(14));
    core.does(MTE3, 15, {reads_ub(64, 32)});
    EXPECT_EQ(launch.end(), Found{"race.pipe RAW UB S_MTE3"});
    EXPECT_EQ(launch.sink.findings[0].places[1].line, 15U);
}

TEST_F(OnePipeline, DependentVectorInstructionsNeedABarrier) {
    core.does(V, 10, {writes_ub(0, 4096)});
    core.does(V, 11, {reads_ub(0, 4096)});
    core.barrier(V);
    core.does(V, 12, {reads_ub(0, 4096)});
    EXPECT_EQ(launch.end(), Found{"race.in-pipe RAW UB PipeBarrier<PIPE_V>"});
    EXPECT_EQ(launch.sink.findings[0].level, Level::error);
}

TEST(Pipelines, VectorInstructionsOf3510AreInOrder) {
    MadeUpLaunch launch(1, 3510, only_races());
    MadeUpCore core = launch.core();
    core.does(V, 10, {writes_ub(0, 4096)});
    core.does(V, 11, {reads_ub(0, 4096), writes_ub(0, 4096)});
    EXPECT_EQ(launch.end(), Found{});
}

TEST(Pipelines, WhatTheCompilerOrdersIsANote) {
    MadeUpLaunch launch(1, 2201, only_races());
    launch.facts.autosync = true;
    MadeUpCore core = launch.core();
    core.does(V, 10, {writes_ub(0, 4096)});
    core.does(V, 11, {reads_ub(0, 4096)});
    core.does(S, 12, {reads_ub(0, 4)}, CANOPY_CHECK_AUTO_ORDERED);
    core.does(S, 13, {writes_ub(8192, 4)});
    core.does(MTE3, 14, {reads_ub(8192, 32)});
    EXPECT_EQ(launch.end(),
              (Found{"race.in-pipe RAW UB PipeBarrier<PIPE_V>", "race.pipe RAW UB S_MTE3", "race.pipe RAW UB V_S"}));
    for (const Finding& finding : launch.sink.findings)
        EXPECT_EQ(finding.level, finding.missing == "S_MTE3" ? Level::error : Level::note);
}

TEST_F(OnePipeline, TwoCopiesToOnePlaceNeedTheBarrierOfTheirPipe) {
    core.does(MTE2, 10, {writes_ub(0, 96)});
    core.does(MTE2, 11, {writes_ub(64, 96)});
    core.barrier(MTE2);
    core.does(MTE2, 12, {writes_ub(0, 4096)});
    EXPECT_EQ(launch.end(), Found{"race.in-pipe WAW UB PipeBarrier<PIPE_MTE2>"});
    EXPECT_EQ(launch.sink.findings[0].places[0].address, 64U);
    EXPECT_EQ(launch.sink.findings[0].places[0].bytes, 32U);
}

TEST_F(OnePipeline, BytesOfABlockAreKeptApart) {
    core.does(V, 10, {writes_ub(0, 12)});
    core.does(S, 11, {reads_ub(12, 4)});
    core.does(S, 12, {reads_ub(8, 4)});
    core.orders(V, MTE3);
    core.does(MTE3, 13, {reads_ub(0, 32)});
    EXPECT_EQ(launch.end(), Found{"race.pipe RAW UB V_S"});
    EXPECT_EQ(launch.sink.findings[0].places[0].bytes, 4U);
    EXPECT_EQ(launch.sink.findings[0].places[0].address, 8U);
}

TEST_F(OnePipeline, OnlySelectedLanesCount) {
    const std::uint64_t even[2] = {0x5555555555555555U, 0};
    CanopyCheckAccess selected = writes_ub(0, 32);
    selected.pieces = 8;
    selected.step = 32;
    selected.element = 4;
    selected.lanes = even;
    selected.lanes_per_bit = 1;
    core.does(V, 10, {selected});
    CanopyCheckAccess odd = reads_ub(4, 4);
    odd.pieces = 32;
    odd.step = 8;
    core.does(MTE3, 11, {odd});
    core.does(MTE3, 12, {reads_ub(0, 8)});
    EXPECT_EQ(launch.end(), Found{"race.pipe RAW UB V_MTE3"});
    EXPECT_EQ(launch.sink.findings[0].places[1].line, 12U);
    EXPECT_EQ(launch.sink.findings[0].places[1].bytes, 4U);
}

TEST_F(OnePipeline, LoadsOfWholeRegistersEndWithTheirBuffer) {
    CanopyCheckBuffer placed{};
    placed.event = CANOPY_CHECK_TENSOR_PLACED;
    placed.buffers = 1;
    placed.address = reinterpret_cast<const void*>(facts_of_core(0).memory[CANOPY_MEMORY_UB].base);
    placed.bytes = 640;
    placed.memory = CANOPY_MEMORY_UB;
    (*core).buffer(placed);
    CanopyCheckAccess loads = reads_ub(0, 256);
    loads.pieces = 3;
    loads.step = 256;
    core.does(MTE2, 10, {writes_ub(640, 64)});
    core.does(V, 11, {loads});
    loads.whole_register = 1;
    core.does(V, 12, {loads});
    core.does(MTE2, 13, {writes_ub(608, 32)});
    EXPECT_EQ(launch.end(), (Found{"race.pipe RAW UB MTE2_V", "race.pipe WAR UB V_MTE2"}));
    EXPECT_EQ(launch.sink.findings[0].places[1].line, 11U);
}

TEST_F(OnePipeline, AccessesOfThreadsAreInOrder) {
    (*core).region(CANOPY_CHECK_REGION_THREADS, true, nullptr);
    core.does(V, 10, {writes_ub(0, 4)});
    core.does(V, 11, {reads_ub(0, 4)});
    (*core).region(CANOPY_CHECK_REGION_THREADS, false, nullptr);
    core.does(MTE3, 12, {reads_ub(0, 4)});
    EXPECT_EQ(launch.end(), Found{"race.pipe RAW UB V_MTE3"});
}

TEST_F(OnePipeline, LibraryCallsOrder) {
    core.does(MTE2, 10, {writes_ub(0, 64)});
    (*core).order(MTE2, V, at_line(11));
    core.does(V, 12, {reads_ub(0, 64), writes_ub(64, 64)}, CANOPY_CHECK_RETURNS_SCALAR);
    core.does(MTE3, 13, {reads_ub(64, 64)});
    EXPECT_EQ(launch.end(), Found{});
}

TEST(Pipelines, LibraryCallsOrderNothingThatIsPortable) {
    CheckOptions options = only_races();
    options.portable = true;
    MadeUpLaunch launch(1, 2201, options);
    MadeUpCore core = launch.core();
    core.does(V, 12, {writes_ub(64, 64)}, CANOPY_CHECK_RETURNS_SCALAR);
    core.does(MTE3, 13, {reads_ub(64, 64)});
    EXPECT_EQ(launch.end(), Found{"race.pipe RAW UB V_MTE3"});
}

TEST(Pipelines, MutexesOrderPipesButNotOneWithItself) {
    MadeUpLaunch launch(1, 3510, only_races());
    MadeUpCore core = launch.core();
    const auto locked = [&](std::uint8_t pipe, std::uint32_t line, CanopyCheckAccess access) {
        (*core).mutex(true, pipe, 3, at_line(line));
        core.does(pipe, line, {access});
        (*core).mutex(false, pipe, 3, at_line(line));
    };
    locked(MTE2, 10, writes_ub(0, 64));
    locked(V, 11, reads_ub(0, 64));
    locked(MTE2, 12, writes_ub(0, 64));
    EXPECT_EQ(launch.end(), Found{});
}

TEST(Pipelines, ALockOfOnePipeTwiceIsNoBarrier) {
    MadeUpLaunch launch(1, 3510, only_races());
    MadeUpCore core = launch.core();
    for (const std::uint32_t line : {10, 11}) {
        (*core).mutex(true, MTE2, 3, at_line(line));
        core.does(MTE2, line, {writes_ub(0, 64)});
        (*core).mutex(false, MTE2, 3, at_line(line));
    }
    EXPECT_EQ(launch.end(), Found{"race.in-pipe WAW UB PipeBarrier<PIPE_MTE2>"});
}

// ---- cube cores -----------------------------------------------------------------------------------------------------

CanopyCheckAccess l0c(std::uint8_t kind, std::uint64_t offset, std::uint64_t bytes) {
    return access_of(kind, CANOPY_MEMORY_L0C, l0c_base + offset, bytes, "C");
}

struct OneCube : testing::Test {
    MadeUpLaunch launch{1, 2201, CheckOptions{}, 0, 1};
    MadeUpCore core = launch.cube();

    void product(std::uint32_t line, std::uint32_t size, bool adds, std::uint8_t unit_flag = 0) const {
        const std::uint64_t bytes = std::uint64_t{size} * size * 4;
        core.does(M, line, {l0c(adds ? CANOPY_CHECK_READ_WRITE : CANOPY_CHECK_WRITE, 0, bytes)},
                  adds ? CANOPY_CHECK_ACCUMULATES : 0, size, size, unit_flag);
    }
    void fixpipe(std::uint32_t line, std::uint32_t size, std::uint8_t unit_flag = 0) const {
        core.does(FIX, line, {l0c(CANOPY_CHECK_READ, 0, std::uint64_t{size} * size * 4)}, 0, size, size, unit_flag);
    }
};

TEST_F(OneCube, SmallProductsThatAddNeedABarrier) {
    product(10, 32, false);
    product(11, 32, true);
    core.barrier(M);
    product(12, 32, true);
    EXPECT_EQ(launch.end(), Found{"race.in-pipe RAW L0C PipeBarrier<PIPE_M>"});
}

TEST_F(OneCube, LargeProductsThatAddAreInOrder) {
    product(10, 64, false);
    product(11, 64, true);
    EXPECT_EQ(launch.end(), Found{});
}

TEST_F(OneCube, FixpipeNeedsAFlag) {
    product(10, 64, false);
    fixpipe(11, 64);
    core.orders(FIX, M);
    product(12, 64, false);
    core.orders(M, FIX);
    fixpipe(13, 64);
    EXPECT_EQ(launch.end(), Found{"race.pipe RAW L0C M_FIX"});
}

TEST_F(OneCube, UnitFlagsOrderProductAndFixpipe) {
    for (int i = 0; i < 3; ++i) {
        product(10, 64, false, 2);
        product(11, 64, true, 3);
        fixpipe(12, 64, 3);
    }
    EXPECT_EQ(launch.end(), Found{});
}

TEST_F(OneCube, AUnitFlagOnOneSideIsAnError) {
    product(10, 64, false, 3);
    core.orders(M, FIX);
    fixpipe(11, 64);
    EXPECT_EQ(launch.end(), Found{"sync.unit-flag L0C unitFlag"});
}

TEST_F(OneCube, AUnitFlagThatNobodySetsIsAnError) {
    product(10, 64, false);
    core.orders(M, FIX);
    fixpipe(11, 64, 3);
    EXPECT_EQ(launch.end(), Found{"sync.unit-flag L0C unitFlag"});
}

TEST_F(OneCube, AFixpipeThatTakesAPartLeavesTheRest) {
    product(10, 64, false, 3);
    fixpipe(11, 32, 3);
    EXPECT_EQ(launch.end(), Found{"sync.unit-flag L0C unitFlag"});
}

TEST_F(OneCube, LoadsThatOverwriteOperandsNeedAFlag) {
    const auto operand = [](std::uint8_t kind) { return access_of(kind, CANOPY_MEMORY_L0A, l0a_base, 4096, "a"); };
    core.does(MTE1, 10, {operand(CANOPY_CHECK_WRITE)});
    core.orders(MTE1, M);
    core.does(M, 11, {operand(CANOPY_CHECK_READ)});
    core.does(MTE1, 12, {operand(CANOPY_CHECK_WRITE)});
    EXPECT_EQ(launch.end(), Found{"race.pipe WAR L0A M_MTE1"});
}

TEST_F(OneCube, TwoLoadsToOnePlaceAreAWarning) {
    core.does(MTE1, 10, {access_of(CANOPY_CHECK_WRITE, CANOPY_MEMORY_L0A, l0a_base, 4096)});
    core.does(MTE1, 11, {access_of(CANOPY_CHECK_WRITE, CANOPY_MEMORY_L0A, l0a_base, 4096)});
    EXPECT_EQ(launch.end(), Found{"race.in-pipe WAW L0A PipeBarrier<PIPE_MTE1>"});
    EXPECT_EQ(launch.sink.findings[0].level, Level::warning);
}

}  // namespace
}  // namespace canopy::check
