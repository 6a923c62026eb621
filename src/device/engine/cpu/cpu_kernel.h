// SPDX-License-Identifier: Apache-2.0
// CpuKernel: a function of a shared object that a device's CPU cores can run.
#pragma once

#include <atomic>
#include <cstdint>

#include "device/device.h"
#include "device/execution/cpu_tuning.h"
#include "foundation/clock.h"

namespace canopy {

// Second parameter of a function named RunCpuKernelWithBlock, after its arguments.
struct CpuBlock {
    std::uint32_t count;
    std::uint32_t index;
};

struct alignas(64) CpuKernel : Kernel {
    void* function = nullptr;
    bool with_block = false;          // takes a CpuBlock as well
    std::uint64_t process_image = 0;  // number of its image in the process that runs it

    // Recent time of a block: a hint.
    mutable std::atomic<Nanoseconds> block_time{INT64_MAX};
    mutable std::atomic<std::uint32_t> runs{0};
    // It has called a function of the runtime that may wait, so its time says nothing about the next run.
    mutable std::atomic<bool> may_wait{false};
    [[nodiscard]] bool is_short() const noexcept {
        return block_time.load(std::memory_order_relaxed) < tuning::cpu_kernel_inline_time &&
               !may_wait.load(std::memory_order_relaxed);
    }
    // Called before each run: true if the run should be timed. Short kernels are timed now and then.
    [[nodiscard]] bool is_measured_now() const noexcept {
        const std::uint32_t before = runs.load(std::memory_order_relaxed);
        runs.store(before + 1, std::memory_order_relaxed);
        return before % tuning::cpu_kernel_runs_per_measurement == 0 || !is_short();
    }
};

}  // namespace canopy
