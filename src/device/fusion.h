// SPDX-License-Identifier: Apache-2.0
// Fused kernels at the waist: several kernels that are launched as one. Core decides what must wait for what
// (src/core/fusion/fusion.h) and describes it as a plan; a device makes a kernel of it, which is launched by the same
// command as any other, with one argument block that holds those of its steps.
//
// Threads: values without hidden state. A plan is read during Device::fuse only.
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
    wait_word,   // until the 64-bit word has the value
    write_word,  // the value into the 64-bit word
    call,        // a short function of the runtime
};

// What a call step found out: empty text, all is well; otherwise the launch fails as if that step had.
struct FusedCallResult {
    std::uint32_t step = 0;  // FusedStep::number of the one to blame
    std::string text;
};
// Gets the fused argument block of the launch. Runs outside of the guard that catches faults, once for each launch.
using FusedCall = FusedCallResult (*)(void* context, const std::byte* arguments);

// Slots are 8-byte words of the fused argument block, counted from 0.
inline constexpr std::uint32_t no_slot = UINT32_MAX;

// One of the kernels a step chooses from when it runs.
struct FusedChoice {
    std::uint64_t key = 0;
    const Kernel* kernel = nullptr;
};

struct FusedStep {
    FusedAction action = FusedAction::kernel;
    std::uint32_t number = 0;            // what failures call it: its place in the list the user gave
    const Kernel* kernel = nullptr;      // outlives the fused one
    std::uint32_t blocks = 1;            // at most, where they are read from memory
    std::uint32_t dynamic_size = 0;      // bytes of dynamic local memory
    std::uint32_t arguments_offset = 0;  // of its own block inside the fused one; a multiple of 8
    std::uint32_t arguments_size = 0;    // bytes
    std::uint64_t timeout = 0;           // nanoseconds; 0: that of the launch, UINT64_MAX: none
    // Places in the fused block that hold the address of a 64-bit word, read when the step runs.
    std::uint32_t blocks_slot = no_slot;  // how many blocks; more than `blocks` count as `blocks`
    std::uint32_t key_slot = no_slot;     // which of `choices`; a key that is not among them fails the step
    std::uint32_t word_slot = no_slot;    // of wait_word and write_word
    std::uint64_t value = 0;              // of wait_word and write_word
    FusedCall call = nullptr;             // of call
    void* call_context = nullptr;         // kept alive by the caller of Device::fuse
    std::vector<FusedChoice> choices;     // ordered by key
    bool timed = true;                    // a kernel whose times are written where the plan has a place for them
};

// Loops that do what the kernels of some steps do, in one pass over memory.
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
    std::uint32_t step = 0;   // index of the first of the steps it does the work of; for failures
};

// The pieces depend on nothing of each other and may run in any order, at the same time.
struct FusedLoops {
    std::shared_ptr<const void> code;  // keeps the functions loaded
    std::vector<LoopFunction> functions;
    std::vector<LoopPiece> pieces;
    std::vector<LoopPointer> pointers;
};

inline constexpr std::uint64_t most_scratch = 192 * 1024;  // bytes of one part; fits into a second-level cache
inline constexpr std::uint32_t most_scratch_words = 64;    // of the arguments of a step that uses one
inline constexpr std::uint64_t address_looked_at = 512;    // kernels may look at addresses modulo this

// A temporary of which each block of a part touches a range of its own, and reads there only what it has written
// itself. The device may give the blocks that a thread runs one after the other the same small memory instead: what
// they hand on never leaves the cache.
struct FusedScratch {
    std::vector<std::uint32_t> slots;  // of steps of the part: addresses in the temporary
    std::uint64_t begin = 0;           // from the address in the first of them to the range of block 0
    std::uint64_t stride = 0;          // from the range of a block to that of the next one
    std::uint64_t size = 0;            // bytes of the longest range
};

// Steps that follow each other block by block: block b of a step needs of the steps before it in the part nothing but
// their blocks b. A thread runs all steps of a block before it takes another block, so what they hand on stays in its
// cache. A part of one step may wait inside (meetings, flags) like any kernel; steps of longer parts must not.
struct FusedPart {
    std::uint32_t first = 0;  // index into FusionPlan::steps
    std::uint32_t count = 1;
    std::vector<std::uint32_t> after;         // parts that must be complete before it begins; all earlier in the plan
    std::shared_ptr<const FusedLoops> loops;  // not null: run these instead of the kernels
    std::vector<FusedScratch> scratches;      // of parts without loops
};

// Code that is prefetched before its step runs.
enum class Preload : std::uint8_t { none, next_step, all };

struct FusionPlan {
    std::string name;  // of the fused kernel
    std::vector<FusedStep> steps;
    std::vector<FusedPart> parts;  // every step lies in exactly one
    std::uint32_t arguments_size = 0;
    // The address where the times of its kernels go (canopy/fusion_profile.h has the layout), and a number in the next
    // slot.
    std::uint32_t profile_slot = no_slot;
    Preload preload = Preload::none;
};

}  // namespace canopy
