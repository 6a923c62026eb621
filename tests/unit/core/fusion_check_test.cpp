// SPDX-License-Identifier: Apache-2.0
// The check around a fused kernel: a plan that keeps the order of its steps passes. One that breaks it fails the launch
// and names the step, and the memory then holds the results of running the steps one by one.
#include "core/fusion/fusion_check.h"

#include <gtest/gtest.h>

#include <utility>

#include "core/fusion/fusion_plan.h"
#include "device/opaque_pointer.h"
#include "soft/fused_plan.h"

namespace canopy {
namespace {

using test::TestKernel;
using test::TestQueue;
using test::word_of;

struct Log {
    std::uint64_t count;
    std::uint64_t entries[7];
};

// Each step depends on all steps before it, both for what it writes and where.
struct Append {
    Log* log;
    std::uint64_t entry;
};
void append_entry(const void* arguments) {
    const auto* append = static_cast<const Append*>(arguments);
    append->log->entries[append->log->count++] = append->entry;
}
const TestKernel appending("append", &append_entry);

class FusionChecks : public testing::Test {
protected:
    static constexpr std::uint32_t steps = 4;

    void SetUp() override {
        device_ = test::open_soft_device(2);
        Result<DeviceAddress> memory = device_->allocate(sizeof(Log), memory_default);
        ASSERT_TRUE(memory.ok());
        log_ = static_cast<Log*>(opaque_pointer(*memory));
        *log_ = {};
        list_.name = "fused";
        for (std::uint32_t number = 0; number < steps; ++number) {
            ListStep& step = list_.steps.emplace_back();
            step.number = number;
            step.kernel = {0, "append", &appending, nullptr};
            step.slot = number * 2;
            step.slots = 2;
            if (number != 0) step.after = {number - 1};
            arguments_.insert(arguments_.end(), {word_of(log_), number + 10});
        }
        list_.slots = steps * 2;
    }
    void TearDown() override { device_->release(device_address(log_)).ignore(); }

    // A plan of steps that all touch the log.
    FusionPlan plan() {
        const std::vector<StepAccess> unknown(steps);
        return make_plan({&list_, unknown, FusionLevel::loops}).plan;
    }
    // Runs the plan inside the check and returns the failure of the launch.
    TestQueue::Failure run_checked(FusionPlan plan) {
        FusionCheck check(list_, *device_);
        Result<std::unique_ptr<FusedKernel>> kernel = device_->fuse(check.around(std::move(plan)));
        EXPECT_TRUE(kernel.ok());
        Command command(Opcode::launch);
        command.launch = {};
        command.launch.kernel = kernel->get();
        command.launch.set_arguments(arguments_.data());
        command.launch.arguments_size = static_cast<std::uint32_t>(arguments_.size() * 8);
        command.launch.blocks = 1;
        TestQueue queue(*device_);
        queue.finish(queue.submit(command));
        return queue.last_failure();
    }
    void expect_log_in_order() const {
        EXPECT_EQ(log_->count, steps);
        for (std::uint32_t number = 0; number < steps; ++number) EXPECT_EQ(log_->entries[number], number + 10);
    }

    std::unique_ptr<Device> device_;
    FusedList list_;
    std::vector<std::uint64_t> arguments_;
    Log* log_ = nullptr;
};

TEST_F(FusionChecks, APlanInTheOrderOfItsStepsPasses) {
    const TestQueue::Failure failure = run_checked(plan());
    EXPECT_EQ(failure.kind, FaultKind::none) << failure.what;
    expect_log_in_order();
}

TEST_F(FusionChecks, ALeftOutDependencyIsFoundAndTheStepNamed) {
    FusionPlan wrong = plan();
    ASSERT_EQ(wrong.steps.size(), steps);
    std::swap(wrong.steps[1], wrong.steps[2]);
    const TestQueue::Failure failure = run_checked(std::move(wrong));
    EXPECT_NE(failure.kind, FaultKind::none);
    EXPECT_NE(failure.what.find("the fused kernel differs from its steps"), std::string::npos) << failure.what;
    EXPECT_NE(failure.what.find("which step 1 (append) writes last"), std::string::npos) << failure.what;
    EXPECT_EQ(failure.step, 1);
    expect_log_in_order();
}

}  // namespace
}  // namespace canopy
