// SPDX-License-Identifier: Apache-2.0
// Fused kernels: words in memory, choices made at run time, calls, compiled loops, and kernels that replace others.
#include <gtest/gtest.h>

#include <atomic>
#include <cstring>
#include <fstream>
#include <iterator>
#include <thread>
#include <vector>

#include "device/opaque_pointer.h"
#include "soft/fused_plan.h"
#include "until.h"

namespace canopy {
namespace {

using test::TestKernel;
using test::TestPlan;
using test::TestQueue;
using test::this_block;
using test::word_of;

class FusedWords : public test::FusedTest {};

void add_block(const void* arguments) { std::atomic_ref(**static_cast<std::uint64_t* const*>(arguments)).fetch_add(1); }
void add_thousand(const void* arguments) {
    std::atomic_ref(**static_cast<std::uint64_t* const*>(arguments)).fetch_add(1000);
}
// Adds the number of blocks that each block sees.
struct Sizes {
    std::uint64_t* sum;
};
void add_count(const void* arguments) {
    kernel_services().sync_all();
    std::atomic_ref(*static_cast<const Sizes*>(arguments)->sum).fetch_add(this_block().count);
}

const TestKernel adding("add_block", &add_block);
const TestKernel adding_thousand("add_thousand", &add_thousand);
const TestKernel adding_count("add_count", &add_count);
const TestKernel adding_mixed("add_mixed", &add_block, {1, 2});

constexpr std::uint64_t nowhere = 64;

TEST_P(FusedWords, AStepWaitsForAWordFromOutside) {
    std::uint64_t gate = 0, answer = 0, before = 0, behind = 0;
    TestPlan plan;
    plan.word(FusedAction::wait_word, &gate, 7);
    const std::uint32_t wait = plan.part();
    plan.step(adding, 8, {word_of(&before)});  // does not wait
    const std::uint32_t beside = plan.part();
    plan.step(adding, 8, {word_of(&behind)});
    const std::uint32_t work = plan.part({wait, beside});
    plan.word(FusedAction::write_word, &answer, 9);
    plan.part({work});
    const std::unique_ptr<FusedKernel> kernel = plan.fuse(*device_);
    for (int round = 1; round <= 10; ++round) {
        std::atomic_ref(gate).store(0);
        const std::uint64_t last = queue().submit(plan.launch(*kernel));
        ASSERT_TRUE(eventually([&] { return std::atomic_ref(before).load() == 8u * round; }));
        EXPECT_EQ(queue()->wait(last, Deadline::after(millisecond)), WaitOutcome::timed_out);
        EXPECT_EQ(std::atomic_ref(behind).load(), 8u * (round - 1));
        std::atomic_ref(gate).store(7);
        queue().finish(last);
        EXPECT_EQ(behind, 8u * round);
        EXPECT_EQ(std::exchange(answer, 0), 9u);
    }
    EXPECT_TRUE(queue().failures().empty());
}

// The word comes from another stream of the same device, which needs its own thread to write it.
TEST_P(FusedWords, TheWordMayComeFromAnotherStream) {
    std::uint64_t gate = 0, back = 0, count = 0;
    TestPlan waiting, writing;
    waiting.word(FusedAction::wait_word, &gate, 1);
    waiting.part();
    waiting.step(adding, 3, {word_of(&count)});
    waiting.part({0});
    waiting.word(FusedAction::write_word, &back, 1);
    waiting.part({1});
    writing.word(FusedAction::write_word, &gate, 1);
    writing.part();
    writing.word(FusedAction::wait_word, &back, 1);
    writing.part({0});
    const std::unique_ptr<FusedKernel> one = waiting.fuse(*device_), other = writing.fuse(*device_);
    TestQueue second(*device_);
    const std::uint64_t first_end = queue().submit(waiting.launch(*one));
    const std::uint64_t second_end = second.submit(writing.launch(*other));
    queue().finish(first_end);
    second.finish(second_end);
    EXPECT_EQ(count, 3u);
}

TEST_P(FusedWords, AWaitForAWordEndsByItsLimitOrAnAbort) {
    std::uint64_t gate = 0;
    TestPlan plan;
    plan.step(adding, 2, {word_of(&gate)});
    plan.part();
    plan.word(FusedAction::wait_word, &gate, 77).timeout = 10 * millisecond;
    plan.part({0});
    run(plan);
    EXPECT_EQ(queue().failures(), std::vector<FaultKind>{FaultKind::timeout});
    EXPECT_EQ(queue().last_failure().step, 101);

    plan.plan().steps[1].timeout = UINT64_MAX;
    const std::unique_ptr<FusedKernel> kernel = plan.fuse(*device_);
    TestQueue aborted(*device_);
    const std::uint64_t last = aborted.submit(plan.launch(*kernel));
    ASSERT_TRUE(eventually([&] { return std::atomic_ref(gate).load() == 4; }));
    aborted->abort();
    EXPECT_EQ(aborted->completed(), last);
}

TEST_P(FusedWords, AWordNobodyHasFailsItsStep) {
    for (const FusedAction action : {FusedAction::wait_word, FusedAction::write_word}) {
        std::uint64_t count = 0;
        TestPlan plan;
        plan.step(adding, 1, {word_of(&count)});
        plan.part();
        plan.word(action, reinterpret_cast<void*>(nowhere), 1);
        plan.part({0});
        plan.step(adding, 1, {word_of(&count)});
        plan.part({1});
        queue_ = std::make_unique<TestQueue>(*device_);
        run(plan);
        EXPECT_EQ(queue().failures().size(), 1u);
        EXPECT_EQ(queue().last_failure().step, 101);
        EXPECT_EQ(queue().last_failure().address, nowhere);
        EXPECT_EQ(count, 1u);
    }
}

TEST_P(FusedWords, BlocksComeFromMemoryWhenTheStepRuns) {
    std::uint64_t blocks = 0, sum = 0, counted = 0, set = 0;
    TestPlan plan;
    const std::uint32_t slot = plan.slot(word_of(&blocks));
    // A step before it writes the word.
    plan.word(FusedAction::write_word, &set, 1);
    plan.part();
    plan.step(adding, 10, {word_of(&sum)}).blocks_slot = slot;
    plan.part({0});
    plan.step(adding_count, 10, {word_of(&counted)}).blocks_slot = slot;
    plan.part({1});
    plan.step(adding, 1, {word_of(&set)});
    plan.part({2});
    for (const std::uint64_t asked : {0u, 1u, 4u, 10u, 11u, 5000u}) {
        const std::uint64_t expected = std::min<std::uint64_t>(asked, 10);
        blocks = asked;
        sum = counted = 0;
        run(plan);
        EXPECT_EQ(sum, expected);
        EXPECT_EQ(counted, expected * expected) << "blocks met as many as there were";
        EXPECT_EQ(set, 2u) << "what follows runs, however many there were";
    }
    EXPECT_TRUE(queue().failures().empty());
}

TEST_P(FusedWords, TheKernelIsChosenByAKeyInMemory) {
    for (const std::uint32_t blocks : {1u, 12u}) {
        std::uint64_t key = 0, sum = 0;
        TestPlan plan;
        const std::uint32_t slot = plan.slot(word_of(&key));
        FusedStep& step = plan.step(adding, blocks, {word_of(&sum)});
        step.key_slot = slot;
        step.choices = {{3, &adding}, {5, &adding_thousand}};
        plan.part();
        queue_ = std::make_unique<TestQueue>(*device_);
        key = 3;
        run(plan);
        EXPECT_EQ(std::exchange(sum, 0), blocks);
        key = 5;
        run(plan);
        EXPECT_EQ(std::exchange(sum, 0), blocks * 1000);
        EXPECT_TRUE(queue().failures().empty());
        key = 4;
        run(plan);
        EXPECT_EQ(queue().failures().size(), 1u);
        EXPECT_EQ(queue().last_failure().what, "there is no kernel for the key 4");
        EXPECT_EQ(queue().last_failure().step, 100);
        EXPECT_EQ(sum, 0u);
    }
}

TEST_P(FusedWords, ChoicesMayNeedDifferentCores) {
    std::uint64_t key = 1, sum = 0;
    TestPlan plan;
    const std::uint32_t slot = plan.slot(word_of(&key));
    FusedStep& step = plan.step(adding, 4, {word_of(&sum)});
    step.key_slot = slot;
    step.choices = {{1, &adding}, {2, &adding_mixed}};
    plan.part();
    run(plan);
    EXPECT_EQ(std::exchange(sum, 0), 4u);
    key = 2;
    run(plan);
    EXPECT_EQ(sum, 12u);
}

TEST_P(FusedWords, AKeyNobodyHasFailsItsStep) {
    for (const std::uint32_t blocks : {1u, 12u}) {
        std::uint64_t sum = 0;
        TestPlan plan;
        const std::uint32_t slot = plan.slot(nowhere);
        plan.step(adding, blocks, {word_of(&sum)}).blocks_slot = slot;
        plan.part();
        queue_ = std::make_unique<TestQueue>(*device_);
        run(plan);
        EXPECT_EQ(queue().failures().size(), 1u);
        EXPECT_EQ(queue().last_failure().step, 100);
        EXPECT_EQ(queue().last_failure().address, nowhere);
        EXPECT_EQ(sum, 0u);
    }
}

FusedCallResult blame(void* context, DeviceAddress arguments) {
    std::uint64_t first = 0;
    std::memcpy(&first, opaque_pointer(arguments), sizeof first);
    auto& seen = *static_cast<std::uint64_t*>(context);
    seen = *reinterpret_cast<std::uint64_t*>(first);
    return seen == 5 ? FusedCallResult{} : FusedCallResult{100, "the count is wrong"};
}

TEST_P(FusedWords, ACallSeesTheArgumentsAndMayFailTheLaunch) {
    for (const std::uint32_t blocks : {5u, 1u}) {
        std::uint64_t sum = 0, seen = 0, behind = 0;
        TestPlan plan;
        plan.step(adding, blocks, {word_of(&sum)});
        plan.part();
        plan.call(&blame, &seen);
        plan.part({0});
        plan.step(adding, blocks, {word_of(&behind)});
        plan.part({1});
        queue_ = std::make_unique<TestQueue>(*device_);
        run(plan);
        EXPECT_EQ(seen, blocks);
        if (blocks == 5) {
            EXPECT_TRUE(queue().failures().empty());
            EXPECT_EQ(behind, 5u);
        } else {
            EXPECT_EQ(queue().failures().size(), 1u);
            EXPECT_EQ(queue().last_failure().step, 100);
            EXPECT_EQ(queue().last_failure().what, "the count is wrong");
            EXPECT_EQ(behind, 0u);
        }
    }
}

TEST_P(FusedWords, TheLastReplacementRunsWhereverItWasRecorded) {
    std::uint64_t sum = 0;
    TestPlan plan, better, best;
    plan.step(adding, 3, {word_of(&sum)});
    plan.part();
    better.step(adding_thousand, 1, {word_of(&sum)});
    better.part();
    best.step(adding_thousand, 2, {word_of(&sum)});
    best.part();
    const std::unique_ptr<FusedKernel> first = plan.fuse(*device_), second = better.fuse(*device_),
                                       third = best.fuse(*device_);
    const std::vector<Command> commands = {plan.launch(*first)};
    const GraphLane lane{commands};
    GraphPlan graph;
    graph.lanes = std::span(&lane, 1);
    Executable* executable = *device_->prepare(graph);
    Command replay(Opcode::replay);
    replay.replay = {executable, nullptr, 0, 0};
    for (const std::uint64_t expected : {3u, 1000u, 2000u}) {
        queue().submit(replay);
        queue().finish(queue().submit(plan.launch(*first)));
        EXPECT_EQ(std::exchange(sum, 0), 2 * expected);
        (expected == 3 ? first : second)->replacement.store(expected == 3 ? second.get() : third.get());
    }
    executable->release();
}

// ---- loops ---------------------------------------------------------------------------------------------------------

void double_all(unsigned char* const* pointers, std::uint64_t count) {
    const auto* in = reinterpret_cast<const float*>(pointers[0]);
    auto* out = reinterpret_cast<float*>(pointers[1]);
    for (std::uint64_t i = 0; i < count; ++i) out[i] = 2 * in[i];
}
void negate_all(unsigned char* const* pointers, std::uint64_t count) {
    auto* out = reinterpret_cast<float*>(pointers[0]);
    for (std::uint64_t i = 0; i < count; ++i) out[i] = -out[i];
}

TEST_P(FusedWords, LoopsRunInsteadOfTheKernelsOfTheirSteps) {
    for (const std::uint64_t pieces : {1u, 3u, 700u}) {
        constexpr std::uint64_t count = 1000;
        std::vector<float> in(pieces * count), out(pieces * count);
        for (std::size_t i = 0; i < in.size(); ++i) in[i] = static_cast<float>(i % 1009);
        std::uint64_t never = 0;
        TestPlan plan;
        plan.step(adding, 1, {word_of(in.data())});
        plan.step(adding, 1, {word_of(out.data())});
        plan.part();
        auto loops = std::make_shared<FusedLoops>();
        loops->functions = {&double_all};
        for (std::uint64_t piece = 0; piece < pieces; ++piece) {
            loops->pieces.push_back({0, static_cast<std::uint32_t>(piece * 2), 2, count, 0});
            loops->pointers.push_back({0, piece * count * 4});
            loops->pointers.push_back({1, piece * count * 4});
        }
        plan.plan().parts[0].loops = loops;
        // A later part sees all the pieces.
        plan.step(adding, 1, {word_of(&never)});
        plan.part({0});
        auto negate = std::make_shared<FusedLoops>();
        negate->functions = {&negate_all};
        negate->pieces = {{0, 0, 1, pieces * count, 2}};
        negate->pointers = {{1, 0}};
        plan.plan().parts[1].loops = negate;
        for (int round = 0; round < 5; ++round) {
            run(plan);
            for (std::size_t i = 0; i < in.size(); ++i) ASSERT_EQ(out[i], -2 * in[i]) << i;
        }
        EXPECT_EQ(never, 0u);
    }
    EXPECT_TRUE(queue().failures().empty());
}

TEST_P(FusedWords, AFaultInALoopNamesTheFirstStepOfItsPiece) {
    for (const std::uint64_t pieces : {2u, 400u}) {
        std::vector<float> memory(1000);
        TestPlan plan;
        plan.step(adding, 1, {word_of(memory.data())});
        plan.step(adding_thousand, 1, {nowhere});
        plan.part();
        auto loops = std::make_shared<FusedLoops>();
        loops->functions = {&negate_all};
        loops->pointers = {{0, 0}, {1, 0}};
        for (std::uint64_t piece = 0; piece + 1 < pieces; ++piece) loops->pieces.push_back({0, 0, 1, 0, 0});
        loops->pieces.push_back({0, 1, 1, 5, 1});
        plan.plan().parts[0].loops = loops;
        queue_ = std::make_unique<TestQueue>(*device_);
        run(plan);
        EXPECT_EQ(queue().failures().size(), 1u);
        EXPECT_EQ(queue().last_failure().step, 101);
        EXPECT_EQ(queue().last_failure().kernel, "add_thousand");
    }
}

TEST(LoopCode, IsLoadedFromBytesAndGoesWithItsLastUser) {
    const std::unique_ptr<Device> device = test::open_soft_device(1);
    std::ifstream file(CPU_IMAGE_1, std::ios::binary);
    const std::vector<char> bytes{std::istreambuf_iterator<char>(file), {}};
    ASSERT_FALSE(bytes.empty());
    auto code = device->abilities().fusing->load_code(std::as_bytes(std::span(bytes)), "loops");
    ASSERT_TRUE(code.ok());
    EXPECT_NE((*code)->symbol("return_value"), nullptr);
    EXPECT_EQ((*code)->symbol("no_such_function"), nullptr);
    EXPECT_FALSE(device->abilities().fusing->load_code(std::as_bytes(std::span(bytes)).first(100), "loops").ok());
}

// The image has process-wide unique symbols, so the loader keeps it. The loader must not mistake the next image for it.
TEST(LoopCode, ThatTheLoaderKeepsIsNotTakenForTheNext) {
    const std::unique_ptr<Device> device = test::open_soft_device(1);
    for (const std::uint64_t variant : {1u, 2u, 1u}) {
        std::ifstream file(variant == 1 ? CPU_IMAGE_1 : CPU_IMAGE_2, std::ios::binary);
        const std::vector<char> bytes{std::istreambuf_iterator<char>(file), {}};
        auto code = device->abilities().fusing->load_code(std::as_bytes(std::span(bytes)), "loops");
        ASSERT_TRUE(code.ok());
        auto* identify = reinterpret_cast<std::uint32_t (*)(void*)>((*code)->symbol("identify"));
        ASSERT_NE(identify, nullptr);
        std::uint64_t answer[3] = {};
        std::uint64_t address = reinterpret_cast<std::uint64_t>(answer);
        EXPECT_EQ(identify(&address), 0u);
        EXPECT_EQ(answer[0], variant);
    }
}

INSTANTIATE_TEST_SUITE_P(Workers, FusedWords, testing::Values(1, 2, 8));

}  // namespace
}  // namespace canopy
