// SPDX-License-Identifier: Apache-2.0
// Fused kernels that fail, hang or are aborted: what is reported, and what no longer runs.
#include <gtest/gtest.h>

#include <atomic>
#include <thread>
#include <vector>

#include "device/execution/executor.h"
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

class FusedFailures : public test::FusedTest {
protected:
    void expect_failure(FaultKind kind, std::int32_t step, const std::string& kernel, std::uint32_t block) {
        const TestQueue::Failure failure = queue().last_failure();
        EXPECT_EQ(failure.kind, kind) << failure.what;
        EXPECT_EQ(failure.step, step);
        EXPECT_EQ(failure.kernel, kernel);
        EXPECT_EQ(failure.block, block);
        EXPECT_EQ(failure.fused, "fused");
        EXPECT_EQ(queue().failures().size(), 1u);
    }
};

void count_block(const void* arguments) {
    std::atomic_ref(**static_cast<std::uint64_t* const*>(arguments)).fetch_add(1);
}

// Functions that may be left at any instruction are not instrumented.
struct Bad {
    std::uint64_t* address;
    std::uint64_t block;
};
CANOPY_MAY_BE_LEFT void write_if_block(const void* arguments) {
    const auto* bad = static_cast<const Bad*>(arguments);
    if (test::this_block().index == bad->block) *static_cast<volatile std::uint64_t*>(bad->address) = 1;
}
CANOPY_MAY_BE_LEFT void hang_if_block(const void* arguments) {
    const auto* bad = static_cast<const Bad*>(arguments);
    if (test::this_block().index != bad->block) return;
    for (;;) __asm__ volatile("" ::: "memory");
}
void wait_alone(const void*) {
    if (this_block().index == 2) kernel_services().sync_all();
}
CANOPY_MAY_BE_LEFT void hang_after_saying_so(const void* arguments) {
    __atomic_store_n(*static_cast<std::uint64_t* const*>(arguments), 1, __ATOMIC_RELEASE);
    for (;;) __asm__ volatile("" ::: "memory");
}
void poll_for_ever(const void* arguments) {
    std::atomic_ref(**static_cast<std::uint64_t* const*>(arguments)).store(1);
    for (;;) kernel_services().yield();
}

const TestKernel counting("count_block", &count_block);
const TestKernel writing("write_if_block", &write_if_block);
const TestKernel hanging("hang_if_block", &hang_if_block);
const TestKernel lonely("wait_alone", &wait_alone);
const TestKernel stuck("hang_after_saying_so", &hang_after_saying_so);
const TestKernel polling("poll_for_ever", &poll_for_ever);

constexpr std::uint64_t nowhere = 64;  // an unmapped address
// Long enough for steps and blocks that do not hang, also on a busy machine.
constexpr std::uint64_t step_limit = 200 * millisecond;

TEST_P(FusedFailures, AFaultNamesStepKernelAndBlockAndStopsTheRest) {
    for (const std::uint32_t blocks : {1u, 30u}) {  // run by one thread, and shared
        std::uint64_t before = 0, behind = 0;
        TestPlan plan;
        plan.step(counting, blocks, {word_of(&before)});
        const std::uint32_t first = plan.part();
        plan.step(writing, blocks, {nowhere, blocks - 1});
        const std::uint32_t second = plan.part({first});
        plan.step(counting, blocks, {word_of(&behind)});
        plan.part({second});
        queue_ = std::make_unique<TestQueue>(*device_);
        run(plan);
        expect_failure(FaultKind::exception, 101, "write_if_block", blocks - 1);
        EXPECT_EQ(queue().last_failure().address, nowhere);
        EXPECT_EQ(before, blocks);
        EXPECT_EQ(behind, 0u);
    }
}

TEST_P(FusedFailures, AFaultInsideAChainNamesTheStep) {
    std::uint64_t count = 0;
    TestPlan plan;
    plan.step(counting, 20, {word_of(&count)});
    plan.step(writing, 20, {nowhere, 0});
    plan.step(counting, 20, {word_of(&count)});
    plan.part();
    run(plan);
    expect_failure(FaultKind::exception, 101, "write_if_block", 0);
    EXPECT_LT(count, 40u);
}

TEST_P(FusedFailures, TheQueueGoesOnAfterAFailure) {
    std::uint64_t count = 0;
    TestPlan bad, good;
    bad.step(writing, 9, {nowhere, 3});
    bad.part();
    good.step(counting, 9, {word_of(&count)});
    good.part();
    run(bad);
    for (int i = 0; i < 10; ++i) run(good);
    EXPECT_EQ(count, 90u);
    EXPECT_EQ(queue().failures().size(), 1u);
}

TEST_P(FusedFailures, AStepThatHangsTimesOutByItsOwnLimit) {
    for (const std::uint32_t blocks : {1u, 6u}) {
        std::uint64_t count = 0;
        TestPlan plan;
        plan.step(counting, blocks, {word_of(&count)});
        const std::uint32_t first = plan.part();
        plan.step(hanging, blocks, {0, blocks / 2}).timeout = step_limit;
        plan.part({first});
        queue_ = std::make_unique<TestQueue>(*device_);
        run(plan);
        expect_failure(FaultKind::timeout, 101, "hang_if_block", blocks / 2);
    }
}

TEST_P(FusedFailures, TheLimitOfTheLaunchHoldsForEachStep) {
    std::uint64_t count = 0;
    TestPlan plan;
    plan.step(counting, 4, {word_of(&count)});
    plan.step(hanging, 4, {0, 1});
    plan.part();
    const std::unique_ptr<FusedKernel> kernel = plan.fuse(*device_);
    Command command = plan.launch(*kernel);
    command.launch.timeout = step_limit;
    queue().finish(queue().submit(command));
    expect_failure(FaultKind::timeout, 101, "hang_if_block", 1);
}

TEST_P(FusedFailures, AMeetingThatCannotCompleteIsFound) {
    std::uint64_t count = 0;
    TestPlan plan;
    plan.step(counting, 4, {word_of(&count)});
    const std::uint32_t first = plan.part();
    plan.step(lonely, 4, {});
    plan.part({first});
    run(plan);
    expect_failure(FaultKind::timeout, 101, "wait_alone", 2);
    EXPECT_EQ(queue().last_failure().what,
              "SyncAll can never complete: of 4 cores 1 wait, 3 have ended and 0 cannot start");
}

TEST_P(FusedFailures, AbortStopsWhatRuns) {
    for (const bool shared : {false, true}) {
        for (const TestKernel* kernel : {&stuck, &polling}) {
            if (!shared && kernel == &polling) continue;
            std::uint64_t entered = 0, behind = 0;
            TestPlan plan;
            plan.step(*kernel, shared ? 3 : 1, {word_of(&entered)});
            const std::uint32_t first = plan.part();
            plan.step(counting, 1, {word_of(&behind)});
            plan.part({first});
            const std::unique_ptr<FusedKernel> fused = plan.fuse(*device_);
            TestQueue queue(*device_);
            const std::uint64_t last = queue.submit(plan.launch(*fused));
            ASSERT_TRUE(eventually([&] { return std::atomic_ref(entered).load() != 0; }));
            queue->abort();
            EXPECT_EQ(queue->completed(), last);
            EXPECT_EQ(behind, 0u);
            EXPECT_TRUE(queue.failures().empty());
        }
    }
}

TEST_P(FusedFailures, StoppingTheRunningTaskLetsTheNextOneRun) {
    std::uint64_t entered = 0, behind = 0, count = 0;
    TestPlan plan, next;
    plan.step(stuck, 2, {word_of(&entered)});
    const std::uint32_t first = plan.part();
    plan.step(counting, 1, {word_of(&behind)});
    plan.part({first});
    next.step(counting, 5, {word_of(&count)});
    next.part();
    const std::unique_ptr<FusedKernel> fused = plan.fuse(*device_), after = next.fuse(*device_);
    queue().submit(plan.launch(*fused));
    const std::uint64_t last = queue().submit(next.launch(*after));
    ASSERT_TRUE(eventually([&] { return std::atomic_ref(entered).load() != 0; }));
    queue()->stop_running();
    queue().finish(last);
    EXPECT_EQ(behind, 0u);
    EXPECT_EQ(count, 5u);
    EXPECT_EQ(queue().failures(), std::vector<FaultKind>{FaultKind::aborted});
}

TEST_P(FusedFailures, AFailedReplayNamesTheStep) {
    for (const std::uint32_t blocks : {1u, 7u}) {
        std::uint64_t count = 0;
        TestPlan plan;
        plan.step(counting, blocks, {word_of(&count)});
        plan.step(writing, blocks, {nowhere, blocks - 1});
        plan.part();
        const std::unique_ptr<FusedKernel> fused = plan.fuse(*device_);
        TestPlan good;
        std::uint64_t behind = 0;
        good.step(counting, 1, {word_of(&behind)});
        good.part();
        const std::unique_ptr<FusedKernel> after = good.fuse(*device_);
        const std::vector<Command> commands = {good.launch(*after), plan.launch(*fused), good.launch(*after)};
        const GraphLane lane{commands};
        GraphPlan graph;
        graph.lanes = std::span(&lane, 1);
        Executable* executable = *device_->prepare(graph);
        Command replay(Opcode::replay);
        replay.replay = {executable, nullptr, 0, 0};
        queue_ = std::make_unique<TestQueue>(*device_);
        queue().finish(queue().submit(replay));
        expect_failure(FaultKind::exception, 101, "write_if_block", blocks - 1);
        EXPECT_EQ(behind, 1u);
        executable->release();
    }
}

struct Overrun {
    std::uint64_t* memory;
    std::uint64_t words;
};
CANOPY_MAY_BE_LEFT void overrun(const void* arguments) {
    const Overrun over = *static_cast<const Overrun*>(arguments);
    for (std::uint64_t i = 0; i < over.words; ++i) static_cast<volatile std::uint64_t*>(over.memory)[i] = i;
}
const TestKernel overrunning("overrun", &overrun);

TEST_P(FusedFailures, CheckingFindsAStepThatRunsOverItsMemory) {
    const std::unique_ptr<Device> device = test::open_soft_device(GetParam(), true);
    auto* memory = static_cast<std::uint64_t*>(opaque_pointer(*device->allocate(4096, 0)));
    for (const std::uint32_t blocks : {1u, 3u}) {
        std::uint64_t count = 0;
        TestPlan plan;
        plan.step(counting, blocks, {word_of(&count)});
        const std::uint32_t first = plan.part();
        plan.step(overrunning, blocks, {word_of(memory), 4096});
        plan.part({first});
        const std::unique_ptr<FusedKernel> fused = plan.fuse(*device);
        TestQueue queue(*device);
        queue.finish(queue.submit(plan.launch(*fused)));
        ASSERT_EQ(queue.failures().size(), 1u);
        EXPECT_EQ(queue.last_failure().step, 101);
        EXPECT_EQ(queue.last_failure().kernel, "overrun");
    }
    EXPECT_TRUE(device->release(device_address(memory)).ok());
}

TEST(FusedPlans, ThatMakeNoSenseAreRefused) {
    const std::unique_ptr<Device> device = test::open_soft_device(1);
    const auto refused = [&](auto&& break_it) {
        TestPlan plan;
        plan.step(counting, 2, {0});
        plan.part();
        plan.step(counting, 2, {0});
        plan.part({0});
        break_it(plan.plan());
        return !plan.try_to_fuse(*device).ok();
    };
    const TestKernel mixed("mixed", &count_block, {1, 2});
    EXPECT_FALSE(refused([](FusionPlan&) {}));
    EXPECT_TRUE(refused([](FusionPlan& plan) { plan.parts.clear(); }));
    EXPECT_TRUE(refused([](FusionPlan& plan) { plan.parts.pop_back(); }));
    EXPECT_TRUE(refused([](FusionPlan& plan) { plan.parts[1].first = 0; }));
    EXPECT_TRUE(refused([](FusionPlan& plan) { plan.parts[1].count = 2; }));
    EXPECT_TRUE(refused([](FusionPlan& plan) { plan.parts[0].after = {1}; }));
    EXPECT_TRUE(refused([](FusionPlan& plan) { plan.parts[1].after = {1}; }));
    EXPECT_TRUE(refused([](FusionPlan& plan) { plan.steps[0].kernel = nullptr; }));
    EXPECT_TRUE(refused([](FusionPlan& plan) { plan.steps[0].blocks = 0; }));
    EXPECT_TRUE(refused([](FusionPlan& plan) { plan.steps[0].arguments_offset = 4; }));
    EXPECT_TRUE(refused([](FusionPlan& plan) { plan.steps[0].blocks_slot = 2; }));
    EXPECT_TRUE(refused([](FusionPlan& plan) { plan.steps[0].key_slot = 0; }));
    EXPECT_TRUE(refused([](FusionPlan& plan) { plan.steps[0].action = FusedAction::wait_word; }));
    EXPECT_TRUE(refused([](FusionPlan& plan) { plan.steps[0].action = FusedAction::call; }));
    // A chain of kernels that may wait.
    EXPECT_TRUE(refused([&](FusionPlan& plan) {
        plan.steps[1].kernel = &mixed;
        plan.parts.pop_back();
        plan.parts[0].count = 2;
    }));
    // A fused kernel as a step.
    TestPlan inner;
    inner.step(counting, 1, {0});
    inner.part();
    const std::unique_ptr<FusedKernel> fused = inner.fuse(*device);
    EXPECT_TRUE(refused([&](FusionPlan& plan) { plan.steps[0].kernel = fused.get(); }));
}

INSTANTIATE_TEST_SUITE_P(Workers, FusedFailures, testing::Values(1, 2, 8));

}  // namespace
}  // namespace canopy
