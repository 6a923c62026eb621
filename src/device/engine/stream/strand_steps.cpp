// SPDX-License-Identifier: Apache-2.0
// Fused kernels whose steps run one after the other (stepwise.h).
#include "device/engine/stream/strand.h"

#include <algorithm>
#include <cstdio>
#include <cstring>

#include "base/error_text.h"
#include "device/device.h"
#include "device/engine/memory/remote.h"
#include "device/engine/stream/scheduler.h"
#include "device/engine/stream/stepwise.h"
#include "device/execution/core_flags.h"
#include "device/opaque_pointer.h"

namespace canopy {

Result<std::unique_ptr<FusedKernel>> StepwiseKernel::create(FusionPlan plan) {
    constexpr int bad_plan = 107000;
    auto kernel = std::make_unique<StepwiseKernel>();
    for (const FusedPart& part : plan.parts) {
        if (part.count == 0 || part.first > plan.steps.size() || part.count > plan.steps.size() - part.first)
            return canopy::fail(bad_plan, "a part of {} has steps that do not exist", plan.name);
        for (std::uint32_t index = part.first; index < part.first + part.count; ++index) {
            if (plan.steps[index].action == FusedAction::kernel && !plan.steps[index].kernel)
                return canopy::fail(bad_plan, "a step of {} has no kernel", plan.name);
            kernel->steps.push_back(std::move(plan.steps[index]));
        }
    }
    kernel->profile_slot = plan.profile_slot;
    kernel->own_info.name = std::move(plan.name);
    kernel->own_info.arguments_size = plan.arguments_size;
    kernel->info = &kernel->own_info;
    return std::unique_ptr<FusedKernel>(std::move(kernel));
}

// The address or number in a slot of the argument block, which may be in memory of any device; 0 if it cannot be read.
std::uint64_t StepwiseRun::slot(std::uint32_t index) const noexcept {
    std::uint64_t word = 0;
    read_device(&word, command_->launch.arguments() + std::size_t{index} * 8, sizeof word).ignore();
    return word;
}

Step StepwiseRun::run(Worker& worker, Command& command, std::uint64_t sequence) noexcept {
    if (!kernel_) {
        const auto* fused = static_cast<const FusedKernel*>(command.launch.kernel);
        while (const FusedKernel* better = fused->replacement.load(std::memory_order_acquire)) fused = better;
        kernel_ = static_cast<const StepwiseKernel*>(fused);
        next_ = 0;
        begun_ = Begun::no;
        failed_ = false;
        times_.clear();
        first_began_ = now();
    }
    command_ = &command;
    for (; next_ < kernel_->steps.size() && !failed_; ++next_)
        if (run_step(worker, kernel_->steps[next_], sequence) == Step::left) return Step::left;
    if (!failed_ && kernel_->profile_slot != no_slot) write_times();
    kernel_ = nullptr;
    return Step::done;
}

Step StepwiseRun::run_step(Worker& worker, const FusedStep& step, std::uint64_t sequence) noexcept {
    blamed_ = step.number;
    switch (step.action) {
        case FusedAction::kernel:
            if (begun_ == Begun::no && !prepare_launch(step)) return Step::done;
            begun_ = Begun::launch;
            if (owner_.run_kernel(worker, launch_, sequence) == Step::left) return Step::left;
            begun_ = Begun::no;
            if (step.timed && !failed_ && kernel_->profile_slot != no_slot) note_times(step);
            return Step::done;
        case FusedAction::write_word:
            store_word(DeviceAddress(slot(step.word_slot)), step.value);
            return Step::done;
        case FusedAction::wait_word: {
            const DeviceAddress word(slot(step.word_slot));
            if (std::exchange(begun_, Begun::no) == Begun::wait) {
                if (owner_.take_wait_result() == WaitResult::faulted)
                    fail("the word waited for is not readable memory");
                return Step::done;
            }
            if (load_word(word) == step.value) return Step::done;
            begun_ = Begun::wait;
            owner_.wait_for_word({word, step.value, ValueCondition::equal});
            return Step::left;
        }
        case FusedAction::call: {
            const FusedCallResult result = step.call(step.call_context, command_->launch.arguments());
            if (result.text.empty()) return Step::done;
            blamed_ = result.step;
            fail(result.text.c_str());
            return Step::done;
        }
    }
    return Step::done;
}

// The device says only when all blocks have ended.
void StepwiseRun::note_times(const FusedStep& step) noexcept {
    const auto end = static_cast<std::uint64_t>(now());
    const std::uint32_t cores = core_group(*launch_.launch.kernel->info).size();
    try {
        for (std::uint32_t block = 0; block < launch_.launch.blocks; ++block)
            for (std::uint32_t core = 0; core < cores; ++core)
                times_.push_back({step.number, block, core, 0, static_cast<std::uint64_t>(began_), end});
    } catch (...) {  // no memory: records are missing
    }
}

void StepwiseRun::fail(const char* text) noexcept { owner_.report(*command_, {.kind = FaultKind::exception}, 0, text); }

FailedStep StepwiseRun::note_failure() noexcept {
    failed_ = true;
    const FusedStep& step = kernel_->steps[std::min(next_, kernel_->steps.size() - 1)];
    const Kernel* kernel = begun_ == Begun::launch ? launch_.launch.kernel : step.kernel;
    return {blamed_, kernel, kernel_};
}

// False: the step runs nothing, or has failed.
bool StepwiseRun::prepare_launch(const FusedStep& step) noexcept {
    const LaunchWork& whole = command_->launch;
    launch_ = Command(Opcode::launch);
    launch_.task = command_->task;
    launch_.launch = {};
    LaunchWork& work = launch_.launch;
    work.kernel = step.kernel;
    work.blocks = step.blocks;
    if (step.blocks_slot != no_slot) {
        const std::uint64_t asked = load_word(DeviceAddress(slot(step.blocks_slot)));
        work.blocks = static_cast<std::uint32_t>(std::min<std::uint64_t>(asked, step.blocks));
    }
    if (step.key_slot != no_slot) {
        const std::uint64_t key = load_word(DeviceAddress(slot(step.key_slot)));
        const auto found = std::lower_bound(step.choices.begin(), step.choices.end(), key,
                                            [](const FusedChoice& one, std::uint64_t k) { return one.key < k; });
        if (found == step.choices.end() || found->key != key) {
            char text[96];
            std::snprintf(text, sizeof text, "there is no kernel for the key %llu",
                          static_cast<unsigned long long>(key));
            fail(text);
            return false;
        }
        work.kernel = found->kernel;
    }
    if (work.blocks == 0) return false;
    if (whole.arguments_in_place())
        work.set_arguments_in_place(whole.arguments() + step.arguments_offset);
    else
        work.set_arguments(opaque_pointer(whole.arguments() + step.arguments_offset));
    work.arguments_size = step.arguments_size;
    work.dynamic_size = step.dynamic_size;
    work.timeout = step.timeout ? step.timeout : whole.timeout;
    began_ = now();
    return true;
}

void StepwiseRun::drop() noexcept {
    if (begun_ == Begun::launch && owner_.slot()) owner_.slot()->drop();
    kernel_ = nullptr;
}

// Nothing is written unless the buffer is device memory; core checks it before the launch.
void StepwiseRun::write_times() noexcept {
    const DeviceAddress buffer(slot(kernel_->profile_slot));
    if (!buffer || buffer.value() % alignof(canopyFusionProfileHeader) != 0) return;
    const auto range = owner_.scheduler().driver().find(buffer);
    if (!range) return;
    const std::size_t room = range->bytes_from(buffer);
    if (room < sizeof(canopyFusionProfileHeader)) return;
    const std::size_t capacity = (room - sizeof(canopyFusionProfileHeader)) / sizeof(canopyFusionProfileRecord);
    const auto timed = static_cast<std::uint64_t>(
        std::count_if(kernel_->steps.begin(), kernel_->steps.end(),
                      [](const FusedStep& step) { return step.action == FusedAction::kernel && step.timed; }));
    const canopyFusionProfileHeader header = {CANOPY_FUSION_PROFILE_MAGIC,
                                              CANOPY_FUSION_PROFILE_VERSION,
                                              sizeof(canopyFusionProfileHeader),
                                              sizeof(canopyFusionProfileRecord),
                                              capacity,
                                              times_.size(),
                                              slot(kernel_->profile_slot + 1),
                                              timed,
                                              static_cast<std::uint64_t>(first_began_),
                                              0};
    const std::size_t kept = std::min(times_.size(), capacity);
    write_device(buffer, &header, sizeof header).ignore();
    if (kept != 0)
        write_device(buffer + sizeof header, times_.data(), kept * sizeof(canopyFusionProfileRecord)).ignore();
}

}  // namespace canopy
