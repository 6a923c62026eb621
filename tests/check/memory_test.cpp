// SPDX-License-Identifier: Apache-2.0
// Where operands may be: tensors, buffers, allocations, and each other.
#include <map>
#include <optional>

#include "made_up.h"

namespace canopy::check {
namespace {

constexpr std::uint8_t S = CANOPY_CHECK_S, V = CANOPY_CHECK_V, MTE2 = CANOPY_CHECK_MTE2;

struct MemoryTest : testing::Test {
    void begin(std::uint32_t architecture = 2201) {
        launch.emplace(1, architecture, only(&Classes::memory));
        launch->facts.allocation = [this](std::uint64_t address) -> std::optional<AllocationFacts> {
            for (const AllocationFacts& known : allocations)
                if (address - known.address < known.size) return known;
            return std::nullopt;
        };
        core.emplace(launch->core());
    }
    // An operand that is a part of a tensor.
    static CanopyCheckAccess part(CanopyCheckAccess access, std::uint64_t tensor, std::uint64_t tensor_bytes) {
        access.tensor = reinterpret_cast<const void*>(tensor);
        access.tensor_bytes = tensor_bytes;
        return access;
    }
    static CanopyCheckAccess of_ub(std::uint8_t kind, std::uint64_t offset, std::uint64_t bytes,
                                   std::uint64_t tensor_bytes) {
        const std::uint64_t address = upper() + ub_base + offset;
        return part(access_of(kind, CANOPY_MEMORY_UB, address, bytes), address, tensor_bytes);
    }
    static std::uint64_t upper() { return facts_of_core(0).memory[CANOPY_MEMORY_UB].base >> 32 << 32; }
    void tell(std::uint32_t event, std::uint64_t offset, std::uint64_t bytes, std::uint32_t line,
              const void* queue = nullptr, std::uint32_t buffers = 1) {
        CanopyCheckBuffer buffer{};
        buffer.site = at_line(line);
        buffer.event = event;
        buffer.buffers = buffers;
        buffer.queue = queue;
        buffer.address = reinterpret_cast<const void*>(upper() + ub_base + offset);
        buffer.bytes = bytes;
        buffer.depth = 1;
        buffer.source = buffer.destination = 9;  // VECIN
        buffer.memory = CANOPY_MEMORY_UB;
        (**core).buffer(buffer);
    }
    Found end() {
        launch->end();
        return with_lines(launch->sink.findings);
    }
    const Finding& first() { return launch->sink.findings.at(0); }

    std::optional<MadeUpLaunch> launch;
    std::optional<MadeUpCore> core;
    std::vector<AllocationFacts> allocations = {
        {.address = global_base, .size = 1000, .serial = 1, .origin = "aclrtMalloc at main.cpp:12"},
        {.address = global_base + 1024, .size = 1000, .serial = 2, .origin = "aclrtMalloc at main.cpp:13"},
        {.address = global_base + 8192, .size = 1024, .serial = 3, .freed = true, .origin = "aclrtMalloc"}};
};

TEST_F(MemoryTest, OperandsStayInTheirTensors) {
    begin();
    core->does(MTE2, 1, {of_ub(CANOPY_CHECK_WRITE, 0, 4096, 4096)});
    core->does(MTE2, 2, {of_ub(CANOPY_CHECK_WRITE, 0, 64, 40)});  // the block that the tensor ends in
    core->does(MTE2, 3, {of_ub(CANOPY_CHECK_WRITE, 0, 8192, 4096)});
    EXPECT_EQ(end(), Found{"memory.tensor 3"});
    EXPECT_EQ(first().headline, "illegal write of size 4096");
    EXPECT_EQ(first().memory, "UB");
    EXPECT_EQ(first().explanation, "it ends 4096 bytes behind its tensor of 4096 bytes");
}

TEST_F(MemoryTest, OnlyBytesThatAreTouchedCount) {
    begin();
    // Eight repeats in two rows; the last lanes of the second are not selected.
    CanopyCheckAccess access = of_ub(CANOPY_CHECK_READ, 0, 32, 480);
    access.step = 32;
    access.pieces = 8;
    access.repeat_step = 256;
    access.repeats = 2;
    access.element = 4;
    const std::uint64_t lanes[2] = {(std::uint64_t{1} << 56) - 1, 0};
    access.lanes = lanes;
    access.lanes_per_bit = 1;
    core->does(V, 1, {access});
    EXPECT_EQ(end(), Found{});
    begin();
    access.lanes = nullptr;
    core->does(V, 1, {access});
    EXPECT_EQ(end(), Found{"memory.tensor 1"});
    EXPECT_EQ(first().headline, "illegal read of size 32");
}

TEST_F(MemoryTest, WholeRegistersMayReadBehindTheirTensor) {
    begin(3510);
    CanopyCheckAccess access = of_ub(CANOPY_CHECK_READ, 0, 256, 100);
    access.whole_register = 1;
    core->does(V, 1, {access});
    EXPECT_EQ(end(), Found{});
}

TEST_F(MemoryTest, NothingIsBehindTheEndOfAMemory) {
    begin();
    core->does(V, 1, {of_ub(CANOPY_CHECK_WRITE, 192 * 1024 - 32, 64, 64)});
    core->does(V, 2, {of_ub(CANOPY_CHECK_WRITE, 0x800000, 32, 32)});
    EXPECT_EQ(end(), (Found{"memory.buffer 1", "memory.buffer 2"}));
}

TEST_F(MemoryTest, TensorsLargerThanTheirBufferAreFound) {
    begin();
    tell(CANOPY_CHECK_BUFFER_INIT, 0, 256, 1);
    core->does(V, 2, {of_ub(CANOPY_CHECK_WRITE, 0, 512, 512)});
    core->does(V, 3, {of_ub(CANOPY_CHECK_WRITE, 0, 512, 256)});
    EXPECT_EQ(end(), (Found{"memory.buffer 2", "memory.tensor 3"}));
}

TEST_F(MemoryTest, TensorsOfQueuesAreUsedWhileTheyAreTaken) {
    begin();
    const int queue = 0;
    tell(CANOPY_CHECK_BUFFER_INIT, 0, 256, 1, &queue, 2);
    tell(CANOPY_CHECK_BUFFER_ALLOCATE, 256, 256, 2, &queue);
    core->does(MTE2, 3, {of_ub(CANOPY_CHECK_WRITE, 256, 256, 256)});
    tell(CANOPY_CHECK_BUFFER_ENQUEUE, 256, 256, 4, &queue);
    core->does(V, 5, {of_ub(CANOPY_CHECK_READ, 256, 256, 256)});
    tell(CANOPY_CHECK_BUFFER_DEQUEUE, 256, 256, 6, &queue);
    core->does(V, 7, {of_ub(CANOPY_CHECK_READ, 256, 256, 256)});
    tell(CANOPY_CHECK_BUFFER_FREE, 256, 256, 8, &queue);
    core->does(V, 9, {of_ub(CANOPY_CHECK_READ, 256, 256, 256)});
    EXPECT_EQ(end(), (Found{"memory.freed 8 9", "memory.queued 4 5"}));
}

TEST_F(MemoryTest, TensorsEndWithTheirPipe) {
    begin();
    tell(CANOPY_CHECK_BUFFER_INIT, 0, 512, 1);
    tell(CANOPY_CHECK_BUFFER_INIT, 512, 512, 2);
    tell(CANOPY_CHECK_PIPE_RESET, 0, 0, 3);
    core->does(V, 4, {of_ub(CANOPY_CHECK_WRITE, 0, 256, 256)});
    tell(CANOPY_CHECK_BUFFER_INIT, 0, 256, 5);  // taken anew
    core->does(V, 6, {of_ub(CANOPY_CHECK_WRITE, 0, 256, 256)});
    core->does(V, 7, {of_ub(CANOPY_CHECK_WRITE, 256, 256, 256)});
    tell(CANOPY_CHECK_TENSOR_PLACED, 512, 256, 8);  // the program's own
    core->does(V, 9, {of_ub(CANOPY_CHECK_WRITE, 512, 256, 256)});
    core->does(V, 10, {of_ub(CANOPY_CHECK_WRITE, 4096, 256, 256)});  // never was a buffer
    EXPECT_EQ(end(), (Found{"memory.reset 3 4", "memory.reset 3 7"}));
}

TEST_F(MemoryTest, AProgramMayKeepItsBuffersWhenTPipeHasEnded) {
    begin();
    const int queue = 0;
    tell(CANOPY_CHECK_BUFFER_INIT, 0, 512, 1);
    tell(CANOPY_CHECK_BUFFER_INIT, 512, 256, 2, &queue);
    tell(CANOPY_CHECK_PIPE_DESTROY, 0, 0, 3);
    core->does(V, 4, {of_ub(CANOPY_CHECK_WRITE, 0, 256, 256)});
    core->does(V, 5, {of_ub(CANOPY_CHECK_WRITE, 512, 256, 256)});
    EXPECT_EQ(end(), (Found{"memory.reset 3 5"}));
}

TEST_F(MemoryTest, PlacedTensorsAndBuffersDoNotMix) {
    begin();
    tell(CANOPY_CHECK_BUFFER_INIT, 256, 256, 1);
    tell(CANOPY_CHECK_TENSOR_PLACED, 0, 256, 2);
    tell(CANOPY_CHECK_TENSOR_PLACED, 0, 288, 3);
    tell(CANOPY_CHECK_TENSOR_PLACED, 480, 512, 4);
    tell(CANOPY_CHECK_TENSOR_PLACED, 512, 512, 5);
    EXPECT_EQ(end(), (Found{"memory.overlap 1 3", "memory.overlap 1 4"}));
    EXPECT_EQ(first().level, Level::warning);
}

TEST_F(MemoryTest, GlobalOperandsStayInTheirAllocation) {
    begin();
    core->does(MTE2, 1, {reads_gm(0, 1000)});
    core->does(MTE2, 2, {reads_gm(960, 64)});                         // the block that it ends in
    core->does(MTE2, 3, {reads_gm(2000, 64)});                        // runs out
    core->does(MTE2, 4, {reads_gm(960, 128)});                        // runs into the next
    core->does(MTE2, 5, {reads_gm(8192, 32)});                        // freed
    core->does(MTE2, 6, {reads_gm(0x10000, 32)});                     // nowhere
    core->does(MTE2, 7, {part(reads_gm(1024, 32), global_base, 0)});  // the tensor is elsewhere
    core->does(S, 8, {part(reads_gm(16, 4), global_base, 16)});       // in the last block of its tensor
    core->does(S, 9, {part(writes_gm(16, 4), global_base, 16)});
    EXPECT_EQ(end(), (Found{"memory.allocation 13 3", "memory.allocation 6", "memory.foreign 12 4",
                            "memory.foreign 13 7", "memory.freed 0 5", "memory.tensor 9"}));
    for (const Finding& finding : launch->sink.findings) {
        if (finding.id != "memory.foreign") continue;
        EXPECT_NE(finding.explanation.find("main.cpp:12"), std::string::npos);
        EXPECT_NE(finding.explanation.find("main.cpp:13"), std::string::npos);
    }
}

TEST_F(MemoryTest, AnAllocationIsAPlaceOfTheHost) {
    begin();
    core->does(MTE2, 3, {reads_gm(2000, 64)});
    end();
    ASSERT_EQ(first().places.size(), 2U);
    EXPECT_EQ(first().places[0].file, "main.cpp");
    EXPECT_EQ(first().places[0].line, 13U);
    EXPECT_EQ(first().places[0].operation, "aclrtMalloc");
    EXPECT_EQ(first().places[0].core, "");
}

TEST_F(MemoryTest, MisusedParametersAreTold) {
    begin();
    (**core).misuse("memory.align", "Adds: the source is at byte 12", at_line(1));
    (**core).misuse("memory.limit", "Adds: the mask is 65", at_line(2));
    EXPECT_EQ(end(), (Found{"memory.align 1", "memory.limit 2"}));
    EXPECT_EQ(launch->sink.findings.size(), 2U);
}

TEST_F(MemoryTest, WorkSpaceOfInstructionsIsReserved) {
    begin();
    CanopyCheckAccess reserved = of_ub(CANOPY_CHECK_READ_WRITE, 184 * 1024, 8192, 0);
    reserved.operand = "reserved";
    tell(CANOPY_CHECK_BUFFER_INIT, 0, 184 * 1024, 1);
    core->does(V, 2, {of_ub(CANOPY_CHECK_WRITE, 0, 256, 256), reserved});
    core->does(V, 3, {of_ub(CANOPY_CHECK_WRITE, 190 * 1024, 256, 256)});
    EXPECT_EQ(end(), Found{"memory.reserved 2 3"});
    begin();
    tell(CANOPY_CHECK_BUFFER_INIT, 0, 185 * 1024, 1);
    core->does(V, 2, {of_ub(CANOPY_CHECK_WRITE, 0, 256, 256), reserved});
    EXPECT_EQ(end(), Found{"memory.reserved 1 2"});
    EXPECT_EQ(first().level, Level::warning);
}

TEST_F(MemoryTest, OperandsOfOneInstructionAreTheSameOrApart) {
    const auto found = [&](std::uint64_t to, std::uint64_t to_bytes, std::uint64_t from, std::uint64_t from_bytes) {
        begin();
        core->does(V, 1,
                   {of_ub(CANOPY_CHECK_WRITE, to, to_bytes, to_bytes),
                    of_ub(CANOPY_CHECK_READ, from, from_bytes, from_bytes)});
        return end();
    };
    EXPECT_EQ(found(0, 1024, 0, 1024), Found{});
    EXPECT_EQ(found(0, 1024, 1024, 1024), Found{});
    EXPECT_EQ(found(0, 512, 0, 1024), Found{});     // a narrowing conversion in place
    EXPECT_EQ(found(0, 1024, 256, 1024), Found{});  // each repeat writes behind what is still read
    EXPECT_EQ(found(256, 1024, 0, 1024), Found{"memory.overlap 1 1"});
    EXPECT_EQ(found(32, 1024, 0, 1024), Found{"memory.overlap 1 1"});
    EXPECT_EQ(found(0, 1024, 32, 1024), Found{"memory.overlap 1 1"});
    EXPECT_EQ(found(0, 1024, 0, 512), Found{"memory.overlap 1 1"});  // a widening conversion in place
}

TEST_F(MemoryTest, SumsInOneRepeatAreRight) {
    begin();
    CanopyCheckAccess to = of_ub(CANOPY_CHECK_WRITE, 0, 256, 256), from = of_ub(CANOPY_CHECK_READ, 0, 256, 256);
    to.repeats = from.repeats = 8;
    core->does(V, 1, {to, from});
    EXPECT_EQ(end(), Found{});
}

}  // namespace
}  // namespace canopy::check
