// SPDX-License-Identifier: Apache-2.0
// Random fused kernels of up to 64 steps compared bit for bit with the same steps run one after the other, on several
// streams and in graphs at the same time, and with one required edge missing. CANOPY_SEEDS sets the number of seeds,
// CANOPY_SEED the first one.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <deque>
#include <random>
#include <set>
#include <vector>

#include "soft/fused_plan.h"

namespace canopy {
namespace {

using test::TestKernel;
using test::TestPlan;
using test::TestQueue;
using test::this_block;
using test::word_of;

std::uint64_t from_environment(const char* name, std::uint64_t otherwise) {
    const char* text = std::getenv(name);
    return text ? std::strtoull(text, nullptr, 10) : otherwise;
}

std::uint64_t mix(std::uint64_t a, std::uint64_t b) {
    a ^= b + 0x9e3779b97f4a7c15u + (a << 6) + (a >> 2);
    return a * 0xff51afd7ed558ccdu ^ (a >> 33);
}

// One step: what it reads and writes. A step has one cell per block, which keeps its value from run to run.
struct StepData {
    std::uint64_t seed = 0;
    std::uint32_t blocks = 1;
    bool meets = false;
    bool racy = false;                      // the test provokes a race, so all accesses are atomic
    std::vector<const StepData*> of_block;  // read at the block's own index
    std::vector<const StepData*> of_all;    // read completely
    const StepData* awaited = nullptr;      // writes nothing until a block of this step has finished reading
    mutable std::vector<std::uint64_t> cells, halves;
    mutable std::atomic<std::uint32_t> have_read{0};  // number of blocks

    [[nodiscard]] std::uint64_t read(std::uint32_t block) const {
        return racy ? std::atomic_ref(cells[block]).load(std::memory_order_relaxed) : cells[block];
    }
    [[nodiscard]] std::uint64_t first_half(std::uint32_t block) const {
        std::uint64_t value = mix(seed, block * 64 + blocks);
        for (const StepData* other : of_block)
            if (block < other->blocks) value = mix(value, other->read(block));
        for (const StepData* other : of_all)
            for (std::uint32_t i = 0; i < other->blocks; ++i) value = mix(value, other->read(i));
        return value;
    }
    void second_half(std::uint32_t block, std::uint64_t value) const {
        if (meets)
            for (const std::uint64_t half : halves) value = mix(value, half);
        value = mix(value, read(block));
        if (racy)
            std::atomic_ref(cells[block]).store(value, std::memory_order_relaxed);
        else
            cells[block] = value;
    }
};

void run_block(const void* arguments) {
    const StepData& data = **static_cast<const StepData* const*>(arguments);
    const std::uint32_t block = this_block().index;
    if (this_block().count != data.blocks) kernel_services().trap();
    const std::uint64_t value = data.first_half(block);
    data.have_read.fetch_add(1);
    if (data.meets) {
        data.halves[block] = value;
        kernel_services().sync_all();
    }
    while (data.awaited && data.awaited->have_read.load() == 0) kernel_services().yield();
    data.second_half(block, value);
}

void run_in_order(const std::deque<StepData>& steps) {
    for (const StepData& step : steps) {
        std::vector<std::uint64_t> values(step.blocks);
        for (std::uint32_t block = 0; block < step.blocks; ++block) values[block] = step.first_half(block);
        if (step.meets) step.halves = values;
        for (std::uint32_t block = 0; block < step.blocks; ++block) step.second_half(block, values[block]);
    }
}

const TestKernel kernel_of_all("run_block", &run_block);

// Steps, the parts they belong to, and what the parts wait for.
struct RandomPlan {
    std::deque<StepData> steps;
    struct Part {
        std::uint32_t first, count;
        std::set<std::uint32_t> after;
    };
    std::vector<Part> parts;

    explicit RandomPlan(std::uint64_t seed) {
        std::mt19937_64 random(seed);
        const std::uint32_t count = 1 + random() % 64;
        const bool small = random() % 4 == 0;  // small enough for one thread to run alone
        while (steps.size() < count) {
            Part part{static_cast<std::uint32_t>(steps.size()), 1, {}};
            if (random() % 3 == 0) part.count = 1 + random() % 5;
            for (std::uint32_t i = 0; i < part.count; ++i) add_step(random, part, small);
            parts.push_back(std::move(part));
        }
    }

    void add_step(std::mt19937_64& random, Part& part, bool small) {
        StepData& step = steps.emplace_back();
        step.seed = random();
        step.blocks = small ? 1 : 1 + random() % 40;
        step.meets = part.count == 1 && random() % 4 == 0;
        step.cells.resize(step.blocks, step.seed);
        step.halves.resize(step.blocks);
        for (std::uint32_t other = part.first; other + 1 < steps.size(); ++other)
            if (random() % 2 == 0) step.of_block.push_back(&steps[other]);
        for (std::uint32_t other = 0; other < parts.size(); ++other) {
            if (random() % (parts.size() + 1) >= 3) continue;
            part.after.insert(other);
            const std::uint32_t which = parts[other].first + random() % parts[other].count;
            (random() % 2 == 0 ? step.of_block : step.of_all).push_back(&steps[which]);
        }
    }

    void put_into(TestPlan& plan) {
        for (const Part& part : parts) {
            for (std::uint32_t i = part.first; i < part.first + part.count; ++i)
                plan.step(kernel_of_all, steps[i].blocks, {word_of(&steps[i])});
            plan.part({part.after.begin(), part.after.end()});
        }
    }
    [[nodiscard]] std::vector<std::vector<std::uint64_t>> cells() const {
        std::vector<std::vector<std::uint64_t>> all;
        for (const StepData& step : steps) all.push_back(step.cells);
        return all;
    }
    // Removes an edge that no other path replaces, and makes the producer wait for the consumer. Returns false if there
    // is no such edge, or if one thread runs everything in plan order.
    bool remove_an_edge() {
        if (std::all_of(steps.begin(), steps.end(), [](const StepData& step) { return step.blocks == 1; }))
            return false;
        for (std::uint32_t to = 0; to < parts.size(); ++to) {
            StepData& consumer = steps[parts[to].first];
            if (consumer.of_all.empty()) continue;
            const StepData* producer = consumer.of_all.front();
            const std::uint32_t from = part_of(producer);
            parts[to].after.erase(from);
            if (!waits(from, to)) {
                const_cast<StepData*>(producer)->awaited = &consumer;
                for (StepData& step : steps) step.racy = true;
                return true;
            }
            parts[to].after.insert(from);
        }
        return false;
    }
    [[nodiscard]] std::uint32_t part_of(const StepData* step) const {
        std::uint32_t part = 0;
        for (std::uint32_t i = 0; &steps[i] != step; ++i)
            if (i + 1 == parts[part].first + parts[part].count) ++part;
        return part;
    }
    // True if `to` still waits for `from`, directly or indirectly.
    [[nodiscard]] bool waits(std::uint32_t from, std::uint32_t to) const {
        std::vector<bool> awaited(to + 1);
        awaited[to] = true;
        for (std::uint32_t part = to; part > from; --part)
            for (const std::uint32_t before : parts[part].after)
                if (awaited[part]) awaited[before] = true;
        return awaited[from];
    }
};

// Counts what the parts of a plan wait for: all parts before them, some, or none; and the steps that only wait for the
// same block.
struct WaitClasses {
    std::uint32_t full = 0, some = 0, none = 0, block_local = 0;
    void count(const RandomPlan& plan) {
        for (std::uint32_t part = 1; part < plan.parts.size(); ++part) {
            const std::size_t after = plan.parts[part].after.size();
            ++(after == 0 ? none : after == part ? full : some);
        }
        for (const RandomPlan::Part& part : plan.parts)
            for (std::uint32_t step = part.first + 1; step < part.first + part.count; ++step)
                block_local += plan.steps[step].of_block.empty() ? 0 : 1;
    }
};

class FusedRandom : public test::FusedTest {
protected:
    const std::uint64_t first_ = from_environment("CANOPY_SEED", 1);
    const std::uint64_t seeds_ = from_environment("CANOPY_SEEDS", 40);
};

TEST_P(FusedRandom, KernelsGiveTheResultOfTheirStepsInOrder) {
    WaitClasses seen;
    for (std::uint64_t seed = first_; seed < first_ + seeds_; ++seed) {
        RandomPlan fused(seed), in_order(seed);
        seen.count(fused);
        TestPlan plan;
        fused.put_into(plan);
        const std::unique_ptr<FusedKernel> kernel = plan.fuse(*device_);
        ASSERT_TRUE(kernel);
        for (int round = 0; round < 4; ++round) {
            queue().finish(queue().submit(plan.launch(*kernel)));
            run_in_order(in_order.steps);
            ASSERT_EQ(fused.cells(), in_order.cells()) << "seed " << seed << ", round " << round;
        }
    }
    EXPECT_TRUE(queue().failures().empty());
    EXPECT_GT(std::min({seen.full, seen.some, seen.none, seen.block_local}), seeds_ < 40 ? 0u : 10u)
        << "every class of waits: " << seen.full << ", " << seen.some << ", " << seen.none << ", " << seen.block_local;
}

TEST_P(FusedRandom, SeveralStreamsAndGraphsAtTheSameTime) {
    for (std::uint64_t seed = first_; seed < first_ + seeds_ / 8 + 1; ++seed) {
        constexpr int streams = 4, rounds = 6;
        std::deque<RandomPlan> fused, in_order;
        std::deque<TestPlan> plans;
        std::vector<std::unique_ptr<FusedKernel>> kernels;
        std::vector<Executable*> graphs;
        std::deque<TestQueue> queues;
        std::vector<std::uint64_t> last;
        for (int stream = 0; stream < streams; ++stream) {
            std::vector<Command> commands;
            for (int which = 0; which < 2; ++which) {
                const std::uint64_t own = seed * 100 + stream * 2 + which;
                in_order.emplace_back(own);
                fused.emplace_back(own).put_into(plans.emplace_back());
                kernels.push_back(plans.back().fuse(*device_));
                commands.push_back(plans.back().launch(*kernels.back()));
            }
            const GraphLane lanes[] = {{std::span(commands).first(1)}, {std::span(commands).last(1)}};
            GraphPlan graph;
            graph.lanes = lanes;
            graphs.push_back(*device_->prepare(graph));
            queues.emplace_back(*device_, static_cast<std::uint32_t>(stream % 3));
        }
        for (int stream = 0; stream < streams; ++stream) {
            std::uint64_t end = 0;
            for (int round = 0; round < rounds; ++round) {
                Command replay(Opcode::replay);
                replay.replay = {graphs[stream], nullptr, 0, 0};
                end = queues[stream].submit(replay);
                for (int which = 0; which < 2; ++which)
                    end = queues[stream].submit(plans[stream * 2 + which].launch(*kernels[stream * 2 + which]));
            }
            last.push_back(end);
        }
        for (int stream = 0; stream < streams; ++stream) queues[stream].finish(last[stream]);
        for (std::size_t i = 0; i < fused.size(); ++i) {
            for (int round = 0; round < 2 * rounds; ++round) run_in_order(in_order[i].steps);
            ASSERT_EQ(fused[i].cells(), in_order[i].cells()) << "seed " << seed << ", kernel " << i;
        }
        for (TestQueue& queue : queues) EXPECT_TRUE(queue.failures().empty());
        for (Executable* graph : graphs) graph->release();
    }
}

// One part no longer waits for a part it reads from, and that part is delayed, so the result is certain to differ.
TEST_P(FusedRandom, AMissingEdgeChangesTheResult) {
    std::uint64_t tried = 0;
    for (std::uint64_t seed = first_; seed < first_ + seeds_; ++seed) {
        RandomPlan fused(seed), in_order(seed);
        if (!fused.remove_an_edge()) continue;
        ++tried;
        TestPlan plan;
        fused.put_into(plan);
        const std::unique_ptr<FusedKernel> kernel = plan.fuse(*device_);
        ASSERT_TRUE(kernel);
        queue().finish(queue().submit(plan.launch(*kernel)));
        run_in_order(in_order.steps);
        EXPECT_NE(fused.cells(), in_order.cells()) << "seed " << seed;
    }
    EXPECT_GT(tried, 0u);
    EXPECT_TRUE(queue().failures().empty());
}

INSTANTIATE_TEST_SUITE_P(Workers, FusedRandom, testing::Values(1, 2, 8));

}  // namespace
}  // namespace canopy
