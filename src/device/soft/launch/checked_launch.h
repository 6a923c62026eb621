// SPDX-License-Identifier: Apache-2.0
// SoftCheckedLaunch: a launch whose kernel tells a checker what it does. Its blocks run a function that announces their
// core to the check and then calls the kernel; the table of functions that checking code calls finds the core again by
// the block that runs.
//
// Threads: made and ended by the owner of the strand, while no block runs; blocks use it from any thread.
#pragma once

#include <canopy/kernel_check.h>

#include <cstdint>
#include <memory>
#include <vector>

#include "base/spin_lock.h"
#include "check/launch_check.h"
#include "device/command.h"
#include "device/execution/executor.h"
#include "device/soft/code/kernel.h"
#include "device/soft/launch/checked_device.h"
#include "device/soft/launch/chip_cores.h"

namespace canopy {

class SoftCheckedLaunch {
public:
    // The table for `canopy_image_checker`.
    static const CanopyChecker& table() noexcept;

    // `kernel` has checking code. Throws if there is no memory.
    SoftCheckedLaunch(const SoftKernel& kernel, const LaunchWork& work, const ChipCores& cores,
                      const CheckedDevice& device);
    SoftCheckedLaunch(const SoftCheckedLaunch&) = delete;
    SoftCheckedLaunch& operator=(const SoftCheckedLaunch&) = delete;

    // To be launched in place of the other one.
    [[nodiscard]] const SoftKernel& kernel() const noexcept { return kernel_; }

    // All blocks have ended, or never will.
    struct Outcome {
        bool complete = false;  // every core has ended by itself
        std::vector<check::TouchedRange> touched;
    };
    Outcome end() noexcept;

private:
    struct Core {
        check::CoreCheck* check = nullptr;
        // Its local memories.
        std::uint64_t begin = 0, end = 0;
        bool ended = false;
    };
    struct Call;

    static void run_block(const void* arguments);
    void begin_block(Executor& executor);
    void end_block(const CanopyBlock& block) noexcept;
    void announce(std::uint32_t number, const CanopyBlock& block, const CanopyCore& core);
    void announce_group(std::uint32_t number, const CanopyBlock& block, const CanopyCore& core);
    [[nodiscard]] std::uint32_t number_of(const CanopyBlock& block) const noexcept;
    template <class Tell>
    static void tell(const Tell& what) noexcept;
    template <class Tell>
    void tell_core(const CanopyBlock& block, const Tell& what) noexcept;

    const CheckedDevice& device_;
    const CanopyKernelEntry entry_;  // of the kernel itself
    const std::uint32_t offset_;     // number of the first block
    SoftKernel kernel_;
    std::vector<Core> cores_;                    // by their number in the launch
    std::unique_ptr<check::LaunchCheck> check_;  // owns what `cores_` points at
    // Cores that reach each other's memories take turns to tell; one lock for each group. Null: they do not.
    std::unique_ptr<SpinLock[]> turns_;
};

}  // namespace canopy
