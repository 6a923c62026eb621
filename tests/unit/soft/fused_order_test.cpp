// SPDX-License-Identifier: Apache-2.0
// Fused kernels: which steps wait for which, what blocks know about themselves, barriers inside steps.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <vector>

#include "soft/fused_plan.h"

namespace canopy {
namespace {

using test::TestKernel;
using test::TestPlan;
using test::this_block;
using test::word_of;

class FusedOrder : public test::FusedTest {};

struct Cells {
    std::uint64_t* out;
    const std::uint64_t* in;
    std::uint64_t count;  // of input cells
};

std::uint64_t mix(std::uint64_t a, std::uint64_t b) { return (a ^ (b + 0x9e3779b97f4a7c15u + (a << 6))) * 31; }

// Computes each output cell from all input cells.
void gather(const void* arguments) {
    const Cells cells = *static_cast<const Cells*>(arguments);
    std::uint64_t sum = 1 + this_block().index;
    for (std::uint64_t i = 0; i < cells.count; ++i) sum = mix(sum, cells.in[i]);
    cells.out[this_block().index] = sum;
}

// Computes the block's output cell from its input cell.
void follow(const void* arguments) {
    const Cells cells = *static_cast<const Cells*>(arguments);
    const std::uint32_t index = this_block().index;
    cells.out[index] = mix(cells.in[index], this_block().count);
}

const TestKernel gathering("gather", &gather);
const TestKernel following("follow", &follow);

std::vector<std::uint64_t> gathered(const std::vector<std::uint64_t>& in, std::uint64_t blocks) {
    std::vector<std::uint64_t> out;
    for (std::uint64_t block = 0; block < blocks; ++block) {
        std::uint64_t sum = 1 + block;
        for (const std::uint64_t cell : in) sum = mix(sum, cell);
        out.push_back(sum);
    }
    return out;
}

TEST_P(FusedOrder, PartsWaitForAllBlocksOfThoseBefore) {
    for (const std::uint32_t blocks : {1u, 3u, 40u, 500u}) {
        std::vector<std::vector<std::uint64_t>> cells(9, std::vector<std::uint64_t>(blocks));
        TestPlan plan;
        std::uint32_t before = 0, seed = blocks;
        for (std::size_t step = 0; step + 1 < cells.size(); ++step) {
            plan.step(gathering, blocks, {word_of(cells[step + 1].data()), word_of(cells[step].data()), blocks});
            before = step == 0 ? plan.part() : plan.part({before});
        }
        for (int round = 0; round < 20; ++round) {
            std::generate(cells[0].begin(), cells[0].end(), [&] { return seed = seed * 1664525 + 1013904223; });
            run(plan);
            std::vector<std::uint64_t> expected = cells[0];
            for (std::size_t step = 1; step < cells.size(); ++step) expected = gathered(expected, blocks);
            ASSERT_EQ(cells.back(), expected) << blocks << " blocks, round " << round;
        }
    }
    EXPECT_TRUE(queue().failures().empty());
}

TEST_P(FusedOrder, AJoinWaitsForEveryBranch) {
    std::uint64_t source = 7;
    std::vector<std::uint64_t> branches(16), joined(5);
    TestPlan plan;
    plan.step(gathering, 1, {word_of(&source), word_of(&source), 1});
    const std::uint32_t root = plan.part();
    std::vector<std::uint32_t> ends;
    for (std::uint64_t& cell : branches) {
        plan.step(gathering, 1, {word_of(&cell), word_of(&source), 1});
        ends.push_back(plan.part({root}));
    }
    plan.step(gathering, 5, {word_of(joined.data()), word_of(branches.data()), 16});
    plan.part(ends);
    for (int round = 0; round < 50; ++round) {
        const std::vector<std::uint64_t> first = gathered({source}, 1);
        std::fill(branches.begin(), branches.end(), 0);
        run(plan);
        ASSERT_EQ(source, first[0]);
        ASSERT_EQ(joined, gathered(std::vector<std::uint64_t>(16, gathered(first, 1)[0]), 5));
    }
}

TEST_P(FusedOrder, AChainRunsBlockByBlock) {
    constexpr std::uint32_t blocks = 64;
    std::vector<std::vector<std::uint64_t>> cells(6, std::vector<std::uint64_t>(blocks, 3));
    TestPlan plan;
    for (std::size_t step = 0; step + 1 < cells.size(); ++step)
        plan.step(following, blocks - static_cast<std::uint32_t>(step),
                  {word_of(cells[step + 1].data()), word_of(cells[step].data()), 0});
    plan.part();
    const std::unique_ptr<FusedKernel> kernel = plan.fuse(*device_);
    // Runs shared at first, then on one thread once it has proved to be short.
    for (int round = 0; round < 20; ++round) {
        for (std::size_t step = 1; step < cells.size(); ++step) std::fill(cells[step].begin(), cells[step].end(), 3);
        queue().finish(queue().submit(plan.launch(*kernel)));
        for (std::uint32_t block = 0; block < blocks; ++block) {
            std::uint64_t expected = 3;
            for (std::uint32_t step = 0; step + 1 < cells.size(); ++step) {
                expected = block < blocks - step ? mix(expected, blocks - step) : 3;
                ASSERT_EQ(cells[step + 1][block], expected) << "block " << block << " after step " << step;
            }
        }
    }
}

struct Trail {
    std::uint64_t* order;  // indexed by block and step
    std::uint64_t step;
    std::uint64_t steps;
};

// Writes the thread's number (upper half) and how many calls it has run before (lower half).
void leave_trail(const void* arguments) {
    static std::atomic<std::uint64_t> threads{0};
    thread_local std::uint64_t next = ++threads << 32;
    const Trail trail = *static_cast<const Trail*>(arguments);
    trail.order[this_block().index * trail.steps + trail.step] = next++;
}

const TestKernel trailing("leave_trail", &leave_trail);

TEST_P(FusedOrder, AThreadRunsAllStepsOfAChainForABlockBeforeTheNext) {
    constexpr std::uint64_t blocks = 100, steps = 4;
    std::vector<std::uint64_t> order(blocks * steps);
    TestPlan plan;
    for (std::uint64_t step = 0; step < steps; ++step)
        plan.step(trailing, blocks, {word_of(order.data()), step, steps});
    plan.part();
    const std::unique_ptr<FusedKernel> kernel = plan.fuse(*device_);
    for (int round = 0; round < 10; ++round) {
        queue().finish(queue().submit(plan.launch(*kernel)));
        for (std::uint64_t block = 0; block < blocks; ++block)
            for (std::uint64_t step = 1; step < steps; ++step)
                ASSERT_EQ(order[block * steps + step], order[block * steps] + step) << "block " << block;
    }
}

struct Identity {
    std::uint64_t* seen;  // per core: index, count, sub index, core type, dynamic size
};

void tell_identity(const void* arguments) {
    const CanopyBlock& block = this_block();
    const std::uint32_t cores = block.vector_count + 1;
    const std::uint32_t core = block.core_type == CANOPY_CORE_CUBE ? 0 : 1 + block.sub_index;
    std::uint64_t* seen = static_cast<const Identity*>(arguments)->seen + (block.index * cores + core) * 5;
    seen[0] = block.index;
    seen[1] = block.count;
    seen[2] = block.sub_index;
    seen[3] = block.core_type;
    seen[4] = block.dynamic_size;
}

const TestKernel telling("tell_identity", &tell_identity, {1, 2});

TEST_P(FusedOrder, MixedKernelsRunOnAllTheirCores) {
    constexpr std::uint32_t groups = 4;
    std::vector<std::uint64_t> seen(groups * 3 * 5);
    std::uint64_t before = 1;
    TestPlan plan;
    plan.step(gathering, 1, {word_of(&before), word_of(&before), 1});
    const std::uint32_t first = plan.part();
    plan.step(telling, groups, {word_of(seen.data())}).dynamic_size = 96;
    plan.part({first});
    run(plan);
    for (std::uint32_t group = 0; group < groups; ++group) {
        for (std::uint32_t core = 0; core < 3; ++core) {
            const std::uint64_t* one = &seen[(group * 3 + core) * 5];
            EXPECT_EQ(one[0], group);
            EXPECT_EQ(one[1], groups);
            EXPECT_EQ(one[2], core == 0 ? 0 : core - 1);
            EXPECT_EQ(one[3], core == 0 ? CANOPY_CORE_CUBE : CANOPY_CORE_VECTOR);
            EXPECT_EQ(one[4], 96u);
        }
    }
}

struct Meeting {
    std::uint64_t* own;
    std::uint64_t* sums;
    std::uint64_t rounds;
};

// All blocks of the step synchronise repeatedly; each must see what all the others wrote.
void meet(const void* arguments) {
    const Meeting meeting = *static_cast<const Meeting*>(arguments);
    const std::uint32_t index = this_block().index, count = this_block().count;
    for (std::uint64_t round = 1; round <= meeting.rounds; ++round) {
        meeting.own[index] = round * 100 + index;
        kernel_services().sync_all();
        std::uint64_t sum = 0;
        for (std::uint32_t i = 0; i < count; ++i) sum += meeting.own[i];
        meeting.sums[index] = sum;
        kernel_services().sync_all();
    }
}

const TestKernel meeting_kernel("meet", &meet);

TEST_P(FusedOrder, BlocksOfAStepMeetAmongThemselves) {
    constexpr std::uint64_t rounds = 20;
    TestPlan plan;
    std::vector<std::vector<std::uint64_t>> own, sums;
    std::vector<std::uint32_t> blocks = {1, 2, 7, 24, 5};
    for (const std::uint32_t count : blocks) {
        own.emplace_back(count);
        sums.emplace_back(count);
    }
    // Steps of different sizes run side by side, then one after them.
    std::vector<std::uint32_t> parts;
    for (std::size_t i = 0; i < blocks.size(); ++i) {
        plan.step(meeting_kernel, blocks[i], {word_of(own[i].data()), word_of(sums[i].data()), rounds});
        parts.push_back(i + 1 < blocks.size() ? plan.part() : plan.part(parts));
    }
    for (int round = 0; round < 10; ++round) {
        run(plan);
        for (std::size_t i = 0; i < blocks.size(); ++i) {
            const std::uint64_t n = blocks[i], expected = n * rounds * 100 + n * (n - 1) / 2;
            ASSERT_EQ(sums[i], std::vector<std::uint64_t>(n, expected)) << "step " << i;
        }
    }
    EXPECT_TRUE(queue().failures().empty());
}

struct Handing {
    std::uint64_t* data;  // indexed by group
    std::uint64_t* got;
};

// The cube core passes its group's number to both vector cores.
void hand_over(const void* arguments) {
    const Handing handing = *static_cast<const Handing*>(arguments);
    const CanopyBlock& block = this_block();
    if (block.core_type == CANOPY_CORE_CUBE) {
        handing.data[block.index] = 1000 + block.index;
        kernel_services().set_flag(2, 3);
    } else {
        const std::uint32_t index = block.index, sub = block.sub_index;
        kernel_services().wait_flag(2, 3);
        handing.got[index * 2 + sub] = handing.data[index];
    }
}

const TestKernel handing_kernel("hand_over", &hand_over, {1, 2});

TEST_P(FusedOrder, FlagsBelongToTheirStep) {
    constexpr std::uint32_t groups = 6;
    std::vector<std::uint64_t> data[2], got[2];
    TestPlan plan;
    for (int step = 0; step < 2; ++step) {  // side by side, using the same flags
        data[step].resize(groups);
        got[step].resize(groups * 2);
        plan.step(handing_kernel, groups, {word_of(data[step].data()), word_of(got[step].data())});
        plan.part();
    }
    for (int round = 0; round < 20; ++round) {
        for (auto& values : got) std::fill(values.begin(), values.end(), 0);
        run(plan);
        for (const auto& values : got)
            for (std::uint32_t i = 0; i < values.size(); ++i) ASSERT_EQ(values[i], 1000 + i / 2);
    }
    EXPECT_TRUE(queue().failures().empty());
}

struct Spinning {
    std::uint64_t* word;
    std::uint64_t* spins;  // blocks spin only if it is not 0
};

// Spins as kernels written for a chip do, without telling the runtime that the block waits.
void spin_for_the_next(const void* arguments) {
    const Spinning spinning = *static_cast<const Spinning*>(arguments);
    if (*spinning.spins == 0) return;
    if (this_block().index == 0)
        while (std::atomic_ref(*spinning.word).load() == 0) {
        }
    else
        std::atomic_ref(*spinning.word).store(1);
}

const TestKernel spinning_kernel("spin_for_the_next", &spin_for_the_next);

TEST_P(FusedOrder, BlocksThatSpinForOthersGetThreadsThoughTheKernelWasShortBefore) {
    std::uint64_t word = 0, spins = 0;
    TestPlan plan;
    plan.step(spinning_kernel, 2, {word_of(&word), word_of(&spins)});
    plan.part();
    plan.step(spinning_kernel, 2, {word_of(&word), word_of(&spins)});
    plan.part({0});
    const std::unique_ptr<FusedKernel> kernel = plan.fuse(*device_);
    for (int round = 0; round < 40; ++round) {
        spins = round % 20 >= 17 ? 1 : 0;
        word = 0;
        queue().finish(queue().submit(plan.launch(*kernel)));
        ASSERT_EQ(word, spins);
    }
    EXPECT_TRUE(queue().failures().empty());
}

// ---- detecting a missing edge ---------------------------------------------------------------------------------------

struct Late {
    std::uint64_t* data;
    std::uint64_t* consumed;  // number of consumer blocks that have run
    std::uint64_t patience;   // how many rounds it waits for them
};

// Writes only after the consumer has run, if the consumer is able to run first.
void produce_late(const void* arguments) {
    const Late late = *static_cast<const Late*>(arguments);
    for (std::uint64_t round = 0; round < late.patience; ++round) {
        if (std::atomic_ref(*late.consumed).load() != 0) break;
        kernel_services().yield();
    }
    std::atomic_ref(*late.data).store(42);
}

void consume(const void* arguments) {
    const Late late = *static_cast<const Late*>(arguments);
    std::atomic_ref(late.data[1 + this_block().index]).store(std::atomic_ref(*late.data).load());
    std::atomic_ref(*late.consumed).fetch_add(1);
}

const TestKernel late_producer("produce_late", &produce_late);
const TestKernel consumer("consume", &consume);

void produce_and_consume(TestPlan& plan, std::uint64_t* data, std::uint64_t* consumed, bool edge) {
    // Without the edge the producer waits as long as necessary, so the consumer is sure to run before it ends.
    const std::uint64_t patience = edge ? 1000 : UINT64_MAX;
    plan.step(late_producer, 1, {word_of(data), word_of(consumed), patience});
    const std::uint32_t first = plan.part();
    plan.step(consumer, 3, {word_of(data), word_of(consumed), 0});
    edge ? plan.part({first}) : plan.part();
}

TEST_P(FusedOrder, AnEdgeKeepsTheConsumerBack) {
    std::uint64_t data[4] = {}, consumed = 0;
    TestPlan plan;
    produce_and_consume(plan, data, &consumed, true);
    run(plan);
    for (int block = 0; block < 3; ++block) EXPECT_EQ(data[1 + block], 42u);
}

TEST_P(FusedOrder, WithoutItsEdgeTheConsumerSurelyRunsTooEarly) {
    std::uint64_t data[4] = {1, 1, 1, 1}, consumed = 0;
    TestPlan plan;
    produce_and_consume(plan, data, &consumed, false);
    run(plan);
    EXPECT_EQ(data[0], 42u);
    EXPECT_NE((std::vector<std::uint64_t>{data[1], data[2], data[3]}), (std::vector<std::uint64_t>(3, 42)));
}

INSTANTIATE_TEST_SUITE_P(Workers, FusedOrder, testing::Values(1, 2, 8));

}  // namespace
}  // namespace canopy
