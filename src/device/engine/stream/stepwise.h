// SPDX-License-Identifier: Apache-2.0
// Fused kernels on devices that cannot fuse: the steps of the plan run one after the other, each as a launch of its
// own.
//
// Threads: a kernel is immutable; a run is used by the owner of its strand.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include <canopy/fusion_profile.h>

#include "device/command.h"
#include "device/driver.h"
#include "device/execution/executor.h"
#include "device/fusion.h"

namespace canopy {

class Strand;
class Worker;

struct StepwiseKernel final : FusedKernel {
    // 107000 if a step has no kernel or lies outside the plan.
    static Result<std::unique_ptr<FusedKernel>> create(FusionPlan plan);
    std::vector<FusedStep> steps;  // in the order in which they run
    std::uint32_t profile_slot = no_slot;
};

// A launch of such a kernel on one strand.
class StepwiseRun {
public:
    explicit StepwiseRun(Strand& owner) noexcept : owner_(owner) {}

    Step run(Worker& worker, Command& command, std::uint64_t sequence) noexcept;
    // The command is dropped after `run` has returned `left`.
    void drop() noexcept;
    [[nodiscard]] bool active() const noexcept { return kernel_ != nullptr; }
    // A step has failed: those after it do not run.
    FailedStep note_failure() noexcept;
    [[nodiscard]] const Command& command() const noexcept { return *command_; }

private:
    enum class Begun : std::uint8_t { no, launch, wait };
    Step run_step(Worker& worker, const FusedStep& step, std::uint64_t sequence) noexcept;
    bool prepare_launch(const FusedStep& step) noexcept;
    [[nodiscard]] std::uint64_t slot(std::uint32_t index) const noexcept;
    void fail(const char* text) noexcept;
    void note_times(const FusedStep& step) noexcept;
    void write_times() noexcept;

    Strand& owner_;
    const StepwiseKernel* kernel_ = nullptr;
    Command* command_ = nullptr;
    Command launch_;  // of the step that runs
    std::size_t next_ = 0;
    Begun begun_ = Begun::no;
    bool failed_ = false;
    std::uint32_t blamed_ = 0;  // the step that a failure is reported for
    Nanoseconds began_ = 0;     // the step that runs
    Nanoseconds first_began_ = 0;
    std::vector<canopyFusionProfileRecord> times_;
};

}  // namespace canopy
