// SPDX-License-Identifier: Apache-2.0
// Fusion plans for unit tests, built step by step from kernels that are functions of the test.
#pragma once

#include <gtest/gtest.h>

#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

#include "device/soft/code/kernel.h"
#include "device/soft/services.h"
#include "soft/soft_device.h"

namespace canopy::test {

struct TestKernel : SoftKernel {
    TestKernel(const char* name, CanopyKernelEntry function, CoreGroup cores = {0, 1}) {
        own.name = name;
        own.core = cores.cube == 0 ? CoreType::vector : cores.vector == 0 ? CoreType::cube : CoreType::mix;
        info = &own;
        entry = function;
        group = cores;
    }
    TestKernel(const TestKernel&) = delete;
    TestKernel& operator=(const TestKernel&) = delete;
    KernelInfo own;
};

inline std::uint64_t word_of(const void* pointer) { return reinterpret_cast<std::uint64_t>(pointer); }
inline CanopyBlock& this_block() { return *kernel_services().current_block(); }

class TestPlan {
public:
    TestPlan() { plan_.name = "fused"; }

    // A slot of the argument block.
    std::uint32_t slot(std::uint64_t value) {
        arguments_.push_back(value);
        return static_cast<std::uint32_t>(arguments_.size() - 1);
    }
    // Adds a step with its arguments; its number is its index plus 100.
    FusedStep& step(const Kernel& kernel, std::uint32_t blocks, std::initializer_list<std::uint64_t> arguments) {
        FusedStep& step = add();
        step.kernel = &kernel;
        step.blocks = blocks;
        step.arguments_offset = static_cast<std::uint32_t>(arguments_.size() * 8);
        arguments_.insert(arguments_.end(), arguments);
        return step;
    }
    FusedStep& word(FusedAction action, const void* address, std::uint64_t value) {
        const std::uint32_t at = slot(word_of(address));
        FusedStep& step = add();
        step.action = action;
        step.word_slot = at;
        step.value = value;
        return step;
    }
    FusedStep& call(FusedCall function, void* context) {
        FusedStep& step = add();
        step.action = FusedAction::call;
        step.call = function;
        step.call_context = context;
        return step;
    }
    // Makes one part of the steps that are not in any part yet.
    std::uint32_t part(std::vector<std::uint32_t> after = {}) {
        FusedPart part;
        part.first = in_parts_;
        part.count = static_cast<std::uint32_t>(plan_.steps.size()) - in_parts_;
        part.after = std::move(after);
        in_parts_ += part.count;
        plan_.parts.push_back(std::move(part));
        return static_cast<std::uint32_t>(plan_.parts.size() - 1);
    }
    FusionPlan& plan() { return plan_; }

    Result<std::unique_ptr<FusedKernel>> try_to_fuse(Device& device) {
        FusionPlan copy = plan_;
        copy.arguments_size = static_cast<std::uint32_t>(arguments_.size() * 8);
        return device.fuse(std::move(copy));
    }
    std::unique_ptr<FusedKernel> fuse(Device& device) {
        auto made = try_to_fuse(device);
        EXPECT_TRUE(made.ok());
        return made.ok() ? std::move(*made) : nullptr;
    }
    // Valid as long as the plan lives.
    Command launch(const FusedKernel& kernel) const {
        Command command(Opcode::launch);
        command.launch = {};
        command.launch.kernel = &kernel;
        command.launch.set_arguments(arguments_.data());
        command.launch.arguments_size = static_cast<std::uint32_t>(arguments_.size() * 8);
        command.launch.blocks = 1;
        return command;
    }

private:
    FusedStep& add() {
        FusedStep& step = plan_.steps.emplace_back();
        step.number = static_cast<std::uint32_t>(plan_.steps.size() - 1) + 100;
        return step;
    }
    FusionPlan plan_;
    std::vector<std::uint64_t> arguments_;
    std::uint32_t in_parts_ = 0;
};

class FusedTest : public testing::TestWithParam<std::uint32_t> {
protected:
    void SetUp() override { device_ = open_soft_device(GetParam()); }
    // Fuses, launches and waits for it.
    void run(TestPlan& plan) {
        const std::unique_ptr<FusedKernel> kernel = plan.fuse(*device_);
        ASSERT_TRUE(kernel);
        queue().finish(queue().submit(plan.launch(*kernel)));
    }
    TestQueue& queue() {
        if (!queue_) queue_ = std::make_unique<TestQueue>(*device_);
        return *queue_;
    }
    std::unique_ptr<Device> device_;
    std::unique_ptr<TestQueue> queue_;
};

}  // namespace canopy::test
