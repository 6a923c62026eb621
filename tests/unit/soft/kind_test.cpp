// SPDX-License-Identifier: Apache-2.0
// Devices of two kinds side by side: events work between them; graphs and kernels of the other kind are refused.
#include <gtest/gtest.h>

#include <memory>
#include <vector>

#include "device/image.h"
#include "soft/soft_device.h"

namespace canopy {
namespace {

using test::TestQueue;

class Kinds : public testing::Test {
protected:
    void SetUp() override {
        soft_ = test::open_device("soft", 1);
        null_ = test::open_device("null", 1);
        of_null_ = *null_->create_fence();
        of_soft_ = *soft_->create_fence();
    }
    void TearDown() override {
        of_null_->release();
        of_soft_->release();
    }
    static Command replay_of(Executable* executable) {
        Command command(Opcode::replay);
        command.replay = {executable, nullptr, 0, 0};
        return command;
    }
    static Result<Executable*> prepare(Device& device, const std::vector<Command>& commands) {
        const GraphLane lane{commands, true, 0};
        GraphPlan plan;
        plan.lanes = std::span(&lane, 1);
        return device.prepare(plan);
    }
    static Command launch_of(const Kernel& kernel) {
        Command launch(Opcode::launch);
        launch.launch = {};
        launch.launch.kernel = &kernel;
        launch.launch.blocks = 1;
        return launch;
    }
    std::unique_ptr<Device> soft_, null_;
    Fence* of_null_ = nullptr;
    Fence* of_soft_ = nullptr;
};

TEST_F(Kinds, StreamsOfTwoKindsWaitForEachOther) {
    TestQueue soft(*soft_), null(*null_);
    std::atomic<std::uint64_t> count{0};
    for (std::uint64_t round = 1; round <= 100; ++round) {
        soft.wait_for(*of_null_, round);
        soft.count(count);
        soft.signal(*of_soft_, round);
        null.signal(*of_null_, round);
        null.wait_for(*of_soft_, round);
    }
    null.finish(null.count(count));
    EXPECT_EQ(count.load(), 101u);
    EXPECT_EQ(of_soft_->value(), 100u);
}

TEST_F(Kinds, AStreamReplaysGraphsOfItsKindOnly) {
    Executable* of_null = *prepare(*null_, {Command(Opcode::nothing)});
    Executable* of_soft = *prepare(*soft_, {Command(Opcode::nothing)});
    TestQueue soft(*soft_), null(*null_);
    EXPECT_EQ(soft.try_submit(replay_of(of_null)).status().code(), 107000);
    EXPECT_EQ(null.try_submit(replay_of(of_soft)).status().code(), 107000);
    soft.finish(soft.submit(replay_of(of_soft)));
    null.finish(null.submit(replay_of(of_null)));
    EXPECT_EQ(of_soft->unfinished(), 0u);
    of_null->release();
    of_soft->release();
}

TEST_F(Kinds, AGraphTakesNoKernelsAndBodiesOfAnotherKind) {
    DeviceOptions options;
    options.chip = &default_chip();
    options.memory = std::uint64_t{64} << 20;
    const std::unique_ptr<Driver> driver = std::move(*find_kind("null")->open(options));
    KernelInfo info;
    info.name = "foreign";
    Kernel kernel;
    kernel.info = &info;
    kernel.driver = driver.get();
    EXPECT_EQ(prepare(*soft_, {launch_of(kernel)}).status().code(), 107000);

    FusionPlan fused;
    fused.name = "fused";
    fused.steps.resize(1);
    fused.steps[0].kernel = &kernel;
    fused.parts.resize(1);
    EXPECT_EQ(soft_->fuse(std::move(fused)).status().code(), 107000);

    Executable* body = *prepare(*null_, {Command(Opcode::nothing)});
    const std::uint64_t selector = 1;
    Command condition(Opcode::condition);
    condition.condition = {device_address(&selector), &body, 1, ConditionKind::branch};
    EXPECT_EQ(prepare(*soft_, {condition}).status().code(), 107000);
    body->release();

    Executable* graph = *prepare(*soft_, {Command(Opcode::nothing)});
    const GraphChange change{{0, 0}, launch_of(kernel)};
    EXPECT_EQ(graph->change(std::span(&change, 1), ChangeTime::next_replay).code(), 107000);
    graph->release();
}

}  // namespace
}  // namespace canopy
