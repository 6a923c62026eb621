// SPDX-License-Identifier: Apache-2.0
// The steps of fused kernels that are not kernels, and the code to run a whole fused kernel on one thread.
//
// Threads: everything here except run_sequence_guarded runs inside the guard of the calling thread's executor.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/ticks.h"
#include "device/command.h"
#include "device/execution/executor.h"
#include "device/soft/launch/fused_kernel.h"

namespace canopy {

struct WordStep {
    std::uint64_t* address = nullptr;
    std::uint64_t value = 0;
};
// Has the signature of a kernel; runs outside a service.
void write_word(const void* word_step);

// Memory for the temporaries of the blocks that a fiber runs in turn; grows on demand and never shrinks.
class Scratch {
public:
    Scratch() = default;
    ~Scratch();
    Scratch(const Scratch&) = delete;
    Scratch& operator=(const Scratch&) = delete;
    std::byte* of_size(std::size_t size) noexcept;  // nullptr: no memory

private:
    std::byte* memory_ = nullptr;
    std::size_t size_ = 0;
};

// A range of loop pieces.
struct LoopChunk {
    const LoopPiece* pieces = nullptr;
    const LoopPointer* pointers = nullptr;
    const LoopFunction* functions = nullptr;
    const void* arguments = nullptr;
    std::uint32_t piece = 0;  // the one that runs now
    std::uint32_t end = 0;

    LoopChunk() = default;
    LoopChunk(const FusedLoops& loops, const void* block, std::uint32_t first, std::uint32_t last) noexcept
        : pieces(loops.pieces.data()),
          pointers(loops.pointers.data()),
          functions(loops.functions.data()),
          arguments(block),
          piece(first),
          end(last) {}
    // The first of the steps whose work the current piece does.
    [[nodiscard]] std::uint32_t first_step() const noexcept { return piece < end ? pieces[piece].step : 0; }
};
void run_chunk(const void* chunk);  // a LoopChunk, which it modifies

// The address of a word, read from its slot.
[[nodiscard]] std::uint64_t* word_in_slot(const void* arguments, std::uint32_t slot) noexcept;
// Reads what the step is to run. If there is no such choice, fails the step and does not return.
StepChoice choose(Executor& executor, const SoftStep& step, const void* arguments) noexcept;
// Makes the step's call. If the call reports an error, fails the step and does not return; `number` is then the step to
// blame.
void make_call(Executor& executor, const SoftStep& step, const void* arguments, std::uint32_t& number) noexcept;

// A launch of a fused kernel that one thread runs alone.
struct FusedSequence {
    const SoftFusedKernel* kernel = nullptr;
    const void* arguments = nullptr;
    std::uint64_t default_timeout = 0;
    // Its current position.
    const PlainStep* plain = nullptr;
    const SoftPart* part = nullptr;
    std::uint32_t block = 0;
    const SoftStep* step = nullptr;
    const SoftKernel* running = nullptr;
    std::uint32_t number = 0;
    LoopChunk chunk;
    // For records of its steps.
    Ticks step_began = 0;  // 0: not recorded
    std::uint64_t link = 0;

    [[nodiscard]] FailedStep failed() const noexcept;
    [[nodiscard]] std::uint32_t failed_block() const noexcept {
        return part && part->kind == PartKind::steps ? block : 0;
    }
};
// Its steps are recorded, as those of that task. Before code that may be left.
void begin_step_records(FusedSequence& sequence, std::uint64_t link) noexcept;
// Called inside the guard and a service. `block` is the executor's.
void run_sequence(Executor& executor, CanopyBlock& block, FusedSequence& sequence);
// The same with a guard around it.
Fiber::Exit run_sequence_guarded(Executor& executor, FusedSequence& sequence, Fault& fault) noexcept;

}  // namespace canopy
