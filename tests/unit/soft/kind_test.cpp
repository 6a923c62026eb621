// SPDX-License-Identifier: Apache-2.0
// Devices refuse fences, graphs and kernels made by another kind of device.
#include <gtest/gtest.h>

#include <memory>
#include <vector>

#include "soft/soft_device.h"

namespace canopy {
namespace {

using test::TestQueue;

class Kinds : public testing::Test {
protected:
    void SetUp() override {
        soft_ = test::open_device("soft", 1);
        null_ = test::open_device("null", 1);
        foreign_ = *null_->create_fence();
        own_ = *soft_->create_fence();
    }
    void TearDown() override {
        foreign_->release();
        own_->release();
    }
    static Command wait_for(Fence* fence) {
        Command command(Opcode::wait);
        command.wait = {fence, 0, 0, WaitMode::at_least, false};
        return command;
    }
    static Command replay_of(Executable* executable, const FenceBinding* bindings = nullptr, std::uint32_t count = 0) {
        Command command(Opcode::replay);
        command.replay = {executable, bindings, count, 0};
        return command;
    }
    static Result<Executable*> prepare(Device& device, const std::vector<Command>& commands) {
        const GraphLane lane{commands, true, 0};
        GraphPlan plan;
        plan.lanes = std::span(&lane, 1);
        return device.prepare(plan);
    }
    std::unique_ptr<Device> soft_, null_;
    Fence* foreign_ = nullptr;
    Fence* own_ = nullptr;
};

TEST_F(Kinds, AStreamDoesNotWaitForAForeignFence) {
    TestQueue queue(*soft_);
    EXPECT_EQ(queue.try_submit(wait_for(foreign_)).status().code(), 107000);
    queue.finish(queue.submit(wait_for(own_)));
    queue.finish(queue.signal(*foreign_, 3));  // a signal does not depend on the kind of fence
    EXPECT_EQ(foreign_->value(), 3u);
}

TEST_F(Kinds, AStreamReplaysGraphsOfItsKindOnly) {
    Executable* foreign = *prepare(*null_, {Command(Opcode::nothing)});
    Executable* own = *prepare(*soft_, {Command(Opcode::nothing)});
    TestQueue soft(*soft_), null(*null_);
    EXPECT_EQ(soft.try_submit(replay_of(foreign)).status().code(), 107000);
    EXPECT_EQ(null.try_submit(replay_of(own)).status().code(), 107000);
    const FenceBinding binding{foreign_, 1};
    EXPECT_EQ(soft.try_submit(replay_of(own, &binding, 1)).status().code(), 107000);
    soft.finish(soft.submit(replay_of(own)));
    null.finish(null.submit(replay_of(foreign)));
    EXPECT_EQ(own->unfinished(), 0u);
    foreign->release();
    own->release();
}

TEST_F(Kinds, AGraphTakesNothingForeign) {
    EXPECT_EQ(prepare(*soft_, {wait_for(foreign_)}).status().code(), 107000);

    KernelInfo info;
    info.name = "foreign";
    Kernel kernel;
    kernel.info = &info;
    Command launch(Opcode::launch);
    launch.launch = {};
    launch.launch.kernel = &kernel;
    launch.launch.blocks = 1;
    EXPECT_EQ(prepare(*soft_, {launch}).status().code(), 107000);

    Executable* body = *prepare(*null_, {Command(Opcode::nothing)});
    const std::uint64_t selector = 1;
    Command condition(Opcode::condition);
    condition.condition = {&selector, &body, 1, ConditionKind::branch};
    EXPECT_EQ(prepare(*soft_, {condition}).status().code(), 107000);
    body->release();

    Executable* graph = *prepare(*soft_, {Command(Opcode::nothing)});
    const GraphChange change{{0, 0}, wait_for(foreign_)};
    EXPECT_EQ(graph->change(std::span(&change, 1), ChangeTime::next_replay).code(), 107000);
    graph->release();
}

TEST_F(Kinds, AFusedKernelTakesNoForeignStep) {
    KernelInfo info;
    info.name = "foreign";
    Kernel kernel;
    kernel.info = &info;
    FusionPlan plan;
    plan.name = "fused";
    plan.steps.resize(1);
    plan.steps[0].kernel = &kernel;
    plan.parts.resize(1);
    plan.parts[0].count = 1;
    EXPECT_EQ(soft_->fuse(std::move(plan)).status().code(), 107000);
}

}  // namespace
}  // namespace canopy
