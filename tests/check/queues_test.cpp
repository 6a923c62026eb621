// SPDX-License-Identifier: Apache-2.0
// Queues of TPipe: what they order, how many ids they take, and how they are misused.
#include <array>
#include <optional>

#include "made_up.h"

namespace canopy::check {
namespace {

constexpr std::uint8_t S = CANOPY_CHECK_S, V = CANOPY_CHECK_V, M = CANOPY_CHECK_M, MTE1 = CANOPY_CHECK_MTE1,
                       MTE2 = CANOPY_CHECK_MTE2, MTE3 = CANOPY_CHECK_MTE3, FIX = CANOPY_CHECK_FIX;
constexpr std::uint64_t buffer_bytes = 256;

// TPosition of the kernel language.
enum : std::uint8_t { GM, A1, A2, B1, B2, C1, C2, CO1, CO2, VECIN, VECOUT, VECCALC, SPM, TSCM, C2PIPE2GM };

// A queue, by the place of its first buffer.
struct Queue {
    std::uint64_t offset = 0;
    std::uint32_t buffers = 1;
    std::int32_t depth = 1;
    std::uint8_t source = VECIN, destination = VECIN;
    std::uint64_t base = ub_base;
    std::uint8_t memory = CANOPY_MEMORY_UB;
};

struct QueuesTest : testing::Test {
    void begin(std::uint32_t architecture = 2201, bool cube = false) {
        CheckOptions options = only(&Classes::sync);
        options.classes.race = true;
        launch.emplace(1, architecture, options);
        launch->facts.cube_cores = cube ? 1 : 0;
        core.emplace(launch->core(0, cube));
        // Addresses of queues are those of the first vector core, which others have in their upper half.
        upper = launch_upper(cube);
        tell(CANOPY_CHECK_PIPE_INIT, Queue{}, 0, 1);
    }
    static std::uint64_t launch_upper(bool cube) {
        return facts_of_core(0, cube).memory[cube ? CANOPY_MEMORY_L1 : CANOPY_MEMORY_UB].base >> 32 << 32;
    }
    [[nodiscard]] std::uint64_t address(const Queue& queue, std::uint32_t index = 0) const {
        return upper + queue.base + queue.offset + index * buffer_bytes;
    }
    void tell(std::uint32_t event, const Queue& queue, std::uint32_t index, std::uint32_t line) {
        tell_at(event, queue, address(queue, index), line);
    }
    void tell_at(std::uint32_t event, const Queue& queue, std::uint64_t place, std::uint32_t line) {
        CanopyCheckBuffer buffer{};
        buffer.site = at_line(line);
        buffer.event = event;
        buffer.buffers = queue.buffers;
        buffer.queue = &queue;
        buffer.address = reinterpret_cast<const void*>(place);
        buffer.bytes = buffer_bytes;
        buffer.depth = queue.depth;
        buffer.source = queue.source;
        buffer.destination = queue.destination;
        buffer.memory = queue.memory;
        buffer.bound = queue.source != queue.destination;
        (**core).buffer(buffer);
    }
    void init(const Queue& queue, std::uint32_t line = 2) { tell(CANOPY_CHECK_BUFFER_INIT, queue, 0, line); }
    void allocate(const Queue& queue, std::uint32_t line, std::uint32_t index = 0) {
        tell(CANOPY_CHECK_BUFFER_ALLOCATE, queue, index, line);
    }
    void enqueue(const Queue& queue, std::uint32_t line, std::uint32_t index = 0) {
        tell(CANOPY_CHECK_BUFFER_ENQUEUE, queue, index, line);
    }
    void dequeue(const Queue& queue, std::uint32_t line, std::uint32_t index = 0) {
        tell(CANOPY_CHECK_BUFFER_DEQUEUE, queue, index, line);
    }
    void free(const Queue& queue, std::uint32_t line, std::uint32_t index = 0) {
        tell(CANOPY_CHECK_BUFFER_FREE, queue, index, line);
    }
    void write(const Queue& queue, std::uint8_t pipe, std::uint32_t line) {
        core->does(pipe, line, {writes(queue.memory, address(queue), buffer_bytes)});
    }
    void read(const Queue& queue, std::uint8_t pipe, std::uint32_t line) {
        core->does(pipe, line, {reads(queue.memory, address(queue), buffer_bytes)});
    }
    Found end() {
        tell(CANOPY_CHECK_PIPE_DESTROY, Queue{}, 0, 99);
        launch->end(false);
        return with_lines(launch->sink.findings);
    }

    std::optional<MadeUpLaunch> launch;
    std::optional<MadeUpCore> core;
    std::uint64_t upper = 0;
};

TEST_F(QueuesTest, OrderWhatFillsABufferAndWhatReadsIt) {
    struct Case {
        std::uint8_t source, destination, fills, reads;
        std::uint64_t base = ub_base;
        std::uint8_t memory = CANOPY_MEMORY_UB;
        std::uint32_t architecture = 2201;
    };
    for (const Case& one :
         {Case{VECIN, VECIN, MTE2, V}, Case{GM, VECIN, MTE2, V}, Case{VECOUT, VECOUT, V, MTE3},
          Case{VECCALC, VECCALC, MTE2, MTE3}, Case{VECIN, VECOUT, MTE2, MTE3},
          Case{A1, A1, MTE2, MTE1, l1_base, CANOPY_MEMORY_L1},
          Case{VECOUT, TSCM, MTE3, MTE1, l1_base, CANOPY_MEMORY_L1}, Case{B2, B2, MTE1, M, l0b_base, CANOPY_MEMORY_L0B},
          Case{CO1, CO1, M, FIX, l0c_base, CANOPY_MEMORY_L0C},
          Case{CO1, CO1, M, V, l0c_base, CANOPY_MEMORY_L0C, 2002}}) {
        begin(one.architecture, one.memory != CANOPY_MEMORY_UB);
        const Queue queue{.source = one.source, .destination = one.destination, .base = one.base, .memory = one.memory};
        init(queue);
        for (int round = 0; round < 2; ++round) {
            allocate(queue, 3);
            write(queue, one.fills, 4);
            enqueue(queue, 5);
            dequeue(queue, 6);
            read(queue, one.reads, 7);
            free(queue, 8);
        }
        EXPECT_EQ(end(), Found{}) << int{one.source} << " to " << int{one.destination};
    }
}

TEST_F(QueuesTest, OrderNoOtherPipes) {
    begin();
    const Queue queue;
    init(queue);
    allocate(queue, 3);
    write(queue, MTE2, 4);
    enqueue(queue, 5);
    dequeue(queue, 6);
    read(queue, S, 7);
    free(queue, 8);
    EXPECT_EQ(end(), Found{"race.pipe 4 7"});
}

TEST_F(QueuesTest, WithoutDepthTheFreeFlagIsSetFromTheStart) {
    begin();
    const Queue queue{.depth = 0};
    init(queue);
    for (int round = 0; round < 3; ++round) {
        allocate(queue, 3);
        write(queue, MTE2, 4);
        enqueue(queue, 5);
        dequeue(queue, 6);
        read(queue, V, 7);
        free(queue, 8);
    }
    EXPECT_EQ(end(), Found{});
}

TEST_F(QueuesTest, EnQueHasRoomForItsDepth) {
    begin();
    const Queue queue{.buffers = 2};
    init(queue);
    allocate(queue, 3, 0);
    allocate(queue, 4, 1);
    enqueue(queue, 5, 0);
    enqueue(queue, 6, 1);
    dequeue(queue, 7, 0);
    dequeue(queue, 8, 1);
    free(queue, 9, 0);
    free(queue, 10, 1);
    EXPECT_EQ(end(), Found{"sync.queue 5 6"});
}

TEST_F(QueuesTest, AnEmptyQueueHasNothingToTake) {
    begin();
    const Queue queue;
    init(queue);
    allocate(queue, 3);
    dequeue(queue, 4);
    free(queue, 5);
    EXPECT_EQ(end(), Found{"sync.queue 4"});
}

TEST_F(QueuesTest, TensorsAreFreedOnceAndToTheirQueue) {
    begin();
    const Queue queue, other{.offset = 1024};
    init(queue);
    init(other);
    allocate(queue, 3);
    free(queue, 4);
    free(queue, 5);
    allocate(queue, 6);
    tell_at(CANOPY_CHECK_BUFFER_FREE, other, address(queue), 7);
    free(queue, 8);
    EXPECT_EQ(end(), (Found{"sync.queue 4 5", "sync.queue 6 7"}));
}

TEST_F(QueuesTest, QueuesWithoutBuffersAreOfNoUse) {
    begin();
    const Queue queue;
    allocate(queue, 3);
    enqueue(queue, 4);
    dequeue(queue, 5);
    free(queue, 6);
    EXPECT_EQ(end(), (Found{"sync.queue 3", "sync.queue 4", "sync.queue 5", "sync.queue 6"}));
}

TEST_F(QueuesTest, WhatIsLeftIsTold) {
    begin();
    const Queue queued, taken{.offset = 1024};
    init(queued);
    init(taken);
    allocate(queued, 3);
    enqueue(queued, 4);
    allocate(taken, 5);
    EXPECT_EQ(end(), (Found{"sync.leak 4", "sync.leak 5"}));
    for (const Finding& finding : launch->sink.findings)
        EXPECT_EQ(finding.level, finding.places[0].line == 4 ? Level::error : Level::warning);
}

TEST_F(QueuesTest, FreeBuffersKeepTheirIds) {
    begin();
    std::array<Queue, 9> queues;
    for (std::uint32_t i = 0; i < queues.size(); ++i) {
        queues[i].offset = i * 1024;
        init(queues[i]);
        allocate(queues[i], 3);
        enqueue(queues[i], 4);
        dequeue(queues[i], 5);
        free(queues[i], 6);
    }
    EXPECT_EQ(end(), Found{"sync.ids 6"});
}

TEST_F(QueuesTest, FreeAllEventGivesIdsBack) {
    begin();
    std::array<Queue, 9> queues;
    for (std::uint32_t i = 0; i < queues.size(); ++i) {
        queues[i].offset = i * 1024;
        init(queues[i]);
        allocate(queues[i], 3);
        enqueue(queues[i], 4);
        dequeue(queues[i], 5);
        free(queues[i], 6);
        if (i == 0) tell(CANOPY_CHECK_BUFFER_FREE_EVENTS, queues[i], 0, 7);
    }
    EXPECT_EQ(end(), Found{});
}

TEST_F(QueuesTest, On950VectorCoresHaveEnoughIds) {
    begin(3510);
    std::array<Queue, 12> queues;
    for (std::uint32_t i = 0; i < queues.size(); ++i) {
        queues[i].offset = i * 1024;
        init(queues[i]);
        allocate(queues[i], 3);
        free(queues[i], 6);
    }
    EXPECT_EQ(end(), Found{});
}

TEST_F(QueuesTest, APipeHas64Buffers) {
    begin();
    const Queue queue{.buffers = 64}, more{.offset = 0x8000};
    init(queue, 2);
    EXPECT_EQ(launch->sink.findings.size(), 0U);
    init(more, 3);
    EXPECT_EQ(end(), Found{"sync.queue 3"});
}

TEST_F(QueuesTest, AnIdThatAQueueHoldsIsNotTheProgramsToUse) {
    begin();
    const Queue queue;
    init(queue);
    allocate(queue, 3);
    enqueue(queue, 4);
    core->sets(MTE2, V, 0, 5);
    core->waits(MTE2, V, 0, 6);
    (**core).event_id(CANOPY_CHECK_ID_ALLOCATE, MTE2, V, 0, at_line(7));
    core->sets(MTE2, V, 0, 8);
    core->waits(MTE2, V, 0, 9);
    (**core).event_id(CANOPY_CHECK_ID_RELEASE, MTE2, V, 0, at_line(10));
    dequeue(queue, 11);
    free(queue, 12);
    EXPECT_EQ(end(), Found{"sync.reserved-id 5"});
}

}  // namespace
}  // namespace canopy::check
