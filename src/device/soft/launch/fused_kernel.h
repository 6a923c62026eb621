// SPDX-License-Identifier: Apache-2.0
// SoftFusedKernel: a fusion plan prepared for the software NPU. Parts know how many others they wait for and which ones
// wait for them; a launch of the kernel keeps the counters (launch.h). Where a thread can run everything alone it does
// so without them (fused_steps.h).
//
// Threads: unchanged after it was made, but for estimates of time.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

#include "device/backend.h"
#include "device/soft/code/kernel.h"
#include "device/soft/launch/chip_cores.h"

namespace canopy {

inline constexpr std::uint32_t most_loop_pointers = 1024;

// A step, with what is needed to run it in front.
struct SoftStep {
    CanopyKernelEntry entry = nullptr;
    const SoftKernel* kernel = nullptr;
    std::uint32_t arguments_offset = 0;
    std::uint32_t blocks = 1;
    std::uint32_t dynamic_size = 0;
    std::uint32_t core_type = CANOPY_CORE_VECTOR;  // where the kernel runs on single cores
    std::uint64_t timeout = 0;
    FusedAction action = FusedAction::kernel;
    bool chosen = false;  // what it runs, or how many blocks, is read from memory
    bool timed = true;
    std::uint32_t number = 0;
    std::uint32_t blocks_slot = no_slot;
    std::uint32_t key_slot = no_slot;
    std::uint32_t word_slot = no_slot;
    std::uint64_t value = 0;
    FusedCall call = nullptr;
    void* call_context = nullptr;
    std::vector<FusedChoice> choices;
    // Words of its own arguments that a block gets as addresses in the scratch of that number; then all are copied.
    struct Moved {
        std::uint32_t word = 0;
        std::uint32_t scratch = 0;
    };
    std::vector<Moved> moved;
    std::uint32_t words = 0;
};

// FusedScratch, with a place in the memory that a thread keeps for such.
struct SoftScratch {
    std::uint32_t slot = 0;
    std::uint64_t begin = 0;
    std::uint64_t stride = 0;
    std::size_t place = 0;
};

// choose: reads what the steps of another part are to run, which follows it. times: begins the record of times, in
// front of all others.
enum class PartKind : std::uint8_t { steps, loops, choose, times };

struct SoftPart {
    PartKind kind = PartKind::steps;
    std::uint32_t first = 0;  // of its steps
    std::uint32_t count = 1;
    std::uint32_t items = 1;   // blocks, at most; chunks of loops
    std::uint32_t before = 0;  // parts it waits for
    std::uint32_t successors = 0;
    std::uint32_t successor_count = 0;
    std::uint32_t target = 0;  // choose: for which part
    bool chosen = false;       // one of its steps is
    std::shared_ptr<const FusedLoops> loops;
    std::vector<std::uint32_t> chunks;  // first pieces of its chunks, and the end
    std::vector<SoftScratch> scratches;
    std::size_t scratch_size = 0;  // of all of them
    // What an item took lately; a hint. Use through atomic_ref.
    mutable std::int64_t item_time = INT64_MAX;
};

// A step of one block, as short as it can be said.
struct PlainStep {
    CanopyKernelEntry entry = nullptr;
    std::uint32_t arguments_offset = 0;
    std::uint32_t dynamic_size = 0;
    std::uint32_t core_type = CANOPY_CORE_VECTOR;
    std::uint32_t step = 0;  // index of the whole step
    std::uint64_t timeout = 0;
};

// What a step whose choice is made at run time runs.
struct StepChoice {
    const SoftKernel* kernel = nullptr;
    std::uint32_t blocks = 0;
};

// A place in a launch of a fused kernel, as failures tell it.
struct FailedStep {
    std::uint32_t number = 0;
    const Kernel* kernel = nullptr;  // null: the step is not a kernel
    const Kernel* fused = nullptr;
};

class SoftFusedKernel final : public FusedKernel {
public:
    SoftFusedKernel() noexcept : FusedKernel(soft_kind) {}
    static Result<std::unique_ptr<FusedKernel>> create(FusionPlan plan, const ChipCores& chip, const Device& device);
    // What a launch that begins now runs.
    [[nodiscard]] static const SoftFusedKernel& latest(const Kernel& kernel) noexcept;

    // One thread should run it alone: nothing can wait inside, and there is nothing, or too little, to share.
    [[nodiscard]] bool sequential() const noexcept { return simple && (linear || is_short()); }
    [[nodiscard]] bool is_short() const noexcept {
        return std::atomic_ref(time).load(std::memory_order_relaxed) < worth_sharing;
    }
    // Whether a launch that begins now should be measured: the first ones, and some of the later ones.
    [[nodiscard]] bool measures() const noexcept {
        const std::uint32_t before = std::atomic_ref(launches).load(std::memory_order_relaxed);
        std::atomic_ref(launches).store(before + 1, std::memory_order_relaxed);
        return before % launches_per_measurement == 1 || before < 4;
    }
    void has_taken(Nanoseconds taken) const noexcept { std::atomic_ref(time).store(taken, std::memory_order_relaxed); }

    std::vector<SoftStep> steps;
    std::vector<SoftPart> parts;  // a part follows those it waits for
    std::vector<std::uint32_t> successors;
    std::vector<PlainStep> plain;     // where all steps are such, in their order; else empty
    std::uint32_t cores[2] = {0, 0};  // cube and vector cores it takes
    bool simple = false;              // no item waits for another one of its part
    bool linear = false;              // no two items could run at the same time
    bool limits = false;              // some step has its own time limit
    bool chooses = false;             // some step's choice is made at run time
    bool attended = false;            // something goes with every call of a step: one of the next two
    bool timed = false;               // times of its kernels are written, to where the slot says
    Preload preload = Preload::none;
    std::uint32_t profile_slot = no_slot;
    const Device* device = nullptr;  // whose memory that is
    // Hints; use through atomic_ref.
    mutable std::int64_t time = INT64_MAX;  // what a launch took lately
    mutable std::uint32_t launches = 0;
    mutable bool stubborn = false;  // its blocks have been found waiting for others without saying so

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
    std::vector<std::uint32_t> place_;  // by part of the plan: its index here
    std::vector<std::vector<std::uint32_t>> after_;
};

}  // namespace canopy
