// SPDX-License-Identifier: Apache-2.0
// The device interface for fused kernels: several kernels launched as one. Core decides which steps wait for which
// (src/core/fusion/fusion.h) and describes the result as a plan; a device makes a kernel from the plan. It is launched
// by the same command as any other kernel, with one argument block that contains those of its steps.
//
// Threads: plain values, no shared state. A plan is read only during Device::fuse.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "device/command.h"

namespace canopy {

struct Kernel;

enum class FusedAction : std::uint8_t {
    kernel,
    wait_word,   // waits until the 64-bit word has the value
    write_word,  // writes the value to the 64-bit word
    call,        // calls a short function of the runtime
};

// The result of a call step. Empty text: success; otherwise the launch fails as if `step` had failed.
struct FusedCallResult {
    std::uint32_t step = 0;  // FusedStep::number of the step to blame
    std::string text;
};
// Gets the address of the fused argument block of the launch. Runs inside a service, so it is not cancelled; once per
// launch.
using FusedCall = FusedCallResult (*)(void* context, DeviceAddress arguments);

// Slots are 8-byte words of the fused argument block, counted from 0.
inline constexpr std::uint32_t no_slot = UINT32_MAX;

// One of the kernels a step chooses from when it runs.
struct FusedChoice {
    std::uint64_t key = 0;
    const Kernel* kernel = nullptr;
};

struct FusedStep {
    FusedAction action = FusedAction::kernel;
    std::uint32_t number = 0;            // its index in the user's list, shown in failures
    const Kernel* kernel = nullptr;      // outlives the fused kernel
    std::uint32_t blocks = 1;            // the maximum, if the number is read from memory
    std::uint32_t dynamic_size = 0;      // bytes of dynamic local memory
    std::uint32_t arguments_offset = 0;  // of its argument block in the fused one; a multiple of 8
    std::uint32_t arguments_size = 0;    // bytes
    std::uint64_t timeout = 0;           // nanoseconds; 0: that of the launch, UINT64_MAX: none
    // Slots that hold the address of a 64-bit word; read when the step runs.
    std::uint32_t blocks_slot = no_slot;  // number of blocks, at most `blocks`
    std::uint32_t key_slot = no_slot;     // selects one of `choices`; an unknown key fails the step
    std::uint32_t word_slot = no_slot;    // of wait_word and write_word
    std::uint64_t value = 0;              // of wait_word and write_word
    FusedCall call = nullptr;             // of call
    void* call_context = nullptr;         // kept alive by the caller of Device::fuse
    std::vector<FusedChoice> choices;     // ordered by key
    bool timed = true;                    // the kernel's times are recorded if the plan has a profile slot
};

// A loop that does the work of several steps' kernels in one pass over memory.
using LoopFunction = void (*)(unsigned char* const* pointers, std::uint64_t count);

// The address in the fused argument block at `slot`, plus an offset.
struct LoopPointer {
    std::uint32_t slot = 0;
    std::uint64_t offset = 0;
};

// One call of a loop.
struct LoopPiece {
    std::uint32_t function = 0;       // index into FusedLoops::functions
    std::uint32_t first_pointer = 0;  // index into FusedLoops::pointers
    std::uint32_t pointer_count = 0;
    std::uint64_t count = 0;  // elements
    std::uint32_t step = 0;   // index of the first step whose work it does; for failures
};

// The pieces are independent: they may run in any order and at the same time.
struct FusedLoops {
    std::shared_ptr<const void> code;  // keeps the functions loaded
    std::vector<LoopFunction> functions;
    std::vector<LoopPiece> pieces;
    std::vector<LoopPointer> pointers;
};

inline constexpr std::uint64_t most_scratch = 192 * 1024;  // bytes of one part; fits into a second-level cache
inline constexpr std::uint32_t most_scratch_words = 64;    // in the arguments of a step that uses scratch
inline constexpr std::uint64_t address_looked_at = 512;    // kernels may depend on addresses modulo this

// A temporary in which each block of a part uses its own range and reads only what it has written itself. The device
// may instead give the same small memory to all blocks that a thread runs in turn, so that the data never leaves the
// cache.
struct FusedScratch {
    std::vector<std::uint32_t> slots;  // slots of the part's steps with addresses in the temporary
    std::uint64_t begin = 0;           // offset of block 0's range from the address in the first slot
    std::uint64_t stride = 0;          // from one block's range to the next one's
    std::uint64_t size = 0;            // bytes of the longest range
};

// Steps that run block by block: block b of a step depends only on block b of the earlier steps of the part. A thread
// runs all steps of a block before it takes the next block, so the data passed between steps stays in its cache. The
// kernel of a one-step part may wait (barriers, flags) like any kernel; steps of longer parts must not.
struct FusedPart {
    std::uint32_t first = 0;  // index into FusionPlan::steps
    std::uint32_t count = 1;
    std::vector<std::uint32_t> after;         // parts that must be complete before it begins; all earlier in the plan
    std::shared_ptr<const FusedLoops> loops;  // if set, run these instead of the kernels
    std::vector<FusedScratch> scratches;      // only for parts without loops
};

// Which code is prefetched before its step runs.
enum class Preload : std::uint8_t { none, next_step, all };

struct FusionPlan {
    std::string name;  // of the fused kernel
    std::vector<FusedStep> steps;
    std::vector<FusedPart> parts;  // every step is in exactly one
    std::uint32_t arguments_size = 0;
    // Slot of the address where kernel times are written (layout: canopy/fusion_profile.h); the next slot holds a
    // number.
    std::uint32_t profile_slot = no_slot;
    Preload preload = Preload::none;
};

}  // namespace canopy
