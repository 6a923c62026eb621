// SPDX-License-Identifier: Apache-2.0
// Makes a fused kernel from a plan.
#include "device/soft/launch/fused_kernel.h"

#include <algorithm>
#include <utility>

#include "base/error_text.h"
#include "device/execution/tuning.h"

namespace canopy {
namespace {

constexpr int bad_plan = 107000;
constexpr std::uint32_t most_parts = 1u << 16;

Status check_slot(std::uint32_t slot, std::uint32_t slots, const char* what) {
    if (slot == no_slot || slot < slots) return {};
    return fail(bad_plan, "slot {} of {} is outside an argument block of {} slots", slot, what, slots);
}

Status check_kernel(const Kernel* kernel) {
    if (!kernel) return fail(bad_plan, "a step of a fused kernel has no kernel");
    if (kernel->driver && kernel->driver->info().kind != "soft")
        return fail(bad_plan, "kernel {} was loaded by another kind of device", kernel->info->name);
    if (kernel->fused)
        return fail(bad_plan, "{} is a fused kernel and cannot be a step of another", kernel->info->name);
    if (kernel->info->core == CoreType::cpu)
        return fail(bad_plan, "{} runs on CPU cores and cannot be a step of a fused kernel", kernel->info->name);
    return {};
}

std::uint32_t blocks_of(const SoftStep& step) noexcept { return step.action == FusedAction::kernel ? step.blocks : 1; }

// Cuts the pieces into chunks large enough that the cost of claiming one is negligible.
Status cut(const FusedLoops& loops, std::uint32_t slots, std::size_t steps, std::vector<std::uint32_t>& chunks) {
    constexpr std::uint64_t element = 4;  // bytes; the size in most loops
    std::uint64_t bytes = 0;
    for (std::uint32_t index = 0; index < loops.pieces.size(); ++index) {
        const LoopPiece& piece = loops.pieces[index];
        if (piece.function >= loops.functions.size() || !loops.functions[piece.function] ||
            piece.first_pointer > loops.pointers.size() ||
            piece.pointer_count > loops.pointers.size() - piece.first_pointer ||
            piece.pointer_count > most_loop_pointers || piece.step >= steps)
            return fail(bad_plan,
                        "piece {} of the loops of a fused kernel has no function, no step or too many pointers", index);
        for (std::uint32_t i = 0; i < piece.pointer_count; ++i)
            CANOPY_TRY(check_slot(loops.pointers[piece.first_pointer + i].slot, slots, "a loop"));
        if (chunks.empty() || bytes >= tuning::loop_chunk_bytes) {
            chunks.push_back(index);
            bytes = 0;
        }
        bytes += piece.count * element * piece.pointer_count;
    }
    chunks.push_back(static_cast<std::uint32_t>(loops.pieces.size()));
    return {};
}

}  // namespace

const std::int64_t SoftFusedKernel::worth_sharing = tuning::time_worth_waking;

const SoftFusedKernel& SoftFusedKernel::latest(const Kernel& kernel) noexcept {
    const auto* fused = static_cast<const FusedKernel*>(&kernel);
    while (const FusedKernel* better = fused->replacement.load(std::memory_order_acquire)) fused = better;
    return *static_cast<const SoftFusedKernel*>(fused);
}

Result<std::unique_ptr<FusedKernel>> SoftFusedKernel::create(FusionPlan plan, const ChipCores& chip,
                                                             const Driver& driver) {
    auto kernel = std::make_unique<SoftFusedKernel>();
    kernel->owner = &driver;
    CANOPY_TRY(kernel->take(plan));
    kernel->count_cores(chip);
    kernel->describe(plan);
    kernel->known_ = KnownKernel(*kernel, kernel->own_info);
    return std::unique_ptr<FusedKernel>(std::move(kernel));
}

Status SoftFusedKernel::take(FusionPlan& plan) {
    if (plan.parts.empty() || plan.parts.size() > most_parts)
        return fail(bad_plan, "a fused kernel of {} parts", plan.parts.size());
    const std::uint32_t slots = plan.arguments_size / 8;
    for (FusedStep& step : plan.steps) CANOPY_TRY(take_step(step, slots));
    if (plan.profile_slot != no_slot) CANOPY_TRY(take_profile(plan.profile_slot, slots));
    preload = plan.preload;
    attended = timed || preload == Preload::next_step;
    std::vector<bool> used(steps.size());
    for (FusedPart& part : plan.parts) {
        if (part.count == 0 || part.first > steps.size() || part.count > steps.size() - part.first)
            return fail(bad_plan, "part {} of {} has steps that do not exist", place_.size(), plan.name);
        for (std::uint32_t step = part.first; step < part.first + part.count; ++step) {
            if (used[step]) return fail(bad_plan, "step {} of {} is in two parts", step, plan.name);
            used[step] = true;
        }
        for (const std::uint32_t before : part.after)
            if (before >= place_.size())
                return fail(bad_plan, "part {} of {} waits for a later one", place_.size(), plan.name);
        CANOPY_TRY(take_part(part));
        if (!part.loops) CANOPY_TRY(take_scratches(part, parts.back(), slots));
        if (part.loops) CANOPY_TRY(cut(*part.loops, slots, steps.size(), parts.back().chunks));
        if (part.loops) parts.back().items = static_cast<std::uint32_t>(parts.back().chunks.size() - 1);
    }
    if (std::find(used.begin(), used.end(), false) != used.end())
        return fail(bad_plan, "a step of {} is in no part", plan.name);
    connect();
    classify();
    return {};
}

// Adds a first part; parts that wait for nothing else wait for it.
Status SoftFusedKernel::take_profile(std::uint32_t slot, std::uint32_t slots) {
    if (slots < 2 || slot > slots - 2)
        return fail(bad_plan, "the slots of a profile are outside an argument block of {} slots", slots);
    timed = true;
    profile_slot = slot;
    SoftPart part;
    part.kind = PartKind::times;
    part.count = 0;
    parts.push_back(std::move(part));
    after_.emplace_back();
    return {};
}

Status SoftFusedKernel::take_step(FusedStep& from, std::uint32_t slots) {
    SoftStep step;
    step.action = from.action;
    step.number = from.number;
    step.timeout = from.timeout;
    step.arguments_offset = from.arguments_offset;
    step.words = from.arguments_size / 8;
    step.value = from.value;
    step.call = from.call;
    step.call_context = from.call_context;
    step.timed = from.timed && from.action == FusedAction::kernel;
    CANOPY_TRY(check_slot(from.word_slot, slots, "a word"));
    CANOPY_TRY(check_slot(from.blocks_slot, slots, "the blocks"));
    CANOPY_TRY(check_slot(from.key_slot, slots, "the key"));
    step.word_slot = from.word_slot;
    if (from.action == FusedAction::kernel) {
        if (from.choices.empty() || from.kernel) CANOPY_TRY(check_kernel(from.kernel));
        for (const FusedChoice& choice : from.choices) CANOPY_TRY(check_kernel(choice.kernel));
        if (from.choices.empty() != (from.key_slot == no_slot))
            return fail(bad_plan, "step {} has choices and no key, or a key and no choices", from.number);
        if (from.blocks == 0 || from.arguments_offset % 8 != 0 || from.arguments_offset / 8 > slots)
            return fail(bad_plan, "step {} has no blocks, or its arguments are outside the fused block", from.number);
        step.kernel = static_cast<const SoftKernel*>(from.kernel ? from.kernel : from.choices.front().kernel);
        step.entry = step.kernel->entry;
        step.core_type = step.kernel->core_type(step.kernel->group.cube != 0);
        step.blocks = from.blocks;
        step.dynamic_size = from.dynamic_size;
        step.blocks_slot = from.blocks_slot;
        step.key_slot = from.key_slot;
        step.chosen = from.blocks_slot != no_slot || from.key_slot != no_slot;
        step.choices = std::move(from.choices);
    } else if (from.action == FusedAction::call ? !from.call : from.word_slot == no_slot) {
        return fail(bad_plan, "step {} has nothing to do", from.number);
    }
    limits = limits || from.timeout != 0;
    steps.push_back(std::move(step));
    return {};
}

Status SoftFusedKernel::check_steps(const FusedPart& part) const {
    if (part.count == 1 && !part.loops) return {};
    for (std::uint32_t index = part.first; index < part.first + part.count; ++index) {
        const SoftStep& step = steps[index];
        bool alone = step.action == FusedAction::kernel && step.kernel->group.size() == 1;
        for (const FusedChoice& choice : step.choices)
            alone = alone && static_cast<const SoftKernel*>(choice.kernel)->group.size() == 1;
        if (alone || step.action == FusedAction::write_word) continue;
        return fail(bad_plan, "step {} needs a separate part", step.number);
    }
    return {};
}

Status SoftFusedKernel::take_scratches(const FusedPart& from, SoftPart& part, std::uint32_t slots) {
    std::uint64_t room = most_scratch;
    for (const FusedScratch& scratch : from.scratches) {
        if (scratch.slots.empty() || scratch.size > room)
            return fail(bad_plan,
                        "a scratch of {} bytes where {} bytes of scratch are left, or one that nothing points to",
                        scratch.size, room);
        room -= scratch.size;
        const auto number = static_cast<std::uint32_t>(part.scratches.size());
        for (const std::uint32_t slot : scratch.slots) {
            CANOPY_TRY(check_slot(slot, slots, "a scratch"));
            const auto owner = std::find_if(
                steps.begin() + part.first, steps.begin() + part.first + part.count, [&](const SoftStep& step) {
                    return slot >= step.arguments_offset / 8 && slot - step.arguments_offset / 8 < step.words;
                });
            if (owner == steps.begin() + part.first + part.count || owner->words > most_scratch_words ||
                owner->chosen || owner->arguments_offset / 8 + owner->words > slots)
                return fail(bad_plan, "slot {} belongs to no step of its part, or to one with too many words", slot);
            owner->moved.push_back({slot - owner->arguments_offset / 8, number});
        }
        // Leaves room for addresses to keep their value modulo address_looked_at, since kernels may depend on it.
        part.scratches.push_back({scratch.slots.front(), scratch.begin, scratch.stride, part.scratch_size});
        part.scratch_size += (scratch.size + 2 * address_looked_at - 1) / address_looked_at * address_looked_at;
    }
    return {};
}

// A part with run-time choices gets another part in front of it that makes them.
Status SoftFusedKernel::take_part(FusedPart& from) {
    CANOPY_TRY(check_steps(from));
    SoftPart part;
    part.first = from.first;
    part.count = from.count;
    part.items = 0;
    for (std::uint32_t step = from.first; step < from.first + from.count; ++step) {
        part.items = std::max(part.items, blocks_of(steps[step]));
        part.chosen = part.chosen || steps[step].chosen;
    }
    std::vector<std::uint32_t> after;
    for (const std::uint32_t before : from.after) after.push_back(place_[before]);
    if (timed && after.empty()) after.push_back(0);
    std::sort(after.begin(), after.end());
    after.erase(std::unique(after.begin(), after.end()), after.end());
    if (from.loops) {
        part.kind = PartKind::loops;
        part.chosen = false;
        part.loops = from.loops;
    } else if (part.chosen) {
        chooses = true;
        SoftPart chooser = part;
        chooser.kind = PartKind::choose;
        chooser.items = 1;
        chooser.chosen = false;
        chooser.target = static_cast<std::uint32_t>(parts.size() + 1);
        parts.push_back(std::move(chooser));
        after_.push_back(std::move(after));
        after = {static_cast<std::uint32_t>(parts.size() - 1)};
    }
    place_.push_back(static_cast<std::uint32_t>(parts.size()));
    parts.push_back(std::move(part));
    after_.push_back(std::move(after));
    return {};
}

void SoftFusedKernel::connect() {
    for (const std::vector<std::uint32_t>& after : after_)
        for (const std::uint32_t before : after) ++parts[before].successor_count;
    std::uint32_t total = 0;
    for (SoftPart& part : parts) {
        part.successors = total;
        total += std::exchange(part.successor_count, 0);
    }
    successors.resize(total);
    for (std::uint32_t index = 0; index < parts.size(); ++index) {
        parts[index].before = static_cast<std::uint32_t>(after_[index].size());
        for (const std::uint32_t before : after_[index])
            successors[parts[before].successors + parts[before].successor_count++] = index;
    }
}

// Parts come after those they wait for, so in a chain each waits for the one right before it. In a part of one step,
// the kernel's blocks may wait for each other.
void SoftFusedKernel::classify() {
    simple = linear = !timed;
    for (std::uint32_t index = 0; index < parts.size(); ++index) {
        const SoftPart& part = parts[index];
        linear =
            linear && part.items <= 1 && (index == 0 || (!after_[index].empty() && after_[index].back() == index - 1));
        simple = simple && (part.items <= 1 || part.count > 1 || part.kind == PartKind::loops);
        for (std::uint32_t step = part.first; simple && step < part.first + part.count; ++step) {
            simple = steps[step].action != FusedAction::wait_word;
            if (steps[step].action != FusedAction::kernel || part.loops) continue;
            simple = simple && steps[step].kernel->group.size() == 1;
            for (const FusedChoice& choice : steps[step].choices)
                simple = simple && static_cast<const SoftKernel*>(choice.kernel)->group.size() == 1;
        }
    }
    after_ = {};
    place_ = {};
    if (!linear || !simple) return;
    for (const SoftPart& part : parts) {
        for (std::uint32_t index = part.first; index < part.first + part.count; ++index) {
            const SoftStep& step = steps[index];
            if (part.kind != PartKind::steps || step.chosen || !step.entry) return plain.clear();
            plain.push_back(
                {step.entry, step.arguments_offset, step.dynamic_size, step.core_type, index, step.timeout});
        }
    }
}

// Takes as many cores as its largest step. Takes none if it may wait for a word: the writer of that word may need them.
void SoftFusedKernel::count_cores(const ChipCores& chip) {
    for (const SoftStep& step : steps)
        if (step.action == FusedAction::wait_word) return;
    const auto count = [&](const SoftKernel& kernel, std::uint32_t blocks) {
        const CoreNeed need = chip.cores_for(kernel, chip.resident_groups(kernel, blocks));
        cores[0] = std::max(cores[0], need.cube);
        cores[1] = std::max(cores[1], need.vector);
    };
    for (const SoftStep& step : steps) {
        if (step.action != FusedAction::kernel) continue;
        count(*step.kernel, step.blocks);
        for (const FusedChoice& choice : step.choices)
            count(*static_cast<const SoftKernel*>(choice.kernel), step.blocks);
    }
}

void SoftFusedKernel::describe(const FusionPlan& plan) {
    own_info.name = plan.name;
    own_info.arguments_size = plan.arguments_size;
    own_info.cube_ratio = 0;
    own_info.vector_ratio = 0;
    bool any = false, mixed = false;
    for (const SoftStep& step : steps) {
        if (step.action != FusedAction::kernel) continue;
        const KernelInfo& of_step = *step.kernel->info;
        mixed = mixed || (any && own_info.core != of_step.core);
        if (!any) own_info.core = of_step.core;
        any = true;
        own_info.code_size += of_step.code_size;
        own_info.cube_ratio = std::max(own_info.cube_ratio, static_cast<std::uint16_t>(step.kernel->group.cube));
        own_info.vector_ratio = std::max(own_info.vector_ratio, static_cast<std::uint16_t>(step.kernel->group.vector));
    }
    if (mixed) own_info.core = CoreType::mix;
    info = &own_info;
}

}  // namespace canopy
