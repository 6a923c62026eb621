// SPDX-License-Identifier: Apache-2.0
#include "device/soft/launch/fused_steps.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>

#include "record/recorder.h"

namespace canopy {

CANOPY_MAY_BE_LEFT void write_word(const void* word_step) {
    const auto& word = *static_cast<const WordStep*>(word_step);
    __atomic_store_n(word.address, word.value, __ATOMIC_RELEASE);
}

Scratch::~Scratch() { std::free(memory_); }

std::byte* Scratch::of_size(std::size_t size) noexcept {
    if (size <= size_) return memory_;
    constexpr std::size_t page = 4096;
    const std::size_t whole = (size + page - 1) / page * page;
    auto* const made = static_cast<std::byte*>(std::aligned_alloc(page, whole));
    if (!made) return nullptr;
    std::free(memory_);
    memory_ = made;
    size_ = whole;
    return memory_;
}

CANOPY_MAY_BE_LEFT void run_chunk(const void* data) {
    auto& chunk = *static_cast<LoopChunk*>(const_cast<void*>(data));
    const auto* slots = static_cast<unsigned char* const*>(chunk.arguments);
    unsigned char* pointers[most_loop_pointers];
    for (; chunk.piece != chunk.end; ++chunk.piece) {
        const LoopPiece& piece = chunk.pieces[chunk.piece];
        for (std::uint32_t i = 0; i < piece.pointer_count; ++i) {
            const LoopPointer& pointer = chunk.pointers[piece.first_pointer + i];
            pointers[i] = slots[pointer.slot] + pointer.offset;
        }
        chunk.functions[piece.function](pointers, piece.count);
    }
}

CANOPY_MAY_BE_LEFT std::uint64_t* word_in_slot(const void* arguments, std::uint32_t slot) noexcept {
    return static_cast<std::uint64_t* const*>(arguments)[slot];
}

StepChoice choose(Executor& executor, const SoftStep& step, const void* arguments) noexcept {
    StepChoice choice{step.kernel, step.blocks};
    if (step.blocks_slot != no_slot) {
        const std::uint64_t asked = __atomic_load_n(word_in_slot(arguments, step.blocks_slot), __ATOMIC_ACQUIRE);
        choice.blocks = static_cast<std::uint32_t>(std::min<std::uint64_t>(asked, step.blocks));
    }
    if (step.key_slot != no_slot) {
        const std::uint64_t key = __atomic_load_n(word_in_slot(arguments, step.key_slot), __ATOMIC_ACQUIRE);
        const auto found = std::lower_bound(step.choices.begin(), step.choices.end(), key,
                                            [](const FusedChoice& one, std::uint64_t k) { return one.key < k; });
        if (found == step.choices.end() || found->key != key) {
            char text[96];
            std::snprintf(text, sizeof text, "there is no kernel for the key %llu",
                          static_cast<unsigned long long>(key));
            executor.fail(FaultKind::exception, text);
        }
        choice.kernel = static_cast<const SoftKernel*>(found->kernel);
    }
    return choice;
}

void make_call(Executor& executor, const SoftStep& step, const void* arguments, std::uint32_t& number) noexcept {
    char text[1024];
    {
        const FusedCallResult result = step.call(step.call_context, device_address(arguments));
        if (result.text.empty()) return;
        number = result.step;
        text[result.text.copy(text, sizeof text - 1)] = '\0';
    }
    executor.fail(FaultKind::exception, text);
}

// ---- one thread alone ----------------------------------------------------------------------------------------------

FailedStep FusedSequence::failed() const noexcept {
    if (plain) {
        const SoftStep& failed = kernel->steps[plain->step];
        return {failed.number, failed.kernel, kernel};
    }
    if (part && part->kind == PartKind::loops) {
        const SoftStep& first = kernel->steps[chunk.first_step()];
        return {first.number, first.kernel, kernel};
    }
    return {number, running, kernel};
}

void begin_step_records(FusedSequence& sequence, std::uint64_t link) noexcept {
    record::prepare_thread();
    sequence.link = link;
    sequence.step_began = ticks();
}

namespace {

// A step has ended for one block, and the next one begins. Inside a service.
[[gnu::cold, gnu::noinline]] void end_step_record(FusedSequence& at, std::uint32_t number, const Kernel* kernel,
                                                  std::uint32_t block) noexcept {
    const Ticks end = ticks();
    if (!kernel) kernel = at.kernel;
    profile::Record record{};
    record.begin = at.step_began;
    record.duration = record::duration_between(at.step_began, end);
    record.kind = static_cast<std::uint64_t>(profile::Kind::step);
    record.name = record::kept_name_number(kernel->record_name, kernel->info->name);
    record.object = number;
    record.argument = block;
    record.link = at.link;
    record::write_if_prepared(record);
    at.step_began = end;
}

// Prepares a step that is not a kernel with fixed blocks. Returns the entry to call, or nullptr if nothing is left to
// do.
CanopyKernelEntry prepare(Executor& executor, FusedSequence& at, WordStep& word, const void*& argument,
                          CanopyBlock& block) {
    const SoftStep& step = *at.step;
    if (step.action != FusedAction::kernel && at.block != 0) return nullptr;
    if (step.action == FusedAction::write_word) {
        word = {word_in_slot(at.arguments, step.word_slot), step.value};
        argument = &word;
        return &write_word;
    }
    if (step.action == FusedAction::call) {
        make_call(executor, step, at.arguments, at.number);
        return nullptr;
    }
    const StepChoice choice = choose(executor, step, at.arguments);
    if (at.block >= choice.blocks) return nullptr;
    block.count = choice.blocks;
    at.running = choice.kernel;
    block.core_type = choice.kernel->core_type(choice.kernel->group.cube != 0);
    return choice.kernel->entry;
}

// Runs the steps of a part for one block.
CANOPY_MAY_BE_LEFT void run_steps_of(Executor& executor, CanopyBlock& block, FusedSequence& at) {
    const SoftStep* step = at.kernel->steps.data() + at.part->first;
    WordStep word;
    for (const SoftStep* const end = step + at.part->count; step != end; ++step) {
        if (at.block >= step->blocks) continue;
        at.step = step;
        at.running = step->kernel;
        at.number = step->number;
        CanopyKernelEntry entry = step->entry;
        const void* argument = static_cast<const char*>(at.arguments) + step->arguments_offset;
        block.count = step->blocks;
        block.core_type = step->core_type;
        block.dynamic_size = step->dynamic_size;
        block.core = nullptr;
        executor.begin_step(step->timeout ? step->timeout : at.default_timeout);
        if (step->chosen || !entry) {
            entry = prepare(executor, at, word, argument, block);
            if (!entry) continue;
        }
        executor.leave_service();
        entry(argument);
        executor.enter_service();
        if (at.step_began != 0) [[unlikely]]
            end_step_record(at, step->number, at.running, at.block);
    }
}

CANOPY_MAY_BE_LEFT void run_plain(Executor& executor, CanopyBlock& block, FusedSequence& at) {
    const PlainStep* step = at.kernel->plain.data();
    const PlainStep* const end = step + at.kernel->plain.size();
    const auto* arguments = static_cast<const char*>(at.arguments);
    block.index = 0;
    block.count = 1;
    for (; step != end; ++step) {
        at.plain = step;
        block.core_type = step->core_type;
        block.dynamic_size = step->dynamic_size;
        block.core = nullptr;
        executor.begin_step(step->timeout ? step->timeout : at.default_timeout);
        executor.leave_service();
        step->entry(arguments + step->arguments_offset);
        executor.enter_service();
        if (at.step_began != 0) [[unlikely]]
            end_step_record(at, at.kernel->steps[step->step].number, at.kernel->steps[step->step].kernel, 0);
    }
}

CANOPY_MAY_BE_LEFT void run_loops_of(Executor& executor, FusedSequence& at) {
    const SoftPart& part = *at.part;
    const std::uint32_t end = part.chunks.data()[part.items];
    at.chunk = LoopChunk(*part.loops, at.arguments, 0, end);
    if (end == 0) return;
    executor.begin_step(at.default_timeout);
    executor.leave_service();
    const SoftStep& first = at.kernel->steps[at.chunk.first_step()];
    run_chunk(&at.chunk);
    executor.enter_service();
    if (at.step_began != 0) [[unlikely]]
        end_step_record(at, first.number, first.kernel, 0);
}

}  // namespace

namespace {

struct GuardedSequence {
    Executor& executor;
    FusedSequence& sequence;
    CanopyBlock block{};
};

CANOPY_MAY_BE_LEFT void run_guarded_sequence(void* data) {
    auto& guarded = *static_cast<GuardedSequence*>(data);
    run_sequence(guarded.executor, guarded.block, guarded.sequence);
}

}  // namespace

Fiber::Exit run_sequence_guarded(Executor& executor, FusedSequence& sequence, Fault& fault) noexcept {
    GuardedSequence guarded{executor, sequence};
    guarded.block.sub_count = 1;
    return executor.run_steps(nullptr, &run_guarded_sequence, &guarded, guarded.block, fault);
}

CANOPY_MAY_BE_LEFT void run_sequence(Executor& executor, CanopyBlock& block, FusedSequence& sequence) {
    const SoftFusedKernel& kernel = *sequence.kernel;
    if (!kernel.plain.empty()) return run_plain(executor, block, sequence);
    sequence.plain = nullptr;
    const bool measured = !kernel.linear && kernel.measures();
    const Nanoseconds begin = measured ? now() : 0;
    const SoftPart* part = kernel.parts.data();
    for (const SoftPart* const end = part + kernel.parts.size(); part != end; ++part) {
        sequence.part = part;
        sequence.block = 0;
        if (part->kind == PartKind::loops)
            run_loops_of(executor, sequence);
        else if (part->kind == PartKind::steps)
            do {
                block.index = sequence.block;
                run_steps_of(executor, block, sequence);
            } while (++sequence.block < part->items);
    }
    block.count = 1;
    if (measured) kernel.has_taken(now() - begin);
}

}  // namespace canopy
