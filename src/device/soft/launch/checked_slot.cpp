// SPDX-License-Identifier: Apache-2.0
#include "device/soft/launch/checked_slot.h"

#include "device/engine/stream/strand.h"
#include "device/soft/code/checking_code.h"

namespace canopy {

Step SoftCheckedSlot::run(Worker& worker, Command& command, std::uint64_t sequence) noexcept {
    if (!begun_) begin(command);
    begun_ = true;
    // Once it is left, another thread may run the slot.
    if (slot_.run(worker, launch_ ? command_ : command, sequence) == Step::left) return Step::left;
    begun_ = false;
    if (launch_) finish(command);
    return Step::done;
}

void SoftCheckedSlot::begin(const Command& command) noexcept {
    const auto& kernel = static_cast<const SoftKernel&>(*command.launch.kernel);
    LaunchChecker& checker = device_.launch_checker;
    if (kernel.built_in != 0 || !checker.wants(kernel.info->name)) return;
    if (!kernel.checking->missing.empty()) return checker.not_checked(kernel.info->name, kernel.checking->missing);
    try {
        launch_.emplace(kernel, command.launch, budget_.cores(), device_);
        command_ = command;
        command_.launch.kernel = &launch_->kernel();
    } catch (...) {
        checker.not_checked(kernel.info->name, "there is no memory for its check");
    }
}

void SoftCheckedSlot::finish(const Command& command) noexcept {
    SoftCheckedLaunch::Outcome outcome = launch_->end();
    const bool fails = device_.launch_checker.launch_ended(
        {command.launch.kernel->info->name, device_.index, owner_.place_of(command)}, std::move(outcome.touched));
    launch_.reset();
    if (fails && outcome.complete)
        owner_.report(command, {.kind = FaultKind::exception}, 0, "its check has found an error");
}

void SoftCheckedSlot::drop() noexcept {
    slot_.drop();
    begun_ = false;
    if (!launch_) return;
    launch_->end();
    launch_.reset();
}

}  // namespace canopy
