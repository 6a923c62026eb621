// SPDX-License-Identifier: Apache-2.0
// The step times of a fused kernel, written to memory that the launch names (layout: canopy/fusion_profile.h). Used by
// launches of kernels that are profiled (launch_parts.cpp).
//
// Threads: `find` and begin_times run first, on one thread; run_timed then runs on all threads that run blocks, inside
// their guards.
#pragma once

#include <canopy/fusion_profile.h>

#include <cstdint>
#include <span>

#include "canopy/kernel_abi.h"
#include "device/driver.h"
#include "device/soft/launch/fused_kernel.h"

namespace canopy {

struct StepTimes {
    canopyFusionProfileHeader* header = nullptr;  // null: nothing is written
    canopyFusionProfileRecord* records = nullptr;
    std::uint64_t capacity = 0;
    std::uint64_t task = 0;
    std::uint64_t steps = 0;

    // Finds the destination from the slots of the argument block; nothing is written if that is not device memory.
    void find(const Driver& driver, const void* arguments, std::uint32_t slot, std::span<const SoftStep> all) noexcept;
};

// A measured kernel call.
struct TimedCall {
    CanopyKernelEntry entry = nullptr;
    const void* arguments = nullptr;
    StepTimes* times = nullptr;
    std::uint32_t step = 0;
    std::uint32_t block = 0;
    std::uint32_t core = 0;
};

// Have the signature of a kernel; run outside a service.
void begin_times(const void* step_times);
void run_timed(const void* timed_call);

}  // namespace canopy
