// SPDX-License-Identifier: Apache-2.0
// Use of bytes that nobody has written.
#include <optional>

#include "check/memory/written.h"
#include "made_up.h"

namespace canopy::check {
namespace {

constexpr std::uint8_t S = CANOPY_CHECK_S, V = CANOPY_CHECK_V, M = CANOPY_CHECK_M, MTE2 = CANOPY_CHECK_MTE2,
                       MTE3 = CANOPY_CHECK_MTE3;
constexpr std::uint8_t carry = CANOPY_CHECK_CARRY, use = CANOPY_CHECK_USE, fill = CANOPY_CHECK_FILL;

struct InitTest : testing::Test {
    void begin(std::uint32_t architecture = 2201, bool cube = false) {
        launch.emplace(1, architecture, only(&Classes::init));
        launch->facts.cube_cores = cube ? 1 : 0;
        launch->facts.written = &written;
        launch->facts.allocation = [](std::uint64_t address) -> std::optional<AllocationFacts> {
            if (address - global_base >= 0x100000) return std::nullopt;
            return AllocationFacts{
                .address = global_base, .size = 0x100000, .serial = 1, .origin = "aclrtMalloc at main.cpp:12"};
        };
        core.emplace(launch->core(0, cube));
    }
    void does(std::uint8_t pipe, std::uint32_t line, std::uint8_t flow, std::vector<CanopyCheckAccess> accesses,
              std::uint32_t flags = 0) {
        for (CanopyCheckAccess& access : accesses) access.element = access.element == 1 ? 4 : access.element;
        core->flows(flow, pipe, line, accesses, flags);
    }
    Found end() {
        launch->end();
        return with_lines(launch->sink.findings);
    }
    const Finding& first() { return launch->sink.findings.at(0); }

    WrittenBytes written;
    std::optional<MadeUpLaunch> launch;
    std::optional<MadeUpCore> core;
};

TEST_F(InitTest, ScalarsAreWrittenBeforeTheyAreRead) {
    begin();
    does(V, 1, fill, {writes_ub(0, 256)});
    does(S, 2, use, {reads_ub(252, 4)});
    does(S, 3, use, {reads_ub(256, 4)});
    does(S, 4, fill, {writes_ub(256, 4)});
    does(S, 5, use, {reads_ub(256, 4)});
    does(S, 6, use, {reads_ub(254, 8)});
    EXPECT_EQ(end(), (Found{"init.scalar 3", "init.scalar 6"}));
    EXPECT_EQ(first().headline, "uninitialized read of size 4");
    EXPECT_EQ(first().explanation, "nobody has written them since the block began");
}

TEST_F(InitTest, CopiesAndElementsCarryWhatIsNotWritten) {
    begin();
    written.unwritten(global_base + 400, 112);
    does(MTE2, 1, carry, {writes_ub(0, 512), reads_gm(0, 512)});
    does(V, 2, carry, {writes_ub(1024, 512), reads_ub(0, 512)});
    does(V, 3, carry, {writes_ub(2048, 256), reads_ub(1024, 512)});  // to elements of half the size
    core->flows(carry, V, 3, {writes_ub(4096, 512), reads_ub(1024, 512)});
    does(S, 4, use, {reads_ub(1024 + 396, 4)});
    does(S, 5, use, {reads_ub(1024 + 400, 4)});
    does(S, 6, use, {reads_ub(0, 4)});
    EXPECT_EQ(end(), Found{"init.scalar 2 5"});
}

TEST_F(InitTest, ElementsOfOtherSizesBelongTogether) {
    begin();
    does(V, 1, fill, {writes_ub(0, 256)});  // 64 of 128 floats
    CanopyCheckAccess halves = writes_ub(1024, 256);
    halves.element = 2;
    does(V, 2, carry, {halves, reads_ub(0, 512)});
    does(S, 3, use, {reads_ub(1024 + 124, 4)});
    does(S, 4, use, {reads_ub(1024 + 128, 4)});
    EXPECT_EQ(end(), Found{"init.scalar 2 4"});
}

TEST_F(InitTest, RowsOfCopiesBelongTogether) {
    begin();
    written.unwritten(global_base + 1000 + 20, 20);  // the end of the second row
    CanopyCheckAccess from = reads_gm(0, 40), to = writes_ub(0, 64);
    from.pieces = to.pieces = 3;
    from.step = 1000;
    to.step = 64;
    does(MTE2, 1, carry, {to, from});
    does(S, 2, use, {reads_ub(64 + 16, 4)});
    does(S, 3, use, {reads_ub(64 + 20, 4)});
    does(S, 4, use, {reads_ub(64 + 40, 4)});  // padding counts as written
    EXPECT_EQ(end(), Found{"init.scalar 1 3"});
}

TEST_F(InitTest, OnlySelectedLanesAreWritten) {
    begin();
    const std::uint64_t even[2] = {0x5555555555555555, 0};
    CanopyCheckAccess access = writes_ub(0, 256);
    access.lanes = even;
    access.lanes_per_bit = 1;
    does(V, 1, fill, {access});
    does(S, 2, use, {reads_ub(8, 4)});
    does(S, 3, use, {reads_ub(12, 4)});
    CanopyCheckAccess read = reads_ub(0, 256);
    read.lanes = even;
    read.lanes_per_bit = 1;
    does(V, 4, use, {read, writes_ub(512, 4)});
    EXPECT_EQ(end(), Found{"init.scalar 3"});
}

TEST_F(InitTest, AGarbageTailIsNobodysBusinessUntilItMatters) {
    begin();
    does(MTE2, 1, carry, {writes_ub(0, 416), reads_gm(0, 400)});
    does(V, 2, carry, {writes_ub(4096, 4096), reads_ub(0, 4096)});
    does(MTE3, 3, carry, {reads_ub(4096, 416), writes_gm(8192, 400)});
    EXPECT_EQ(end(), Found{});
    begin();
    does(MTE2, 1, carry, {writes_ub(0, 416), reads_gm(0, 400)});
    does(V, 2, carry, {writes_ub(4096, 4096), reads_ub(0, 4096)});
    does(MTE3, 3, carry, {reads_ub(4096, 512), writes_gm(8192, 512)});
    EXPECT_EQ(end(), Found{"init.out 2 3"});
    EXPECT_EQ(first().headline, "uninitialized read of size 96");
}

TEST_F(InitTest, PartsOfBlocksCopiedOutMarkGlobalMemory) {
    begin();
    does(V, 1, fill, {writes_ub(0, 16)});
    does(MTE3, 2, carry, {reads_ub(0, 32), writes_gm(0, 32)});
    EXPECT_EQ(end(), Found{});
    EXPECT_EQ(written.find_unwritten(global_base, global_base + 64), global_base + 16);
    EXPECT_EQ(written.find_written(global_base + 16, global_base + 64), global_base + 32);
}

TEST_F(InitTest, ReductionsProductsOffsetsAndSumsUseTheirOperands) {
    begin();
    does(V, 1, use, {reads_ub(0, 64), writes_ub(512, 4)});
    CanopyCheckAccess offsets = reads_ub(1024, 64);
    offsets.operand = "srcOffset";
    does(V, 2, use, {offsets, writes_ub(2048, 64)});
    written.unwritten(global_base, 64);
    CanopyCheckAccess sum = writes_gm(0, 32);
    sum.atomic = CANOPY_CHECK_ATOMIC_ADD;
    sum.kind = CANOPY_CHECK_READ_WRITE;
    does(MTE3, 3, carry, {reads_ub(512, 4), sum});
    does(MTE3, 4, carry, {reads_ub(512, 4), sum});  // now it is written
    EXPECT_EQ(end(), (Found{"init.atomic 12 3", "init.index 2", "init.reduce 1"}));
}

TEST_F(InitTest, ProductsReadTheValidPartOfFractals) {
    begin(2201, true);
    const CanopyCheckAccess a = reads(CANOPY_MEMORY_L0A, l0a_base, 1024), b = reads(CANOPY_MEMORY_L0B, l0b_base, 512),
                            c = writes(CANOPY_MEMORY_L0C, l0c_base, 1024);
    does(CANOPY_CHECK_MTE1, 1, fill, {writes(CANOPY_MEMORY_L0A, l0a_base, 1000)});
    does(CANOPY_CHECK_MTE1, 2, fill, {writes(CANOPY_MEMORY_L0B, l0b_base, 512)});
    does(M, 3, use, {a, b, c});
    EXPECT_EQ(end(), Found{});
    begin(2201, true);
    does(CANOPY_CHECK_MTE1, 1, fill, {writes(CANOPY_MEMORY_L0A, l0a_base, 512)});
    does(CANOPY_CHECK_MTE1, 2, fill, {writes(CANOPY_MEMORY_L0B, l0b_base, 512)});
    CanopyCheckAccess sums = c;
    sums.kind = CANOPY_CHECK_READ_WRITE;
    does(M, 3, use, {a, b, sums}, CANOPY_CHECK_ACCUMULATES);
    EXPECT_EQ(end(), (Found{"init.product 3", "init.product 3"}));
    EXPECT_NE(launch->sink.findings[0].memory, launch->sink.findings[1].memory);  // L0A and L0C
}

TEST_F(InitTest, GlobalMemoryIsUnwrittenFromItsAllocationOn) {
    begin();
    written.allocated(global_base, 0x100000);
    written.written(global_base, 64);  // by the host
    does(S, 1, use, {reads_gm(0, 4)});
    does(S, 2, use, {reads_gm(64, 4)});
    EXPECT_EQ(end(), Found{"init.scalar 12 2"});
    EXPECT_EQ(first().memory, "GM");
    begin();  // the next launch
    does(S, 3, fill, {writes_gm(64, 4)});
    does(S, 4, use, {reads_gm(64, 4)});
    EXPECT_EQ(end(), Found{});
}

TEST_F(InitTest, ABufferOfAnotherRoundIsStale) {
    begin();
    const auto tell = [&](std::uint32_t event) {
        CanopyCheckBuffer buffer{};
        buffer.event = event;
        buffer.buffers = 1;
        buffer.queue = this;
        buffer.address = reinterpret_cast<const void*>((facts_of_core(0).memory[CANOPY_MEMORY_UB].base));
        buffer.bytes = 256;
        buffer.depth = 1;
        buffer.source = buffer.destination = 9;  // VECIN
        buffer.memory = CANOPY_MEMORY_UB;
        (**core).buffer(buffer);
    };
    tell(CANOPY_CHECK_BUFFER_INIT);
    tell(CANOPY_CHECK_BUFFER_ALLOCATE);
    does(V, 1, fill, {writes_ub(0, 128)});
    does(V, 2, use, {reads_ub(0, 128), writes_ub(512, 4)});
    tell(CANOPY_CHECK_BUFFER_FREE);
    tell(CANOPY_CHECK_BUFFER_ALLOCATE);
    does(V, 3, carry, {reads_ub(0, 64), writes_ub(1024, 64)});
    does(V, 4, use, {reads_ub(1024, 64), writes_ub(512, 4)});
    does(V, 5, use, {reads_ub(128, 64), writes_ub(512, 4)});
    does(V, 6, fill, {writes_ub(0, 128)});
    does(V, 7, use, {reads_ub(0, 128), writes_ub(512, 4)});
    EXPECT_EQ(end(), (Found{"init.reduce 5", "init.stale 3 4"}));
    for (const Finding& finding : launch->sink.findings)
        EXPECT_EQ(finding.level, finding.id == "init.stale" ? Level::warning : Level::error);
}

TEST_F(InitTest, WhatIsReadAndWrittenAtOnceStaysAsItIs) {
    begin();
    does(V, 1, fill, {writes_ub(0, 128)});
    CanopyCheckAccess sum = writes_ub(512, 128);
    sum.kind = CANOPY_CHECK_READ_WRITE;
    does(V, 2, carry, {reads_ub(0, 128), sum});
    does(S, 3, use, {reads_ub(512, 4)});
    EXPECT_EQ(end(), Found{"init.scalar 3"});
}

TEST_F(InitTest, InPlaceOperationsKeepTheirTail) {
    begin();
    does(V, 1, fill, {writes_ub(0, 128)});
    does(V, 2, carry, {reads_ub(0, 256), writes_ub(0, 256)});
    does(S, 3, use, {reads_ub(0, 4)});
    does(S, 4, use, {reads_ub(128, 4)});
    EXPECT_EQ(end(), Found{"init.scalar 2 4"});
}

}  // namespace
}  // namespace canopy::check
