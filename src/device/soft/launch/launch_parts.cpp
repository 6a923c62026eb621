// SPDX-License-Identifier: Apache-2.0
// Launches of fused kernels: opening parts once those before them are complete, and running their items.
#include <algorithm>
#include <bit>
#include <cstring>
#include <new>
#include <span>

#include "base/spin_lock.h"
#include "device/execution/tuning.h"
#include "device/opaque_pointer.h"
#include "device/soft/launch/launch.h"

namespace canopy {
namespace {

constexpr std::uint32_t word_bits = 64;
std::uint32_t words_for(std::uint32_t parts) noexcept { return (parts + word_bits - 1) / word_bits; }

// Prefetches the beginning of the code of a step's kernel.
void prefetch_code(const SoftStep& step) noexcept {
    constexpr std::uint32_t bytes = 2048, line = 64;
    const auto* code = reinterpret_cast<const char*>(step.entry);
    if (!code) return;
    for (std::uint32_t at = 0; at < bytes; at += line) __builtin_prefetch(code + at, 0, 2);
}

// Has the signature of a kernel; runs outside a service.
CANOPY_MAY_BE_LEFT void wait_for_word(const void* word_step) {
    const auto& word = *static_cast<const WordStep*>(word_step);
    for (std::uint32_t round = 0;; ++round) {
        for (std::uint32_t look = 0; look < tuning::word_looks; ++look) {
            if (__atomic_load_n(word.address, __ATOMIC_ACQUIRE) == word.value) return;
            cpu_relax();
        }
        Executor::existing()->enter_service();
        Launch::wait_a_moment(round);
        Executor::existing()->leave_service();
    }
}

}  // namespace

bool Launch::make_room(const SoftFusedKernel& kernel) noexcept {
    const auto parts = static_cast<std::uint32_t>(kernel.parts.size());
    const std::uint32_t steps = kernel.chooses ? static_cast<std::uint32_t>(kernel.steps.size()) : 0;
    if (parts > room_parts_) {
        std::unique_ptr<LaunchPart[]> room(new (std::nothrow) LaunchPart[parts]);
        std::unique_ptr<std::atomic<std::uint64_t>[]> open(new (std::nothrow)
                                                               std::atomic<std::uint64_t>[words_for(parts)]);
        if (!room || !open) return false;
        room_ = std::move(room);
        open_ = std::move(open);
        room_parts_ = parts;
    }
    if (steps > room_steps_) {
        std::unique_ptr<StepChoice[]> choices(new (std::nothrow) StepChoice[steps]);
        if (!choices) return false;
        choices_ = std::move(choices);
        room_steps_ = steps;
    }
    return true;
}

bool Launch::begin(const SoftFusedKernel& kernel, const LaunchWork& work, const ChipCores& cores,
                   std::uint64_t sequence, std::uint64_t timeout) noexcept {
    if (!make_room(kernel)) return false;
    reset(opaque_pointer(work.arguments()), sequence, timeout);
    fused_ = &kernel;
    cores_ = &cores;
    measured_from_ = kernel.measures() ? now() : 0;
    parts_ = room_.get();
    part_count_ = static_cast<std::uint32_t>(kernel.parts.size());
    parts_left_.store(part_count_, std::memory_order_relaxed);
    for (std::uint32_t word = 0; word < words_for(part_count_); ++word) open_[word].store(0, std::memory_order_relaxed);
    for (std::uint32_t index = 0; index < part_count_; ++index) {
        LaunchPart& part = parts_[index];
        part.reset();
        part.plan = &kernel.parts[index];
        part.offset = 0;
        part.missing.store(part.plan->before, std::memory_order_relaxed);
        if (!part.plan->chosen) size(part);
    }
    if (kernel.preload == Preload::all && !kernel.is_short())
        std::for_each(kernel.steps.begin(), kernel.steps.end(), prefetch_code);
    Opened opened;
    for (LaunchPart& part : std::span(parts_, part_count_))
        if (part.plan->before == 0) open(part, opened);
    unlisted_.store(kernel.is_short() && !std::atomic_ref(kernel.stubborn).load(std::memory_order_relaxed),
                    std::memory_order_relaxed);
    return true;
}

// Sets how many items the part has, and which cores it uses.
void Launch::size(LaunchPart& part) noexcept {
    const SoftPart& plan = *part.plan;
    const SoftStep& step = fused_->steps[plan.first];
    const SoftKernel* kernel = step.kernel;
    std::uint32_t blocks = plan.items;
    if (plan.chosen) {
        kernel = choices_[plan.first].kernel;
        blocks = 0;
        for (std::uint32_t index = plan.first; index < plan.first + plan.count; ++index)
            blocks =
                std::max(blocks, fused_->steps[index].chosen ? choices_[index].blocks : fused_->steps[index].blocks);
    }
    part.groups = part.shown_groups = part.cores = part.resident_limit = blocks;
    part.group = {0, 1};
    if (plan.kind != PartKind::steps || plan.count != 1 || step.action != FusedAction::kernel) return;
    part.kernel = kernel;
    part.arguments = static_cast<const char*>(arguments_) + step.arguments_offset;
    part.dynamic_size = step.dynamic_size;
    part.timeout = step.timeout ? step.timeout : timeout_;
    part.group = kernel->group;
    part.cores = blocks * kernel->group.size();
    part.resident_limit = cores_->resident_groups(*kernel, blocks) * kernel->group.size();
}

// ---- the order of parts --------------------------------------------------------------------------------------------

void Launch::list() noexcept {
    std::atomic_ref(fused_ ? fused_->stubborn : only_.kernel->stubborn).store(true, std::memory_order_relaxed);
    unlisted_.store(false, std::memory_order_relaxed);
}

void Launch::open(LaunchPart& part, Opened& opened) noexcept {
    if (part.plan->chosen) size(part);
    if (part.cores == 0) return complete(part, opened);
    if (measured_from_ != 0 || timeout_ != 0 || fused_->limits) part.began = now();
    const auto index = static_cast<std::uint32_t>(&part - parts_);
    // Publishes what has been set above; pairs with the loads in claim_other and any_claimable.
    open_[index / word_bits].fetch_or(std::uint64_t{1} << index % word_bits, std::memory_order_acq_rel);
    opened.items += part.cores;
    opened.hands += worth_waking(part.cores + std::uint64_t{1},
                                 std::atomic_ref(part.plan->item_time).load(std::memory_order_relaxed));
}

void Launch::complete(LaunchPart& part, Opened& opened) noexcept {
    measure(part);
    const std::uint32_t* next = fused_->successors.data() + part.plan->successors;
    for (std::uint32_t i = 0; i < part.plan->successor_count; ++i) {
        LaunchPart& successor = parts_[next[i]];
        if (successor.missing.fetch_sub(1, std::memory_order_acq_rel) == 1) open(successor, opened);
    }
    if (parts_left_.fetch_sub(1, std::memory_order_acq_rel) == 1 && measured_from_ != 0)
        fused_->has_taken(now() - measured_from_);
}

void Launch::measure(const LaunchPart& part) noexcept {
    if (measured_from_ == 0 || part.cores < 2) return;
    std::atomic_ref(part.plan->item_time).store((now() - part.began) / part.cores, std::memory_order_relaxed);
}

void Launch::close(const LaunchPart& part) noexcept {
    const auto index = static_cast<std::uint32_t>(&part - parts_);
    open_[index / word_bits].fetch_and(~(std::uint64_t{1} << index % word_bits), std::memory_order_acq_rel);
}

bool Launch::any_claimable() const noexcept {
    for (std::uint32_t word = 0; word < words_for(part_count_); ++word)
        for (std::uint64_t open = open_[word].load(std::memory_order_acquire); open != 0; open &= open - 1)
            if (parts_[word * word_bits + std::countr_zero(open)].claimable()) return true;
    return false;
}

bool Launch::claim_other(LaunchPart*& part, std::uint32_t& number) noexcept {
    for (std::uint32_t word = 0; word < words_for(part_count_); ++word) {
        for (std::uint64_t open = open_[word].load(std::memory_order_acquire); open != 0; open &= open - 1) {
            LaunchPart& other = parts_[word * word_bits + std::countr_zero(open)];
            if (!other.claim(number)) continue;
            part = &other;
            if (number + 1 == other.cores) close(other);
            return true;
        }
    }
    return false;
}

// ---- items ---------------------------------------------------------------------------------------------------------

bool Launch::next_fused_call(BlockFiber& fiber) noexcept {
    const SoftPart& plan = *fiber.part->plan;
    if (!fiber.begun) {
        fiber.begun = true;
        fiber.step = plan.first;
        // Out of memory: temporaries stay where they are, for all steps.
        fiber.scratch_used = plan.scratch_size == 0 ? nullptr : fiber.scratch.of_size(plan.scratch_size);
        if (plan.kind == PartKind::loops) return prepare_chunk(fiber);
        if (plan.kind == PartKind::choose) make_choices(fiber);
        if (plan.kind == PartKind::times) return prepare_times(fiber);
    }
    if (plan.kind != PartKind::steps) return false;
    while (fiber.step < plan.first + plan.count) {
        const SoftStep& step = fused_->steps[fiber.step++];
        if (!prepare_step(fiber, step)) continue;
        if (fused_->attended) attend(fiber, step);
        return true;
    }
    return false;
}

// Extra work for a call. Block 0 prefetches the code of the next step in the plan, except in short kernels, where that
// costs more than it saves.
void Launch::attend(BlockFiber& fiber, const SoftStep& step) noexcept {
    if (fused_->timed) time(fiber, step);
    if (fused_->preload == Preload::next_step && fiber.number == 0 && fiber.step < fused_->steps.size() && !unlisted())
        prefetch_code(fused_->steps[fiber.step]);
}

bool Launch::prepare_times(BlockFiber& fiber) noexcept {
    times_.find(*fused_->owner, arguments_, fused_->profile_slot, fused_->steps);
    if (!times_.header) return false;
    fiber.place = {0, nullptr, fused_};
    fiber.timeout = timeout_;
    fiber.block = {0, 1, 0, 1, CANOPY_CORE_VECTOR, 0, &fiber, nullptr, 1};
    fiber.entry = &begin_times;
    fiber.arguments = &times_;
    return true;
}

// The part that begins the record is complete, so its writes are visible here.
void Launch::time(BlockFiber& fiber, const SoftStep& step) noexcept {
    if (!times_.header || !step.timed) return;
    const std::uint32_t cores = fiber.part->group.size();
    fiber.timed = {fiber.entry, fiber.arguments, &times_, step.number, fiber.block.index, fiber.number % cores};
    fiber.entry = &run_timed;
    fiber.arguments = &fiber.timed;
}

// False: the step has nothing to do for this block, or is already done.
bool Launch::prepare_step(BlockFiber& fiber, const SoftStep& step) noexcept {
    const LaunchPart& part = *fiber.part;
    fiber.place = {step.number, step.kernel, fused_};
    fiber.timeout = step.timeout ? step.timeout : timeout_;
    if (step.action == FusedAction::kernel) {
        const SoftKernel* kernel = step.chosen ? choices_[&step - fused_->steps.data()].kernel : step.kernel;
        fiber.place.kernel = kernel;
        if (part.plan->count == 1) {
            identify(fiber);
            return true;
        }
        const std::uint32_t blocks = step.chosen ? choices_[&step - fused_->steps.data()].blocks : step.blocks;
        if (fiber.number >= blocks) return false;
        const bool cube = kernel->group.cube != 0;
        fiber.block = {fiber.number,        blocks, 0, 1, kernel->core_type(cube), step.dynamic_size, &fiber, nullptr,
                       kernel->group.vector};
        fiber.entry = kernel->entry;
        fiber.arguments = static_cast<const char*>(arguments_) + step.arguments_offset;
        if (fiber.scratch_used && !step.moved.empty()) move_arguments(fiber, step);
        return true;
    }
    if (fiber.number != 0) return false;
    fiber.block = {0, 1, 0, 1, CANOPY_CORE_VECTOR, 0, &fiber, nullptr, 1};
    if (step.action == FusedAction::call) {
        make_call(*Executor::existing(), step, arguments_, fiber.place.number);
        return false;
    }
    fiber.word = {word_in_slot(arguments_, step.word_slot), step.value};
    fiber.entry = step.action == FusedAction::wait_word ? &wait_for_word : &write_word;
    fiber.arguments = &fiber.word;
    return true;
}

// Points the arguments at the block's temporaries in the scratch memory of its fiber.
void Launch::move_arguments(BlockFiber& fiber, const SoftStep& step) noexcept {
    const SoftPart& plan = *fiber.part->plan;
    std::memcpy(fiber.moved, fiber.arguments, step.words * sizeof fiber.moved[0]);
    for (const SoftStep::Moved& moved : step.moved) {
        const SoftScratch& place = plan.scratches[moved.scratch];
        const std::uint64_t range =
            static_cast<const std::uint64_t*>(arguments_)[place.slot] + place.begin + fiber.number * place.stride;
        const auto target =
            reinterpret_cast<std::uintptr_t>(fiber.scratch_used + place.place) + range % address_looked_at;
        fiber.moved[moved.word] += target - range;
    }
    fiber.arguments = fiber.moved;
}

bool Launch::prepare_chunk(BlockFiber& fiber) noexcept {
    const SoftPart& plan = *fiber.part->plan;
    const std::uint32_t first = plan.chunks[fiber.number], end = plan.chunks[fiber.number + 1];
    const SoftStep& step = fused_->steps[plan.first];
    fiber.place = {step.number, step.kernel, fused_};
    fiber.timeout = timeout_;
    fiber.block = {fiber.number, fiber.part->cores, 0, 1, CANOPY_CORE_VECTOR, 0, &fiber, nullptr, 1};
    fiber.chunk = LoopChunk(*plan.loops, arguments_, first, end);
    fiber.entry = &run_chunk;
    fiber.arguments = &fiber.chunk;
    return first != end;
}

void Launch::make_choices(BlockFiber& fiber) noexcept {
    const SoftPart& plan = *fiber.part->plan;
    fiber.block = {0, 1, 0, 1, CANOPY_CORE_VECTOR, 0, &fiber, nullptr, 1};
    for (std::uint32_t index = plan.first; index < plan.first + plan.count; ++index) {
        const SoftStep& step = fused_->steps[index];
        if (!step.chosen) continue;
        fiber.place = {step.number, step.kernel, fused_};
        choices_[index] = choose(*Executor::existing(), step, arguments_);
    }
}

}  // namespace canopy
