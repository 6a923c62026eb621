// SPDX-License-Identifier: Apache-2.0
// SoftFusedKernel: a fusion plan prepared for the software NPU. Each part records how many parts it waits for and which
// ones wait for it; a launch of the kernel keeps the counters (launch.h). If one thread can run everything alone, it
// does so without counters (fused_steps.h).
//
// Threads: immutable once made, except for hints such as time estimates.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

#include "device/driver.h"
#include "device/execution/kernel_names.h"
#include "device/soft/code/kernel.h"
#include "device/soft/launch/chip_cores.h"

namespace canopy {

inline constexpr std::uint32_t most_loop_pointers = 1024;

// A step; the fields needed to run it come first.
struct SoftStep {
    CanopyKernelEntry entry = nullptr;
    const SoftKernel* kernel = nullptr;
    std::uint32_t arguments_offset = 0;
    std::uint32_t blocks = 1;
    std::uint32_t dynamic_size = 0;
    std::uint32_t core_type = CANOPY_CORE_VECTOR;  // if the kernel runs on single cores
    std::uint64_t timeout = 0;
    FusedAction action = FusedAction::kernel;
    bool chosen = false;  // its kernel or its number of blocks is read from memory
    bool timed = true;
    std::uint32_t number = 0;
    std::uint32_t blocks_slot = no_slot;
    std::uint32_t key_slot = no_slot;
    std::uint32_t word_slot = no_slot;
    std::uint64_t value = 0;
    FusedCall call = nullptr;
    void* call_context = nullptr;
    std::vector<FusedChoice> choices;
    // Argument words that each block gets as addresses in the scratch of that number. If there are any, the arguments
    // are copied.
    struct Moved {
        std::uint32_t word = 0;
        std::uint32_t scratch = 0;
    };
    std::vector<Moved> moved;
    std::uint32_t words = 0;
};

// A FusedScratch, with its offset in a fiber's scratch memory.
struct SoftScratch {
    std::uint32_t slot = 0;
    std::uint64_t begin = 0;
    std::uint64_t stride = 0;
    std::size_t place = 0;
};

// choose: reads what the steps of the part after it are to run. times: begins the record of step times, before all
// other parts.
enum class PartKind : std::uint8_t { steps, loops, choose, times };

struct SoftPart {
    PartKind kind = PartKind::steps;
    std::uint32_t first = 0;  // of its steps
    std::uint32_t count = 1;
    std::uint32_t items = 1;   // blocks (at most), or chunks of loops
    std::uint32_t before = 0;  // number of parts it waits for
    std::uint32_t successors = 0;
    std::uint32_t successor_count = 0;
    std::uint32_t target = 0;  // choose: the part it chooses for
    bool chosen = false;       // one of its steps is `chosen`
    std::shared_ptr<const FusedLoops> loops;
    std::vector<std::uint32_t> chunks;  // first piece of each chunk, then the end
    std::vector<SoftScratch> scratches;
    std::size_t scratch_size = 0;  // of all scratches
    // Recent time per item; a hint. Access through atomic_ref.
    mutable std::int64_t item_time = INT64_MAX;
};

// A step of one block in compact form.
struct PlainStep {
    CanopyKernelEntry entry = nullptr;
    std::uint32_t arguments_offset = 0;
    std::uint32_t dynamic_size = 0;
    std::uint32_t core_type = CANOPY_CORE_VECTOR;
    std::uint32_t step = 0;  // index of the full step
    std::uint64_t timeout = 0;
};

// The kernel and number of blocks that a step chose at run time.
struct StepChoice {
    const SoftKernel* kernel = nullptr;
    std::uint32_t blocks = 0;
};

class SoftFusedKernel final : public FusedKernel {
public:
    static Result<std::unique_ptr<FusedKernel>> create(FusionPlan plan, const ChipCores& chip, const Driver& driver);
    // The kernel that a launch runs if it begins now.
    [[nodiscard]] static const SoftFusedKernel& latest(const Kernel& kernel) noexcept;

    // True if one thread should run it alone: nothing can wait inside, and there is nothing, or too little, to share.
    [[nodiscard]] bool sequential() const noexcept { return simple && (linear || is_short()); }
    [[nodiscard]] bool is_short() const noexcept {
        return std::atomic_ref(time).load(std::memory_order_relaxed) < worth_sharing;
    }
    // True if a launch that begins now should be measured: the first ones and some of the later ones.
    [[nodiscard]] bool measures() const noexcept {
        const std::uint32_t before = std::atomic_ref(launches).load(std::memory_order_relaxed);
        std::atomic_ref(launches).store(before + 1, std::memory_order_relaxed);
        return before % launches_per_measurement == 1 || before < 4;
    }
    void has_taken(Nanoseconds taken) const noexcept { std::atomic_ref(time).store(taken, std::memory_order_relaxed); }

    std::vector<SoftStep> steps;
    std::vector<SoftPart> parts;  // each after the parts it waits for
    std::vector<std::uint32_t> successors;
    std::vector<PlainStep> plain;     // all steps in order, if each can be one; else empty
    std::uint32_t cores[2] = {0, 0};  // cube and vector cores it takes
    bool simple = false;              // no item waits for another item of its part
    bool linear = false;              // no two items could run at the same time
    bool limits = false;              // some step has its own time limit
    bool chooses = false;             // some step's choice is made at run time
    bool attended = false;            // step calls need extra work: timing or preloading
    bool timed = false;               // kernel times are written to the address in profile_slot
    Preload preload = Preload::none;
    std::uint32_t profile_slot = no_slot;
    const Driver* owner = nullptr;  // of that memory
    // Hints; access through atomic_ref.
    mutable std::int64_t time = INT64_MAX;  // recent time of a launch
    mutable std::uint32_t launches = 0;
    mutable bool stubborn = false;  // its blocks were found polling for each other

private:
    static const std::int64_t worth_sharing;
    static constexpr std::uint32_t launches_per_measurement = 16;
    Status take(FusionPlan& plan);
    Status take_step(FusedStep& step, std::uint32_t slots);
    Status take_profile(std::uint32_t slot, std::uint32_t slots);
    Status take_part(FusedPart& part);
    Status check_steps(const FusedPart& part) const;
    Status take_scratches(const FusedPart& from, SoftPart& part, std::uint32_t slots);
    void connect();
    void classify();
    void count_cores(const ChipCores& chip);
    void describe(const FusionPlan& plan);
    std::vector<std::uint32_t> place_;  // by part of the plan: its index in `parts`
    std::vector<std::vector<std::uint32_t>> after_;
    KnownKernel known_;
};

}  // namespace canopy
