// SPDX-License-Identifier: Apache-2.0
#include "device/soft/launch/checked_launch.h"

#include <canopy/kernel_image.h>

#include <algorithm>
#include <array>
#include <utility>

#include "device/soft/code/checking_code.h"
#include "device/soft/launch/launch.h"

namespace canopy {
namespace {

// From this architecture on, cores of a group reach each other's memories.
constexpr std::uint32_t first_with_partners = 3510;

check::LaunchFacts facts_of(const SoftKernel& kernel, const LaunchWork& work, const ChipCores& cores,
                            const CheckedDevice& device) {
    check::LaunchFacts facts;
    facts.kernel = kernel.info->name;
    facts.device = device.index;
    facts.architecture = device.chip.architecture;
    facts.blocks = work.blocks;
    facts.vector_cores = kernel.group.vector;
    facts.cube_cores = kernel.group.cube;
    facts.mix = kernel.info->core == CoreType::mix || kernel.info->core == CoreType::aicore;
    facts.autosync = kernel.checking->autosync;
    facts.cores_of_chip = cores.resident_groups(kernel, UINT32_MAX);
    facts.allocation = [&device](std::uint64_t address) { return device.allocation(address); };
    facts.written = &device.written();
    facts.line = [code = kernel.checking](const void* instruction) { return code->line(instruction); };
    return facts;
}

std::uint32_t groups_of(const LaunchWork& work) noexcept { return work.single ? 1 : work.blocks; }

}  // namespace

SoftCheckedLaunch::SoftCheckedLaunch(const SoftKernel& kernel, const LaunchWork& work, const ChipCores& cores,
                                     const CheckedDevice& device)
    : device_(device),
      entry_(kernel.entry),
      offset_(work.block_offset + (work.single ? work.single_block : 0u)),
      kernel_(kernel),
      cores_(std::size_t{groups_of(work)} * kernel.group.size()),
      check_(make_launch_check(facts_of(kernel, work, cores, device), device.launch_checker.options(),
                               device.launch_checker.sink())) {
    kernel_.entry = &run_block;
    kernel_.checked = this;
    if (kernel.group.size() > 1 && device.chip.architecture >= first_with_partners)
        turns_ = std::make_unique<SpinLock[]>(groups_of(work));
}

SoftCheckedLaunch::Outcome SoftCheckedLaunch::end() noexcept {
    Outcome outcome{true, {}};
    try {
        for (std::size_t number = 0; number < cores_.size(); ++number) {
            const Core& core = cores_[number];
            if (core.ended) continue;
            const auto group = static_cast<std::uint32_t>(number / kernel_.group.size());
            outcome.complete = outcome.complete && !device_.launch_checker.wants_block(offset_ + group);
            if (core.check) core.check->end(false);
        }
        outcome.touched = check_->end();
    } catch (...) {  // out of memory: what was found so far stays
    }
    return outcome;
}

std::uint32_t SoftCheckedLaunch::number_of(const CanopyBlock& block) const noexcept {
    const CoreGroup group = kernel_.group;
    const bool cube = block.core_type == CANOPY_CORE_CUBE;
    return (block.index - offset_) * group.size() + (cube ? block.sub_index : group.cube + block.sub_index);
}

// ---- blocks --------------------------------------------------------------------------------------------------------

// Has the signature of a kernel.
CANOPY_MAY_BE_LEFT void SoftCheckedLaunch::run_block(const void* arguments) {
    Executor* executor = Executor::existing();
    executor->enter_service();
    SoftCheckedLaunch& launch = *static_cast<const SoftKernel*>(executor->kernel())->checked;
    launch.begin_block(*executor);
    executor->leave_service();
    launch.entry_(arguments);
    // It may be another thread now.
    executor = Executor::existing();
    executor->enter_service();
    launch.end_block(*executor->block);
    executor->leave_service();
}

void SoftCheckedLaunch::begin_block(Executor& executor) {
    CanopyBlock& block = *executor.block;
    if (!device_.launch_checker.wants_block(block.index)) return;
    CanopyCore* const core = Launch::open_core(device_.chip.architecture);
    if (!core) executor.fail(FaultKind::memory, "no memory for the local memories of a core");
    block.core = core;
    const std::uint32_t number = number_of(block);
    try {
        if (turns_)
            announce_group(number, block, *core);
        else
            announce(number, block, *core);
    } catch (...) {
        cores_[number].check = nullptr;
    }
    block.core = nullptr;  // the kernel opens the same core, if it needs one
}

void SoftCheckedLaunch::announce(std::uint32_t number, const CanopyBlock& block, const CanopyCore& core) {
    check::CoreFacts facts;
    facts.block = block.index;
    facts.sub_index = block.sub_index;
    facts.cube = block.core_type == CANOPY_CORE_CUBE;
    Core& own = cores_[number];
    own.begin = UINT64_MAX;
    for (std::size_t memory = 0; memory < CANOPY_MEMORY_COUNT; ++memory) {
        const auto base = reinterpret_cast<std::uint64_t>(core.memory[memory].base);
        const std::uint64_t size = core.memory[memory].size;
        if (size == 0) continue;
        facts.memory[memory] = {base, size};
        own.begin = std::min(own.begin, base);
        own.end = std::max(own.end, base + size);
    }
    own.check = &check_->core(facts);
}

// The first block of a group that begins announces all its cores, since it may write into the others' memories before
// their blocks begin.
void SoftCheckedLaunch::announce_group(std::uint32_t number, const CanopyBlock& block, const CanopyCore& core) {
    const CoreGroup group = kernel_.group;
    const std::uint32_t size = group.size(), first = number - number % size;
    std::array<const CanopyCore*, std::size_t{2} * CANOPY_IMAGE_MAX_RATIO> members;
    for (std::uint32_t position = 0; position < size; ++position) {
        const bool cube = position < group.cube;
        members[position] = first + position == number ? &core
                                                       : Launch::partner(cube ? CANOPY_CORE_CUBE : CANOPY_CORE_VECTOR,
                                                                         cube ? position : position - group.cube);
    }
    SpinGuard guard(turns_[number / size]);
    if (cores_[number].check) return;
    for (std::uint32_t position = 0; position < size; ++position) {
        const bool cube = position < group.cube;
        CanopyBlock member = block;
        member.core_type = kernel_.core_type(cube);
        member.sub_index = cube ? position : position - group.cube;
        if (members[position]) announce(first + position, member, *members[position]);
    }
}

void SoftCheckedLaunch::end_block(const CanopyBlock& block) noexcept {
    tell_core(block, [](Core& core) {
        core.ended = true;
        core.check->end(true);
    });
}

// ---- the table -----------------------------------------------------------------------------------------------------

template <class Tell>
void SoftCheckedLaunch::tell_core(const CanopyBlock& block, const Tell& what) noexcept {
    const std::uint32_t number = number_of(block);
    Core& core = cores_[number];
    if (!core.check) return;
    SpinLock* const turn = turns_ ? &turns_[number / kernel_.group.size()] : nullptr;
    if (turn) turn->lock();
    try {
        what(core);
    } catch (...) {  // out of memory: this is not checked
    }
    if (turn) turn->unlock();
}

// Blocks that are not checked tell in vain.
template <class Tell>
CANOPY_MAY_BE_LEFT void SoftCheckedLaunch::tell(const Tell& what) noexcept {
    Executor* executor = Executor::existing();
    executor->enter_service();
    const auto* kernel = static_cast<const SoftKernel*>(executor->kernel());
    if (kernel->checked) kernel->checked->tell_core(*executor->block, what);
    executor->leave_service();
}

struct SoftCheckedLaunch::Call {
    static void operation(const CanopyCheckOperation* operation) {
        tell([&](Core& core) { core.check->operation(*operation); });
    }
    static void flag(std::uint32_t set, std::uint32_t from, std::uint32_t to, std::int32_t id,
                     const CanopyCheckSite* site) {
        tell([&](Core& core) { core.check->flag(set != 0, from, to, id, *site); });
    }
    static void barrier(std::uint32_t pipe, const CanopyCheckSite* site) {
        tell([&](Core& core) { core.check->barrier(pipe, *site); });
    }
    static void data_barrier(std::uint32_t kind, const CanopyCheckSite* site) {
        tell([&](Core& core) { core.check->data_barrier(kind, *site); });
    }
    static void buffer(const CanopyCheckBuffer* buffer) {
        tell([&](Core& core) { core.check->buffer(*buffer); });
    }
    static void event_id(std::uint32_t event, std::uint32_t from, std::uint32_t to, std::int32_t id,
                         const CanopyCheckSite* site) {
        tell([&](Core& core) { core.check->event_id(event, from, to, id, *site); });
    }
    static void mutex(std::uint32_t lock, std::uint32_t pipe, std::uint32_t id, const CanopyCheckSite* site) {
        tell([&](Core& core) { core.check->mutex(lock != 0, pipe, id, *site); });
    }
    static void core_flag(std::uint32_t set, std::uint32_t mode, std::uint32_t pipe, std::uint32_t id,
                          const CanopyCheckSite* site) {
        tell([&](Core& core) { core.check->core_flag(set != 0, mode, pipe, id, *site); });
    }
    static void meet(std::uint32_t kind, std::uint32_t scope, std::uint32_t begin, std::uint32_t trigger,
                     std::uint32_t wait, const CanopyCheckSite* site) {
        tell([&](Core& core) { core.check->meet(kind, scope, begin != 0, trigger, wait, *site); });
    }
    static void word(std::uint32_t event, const void* address, const CanopyCheckSite* site) {
        tell([&](Core& core) { core.check->word(event, address, *site); });
    }
    static void cache(std::uint32_t event, const void* address, const CanopyCheckSite* site) {
        tell([&](Core& core) { core.check->cache(event, address, *site); });
    }
    static void region(std::uint32_t kind, std::uint32_t begin, const CanopyCheckOperation* operation) {
        tell([&](Core& core) { core.check->region(kind, begin != 0, operation); });
    }
    static void not_modelled(const char* what, const CanopyCheckSite* site) {
        tell([&](Core& core) { core.check->not_modelled(what, *site); });
    }
    static void misuse(const char* id, const char* text, const CanopyCheckSite* site) {
        tell([&](Core& core) { core.check->misuse(id, text, *site); });
    }
    // Most raw accesses are to the stack.
    static void raw(const void* address, std::uint32_t bytes, std::uint32_t kind, const void* instruction) {
        const auto number = reinterpret_cast<std::uint64_t>(address);
        Executor* executor = Executor::existing();
        const auto* kernel = static_cast<const SoftKernel*>(executor->kernel());
        if (!kernel->checked) return;
        const SoftCheckedLaunch& launch = *kernel->checked;
        const Core& own = launch.cores_[launch.number_of(*executor->block)];
        if ((number < own.begin || number >= own.end) && !launch.device_.is_global(number)) return;
        tell([&](Core& core) { core.check->raw(address, bytes, kind, instruction); });
    }
    static void order(std::uint32_t from, std::uint32_t to, const CanopyCheckSite* site) {
        tell([&](Core& core) { core.check->order(from, to, *site); });
    }

    static constexpr CanopyChecker table = {
        sizeof(CanopyChecker),
        0,
        &operation,
        &flag,
        &barrier,
        &data_barrier,
        &buffer,
        &event_id,
        &mutex,
        &core_flag,
        &meet,
        &word,
        &cache,
        &region,
        &not_modelled,
        &misuse,
        &raw,
        &order,
    };
};

const CanopyChecker& SoftCheckedLaunch::table() noexcept { return Call::table; }

}  // namespace canopy
