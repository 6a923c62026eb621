// SPDX-License-Identifier: Apache-2.0
// Shared objects with kernels for a device's CPU cores. The same bytes loaded twice are one mapping that goes with its
// last user; different ones are kept apart whatever names they export. Devices do not share mappings: each has the
// variables of its images to itself.
//
// Threads: everything may be called from any thread; a module must outlive every launch of its kernels.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/result.h"
#include "device/backend.h"
#include "device/soft/base/cpu_tuning.h"
#include "foundation/hash.h"

namespace canopy {

class CpuImage;
class CpuProcess;

// What a function called RunCpuKernelWithBlock gets beside its arguments.
struct CpuBlock {
    std::uint32_t count;
    std::uint32_t index;
};

struct alignas(64) CpuKernel : Kernel {
    void* function = nullptr;
    bool with_block = false;          // takes a CpuBlock as well
    std::uint64_t process_image = 0;  // number of its image in the process that runs it

    // What a block took lately: a hint, written by whoever ran one.
    mutable std::atomic<Nanoseconds> block_time{INT64_MAX};
    mutable std::atomic<std::uint32_t> runs{0};
    [[nodiscard]] bool is_short() const noexcept {
        return block_time.load(std::memory_order_relaxed) < tuning::cpu_kernel_inline_time;
    }
    // Before a run: whether its time is to be taken. That of short ones is taken now and then.
    [[nodiscard]] bool is_measured_now() const noexcept {
        const std::uint32_t before = runs.load(std::memory_order_relaxed);
        runs.store(before + 1, std::memory_order_relaxed);
        return before % tuning::cpu_kernel_runs_per_measurement == 0 || !is_short();
    }
};

// The images of one device.
class CpuImages {
public:
    // process: where their code runs; nullptr: in this one.
    explicit CpuImages(CpuProcess* process = nullptr) noexcept : process_(process) {}

    // 107000 for what is no shared object for this processor, or what the dynamic loader refuses, with its reason.
    Result<std::unique_ptr<Module>> load(std::span<const std::byte> image, std::string_view name);

private:
    CpuProcess* const process_;
    std::mutex mutex_;
    std::map<ContentKey, std::weak_ptr<CpuImage>> images_;
};

}  // namespace canopy
