// SPDX-License-Identifier: Apache-2.0
// The services that blocks call on their launch: barriers, flags, yielding, and the cores they run on.
#include <sched.h>
#include <unistd.h>

#include <cstdio>

#include "device/execution/threads.h"
#include "device/execution/tuning.h"
#include "device/soft/launch/launch.h"

namespace canopy {
namespace {

BlockFiber* fiber_of(const CanopyBlock& block) noexcept { return static_cast<BlockFiber*>(block.launch); }

CoreGroup group_of_one(const CanopyBlock& block) noexcept {
    return block.core_type == CANOPY_CORE_CUBE ? CoreGroup{1, 0} : CoreGroup{0, 1};
}

void suspend_for(Executor& executor, const CoreWait& wait) noexcept {
    fiber_of(*executor.block)->wait = wait;
    executor.fiber->suspend();  // the caller of the fiber parks it
}

// The calling block's executor. Fails in a SIMT thread, which must not leave its operating-system thread.
Executor& executor_of_block(const char* what) noexcept {
    Executor& executor = *Executor::existing();
    if (executor.in_thread()) [[unlikely]] {
        char text[128];
        std::snprintf(text, sizeof text, "%s was called from a SIMT thread", what);
        executor.fail(FaultKind::trap, text);
    }
    return executor;
}

void check_flag(Executor& executor, const char* what, std::uint32_t mode, std::uint32_t id) noexcept {
    if (flag_exists(executor.block->core_type == CANOPY_CORE_CUBE, mode, id)) [[likely]]
        return;
    char text[128];
    std::snprintf(text, sizeof text, "%s: there is no flag %u of mode %u", what, id, mode);
    executor.fail(FaultKind::trap, text);
}

constexpr const char* set_name = "CrossCoreSetFlag";
constexpr const char* wait_name = "CrossCoreWaitFlag";

}  // namespace

void Launch::sync(std::uint32_t scope) noexcept {
    Executor& executor = executor_of_block("SyncAll");
    const CanopyBlock& block = *executor.block;
    const BlockFiber* fiber = fiber_of(block);
    const CoreGroup group = fiber ? fiber->part->group : group_of_one(block);
    const bool cube = block.core_type == CANOPY_CORE_CUBE;
    // AICORE cores are both kinds; if all cores are of one kind, a barrier of that kind is a barrier of all.
    if (scope != CANOPY_SYNC_PAIR && (block.core_type == CANOPY_CORE_AICORE || group.cube == 0 || group.vector == 0))
        scope = CANOPY_SYNC_ALL;
    if ((scope == CANOPY_SYNC_VECTOR || scope == CANOPY_SYNC_PAIR) && cube && group.vector != 0)
        executor.fail(FaultKind::trap, "a cube core cannot take part in a barrier of the vector cores");
    if (scope == CANOPY_SYNC_CUBE && !cube)
        executor.fail(FaultKind::trap, "a vector core cannot take part in a barrier of the cube cores");
    if (scope > CANOPY_SYNC_PAIR) executor.fail(FaultKind::trap, "a barrier of an unknown set of cores");
    const bool alone = !fiber || (scope == CANOPY_SYNC_PAIR ? group.vector <= 1 : fiber->part->expected(scope) == 1);
    if (!alone) {
        if (scope == CANOPY_SYNC_PAIR) fiber->launch->prepare_flags(*fiber->part, executor);
        suspend_for(executor, {WaitKind::meeting, static_cast<std::uint8_t>(scope), 0, 0});
    }
}

void Launch::yield() noexcept {
    Executor& executor = *Executor::existing();
    if (executor.in_thread()) return static_cast<SimtThreads*>(executor.threads())->yield();
    const BlockFiber* fiber = fiber_of(*executor.block);
    // No other block needs the thread. A block of a launch that is being stopped suspends instead, so that it does not
    // continue.
    if (!fiber || (!fiber->launch->has_work() && !fiber->launch->cancelled())) {
        sched_yield();
        return;
    }
    suspend_for(executor, {WaitKind::yielded, 0, 0, 0});
}

// Waits for something outside the launch: a thread that no other block needs sleeps between polls.
void Launch::wait_a_moment(std::uint32_t round) noexcept {
    Executor& executor = *Executor::existing();
    const BlockFiber* fiber = fiber_of(*executor.block);
    if (fiber && (fiber->launch->has_work() || fiber->launch->cancelled()))
        suspend_for(executor, {WaitKind::yielded, 0, 0, 0});
    else if (round < tuning::word_rounds)
        sched_yield();
    else
        usleep(tuning::word_sleep / microsecond);  // ends early when the block is cancelled
}

void Launch::set_flag(std::uint32_t mode, std::uint32_t id) noexcept {
    Executor& executor = executor_of_block(set_name);
    check_flag(executor, set_name, mode, id);
    const CanopyBlock& block = *executor.block;
    bool room = false;
    if (const BlockFiber* fiber = fiber_of(block)) {
        fiber->launch->prepare_flags(*fiber->part, executor);
        room = fiber->launch->set(*fiber->part, fiber->number, mode, id);
    } else {
        ParkedCores nobody;
        room = executor.own_flags(group_of_one(block)).set(0, mode, id, nobody);
    }
    if (!room) {
        char text[160];
        std::snprintf(text, sizeof text, "%s: flag %u of mode %u is already set %u times and no core has waited for it",
                      set_name, id, mode, CANOPY_FLAG_LIMIT);
        executor.fail(FaultKind::trap, text);
    }
}

void Launch::wait_flag(std::uint32_t mode, std::uint32_t id) noexcept {
    Executor& executor = executor_of_block(wait_name);
    check_flag(executor, wait_name, mode, id);
    const CanopyBlock& block = *executor.block;
    const CoreWait wait{WaitKind::flag, 0, static_cast<std::uint8_t>(mode), static_cast<std::uint8_t>(id)};
    if (const BlockFiber* fiber = fiber_of(block)) {
        fiber->launch->prepare_flags(*fiber->part, executor);
        if (!fiber->launch->take(*fiber->part, fiber->number, mode, id)) suspend_for(executor, wait);
    } else if (!executor.own_flags(group_of_one(block)).take(0, mode, id)) {
        char text[160];
        std::snprintf(text, sizeof text, "%s of flag %u can never complete: the block is the only one of its launch",
                      wait_name, id);
        executor.fail(FaultKind::timeout, text);
    }
}

// ---- cores ---------------------------------------------------------------------------------------------------------

CanopyCore* Launch::open_core(std::uint32_t architecture) noexcept {
    Executor& executor = *Executor::existing();
    BlockFiber* fiber = fiber_of(*executor.block);
    if (!fiber) return canopy::open_core(executor.own_core, architecture);
    if (!fiber->core) fiber->core = fiber->launch->fibers_.take_core(architecture);
    // Cores of earlier chips do not reach each other's memories.
    if (!fiber->in_group || architecture < 3510) [[likely]]
        return canopy::open_core(fiber->core, architecture);
    return fiber->launch->open_in_group(*fiber, architecture);
}

CanopyCore* Launch::open_in_group(BlockFiber& fiber, std::uint32_t architecture) noexcept {
    LaunchPart& part = *fiber.part;
    CanopyCore* core = canopy::open_core(fiber.core, architecture);
    if (!core) return nullptr;
    std::unique_ptr<SoftCore> replaced;
    bool exchanged = false;
    {
        SpinGuard guard(lock_);
        if (!part.group_cores.in_use() && !part.group_cores.begin(part.group, part.groups)) return nullptr;
        part.cores_prepared.store(true, std::memory_order_release);
        exchanged = part.group_cores.open(fiber.number, fiber.core, replaced);
    }
    if (!exchanged) return core;
    fibers_.give_core(std::move(replaced));
    return &fiber.core->open();
}

SoftCore* Launch::core_of_block() noexcept {
    Executor& executor = *Executor::existing();
    const BlockFiber* fiber = fiber_of(*executor.block);
    return fiber ? fiber->core.get() : executor.own_core.get();
}

CanopyCore* Launch::partner(std::uint32_t core_type, std::uint32_t sub_index) noexcept {
    Executor& executor = *Executor::existing();
    BlockFiber* fiber = fiber_of(*executor.block);
    if (!fiber || !fiber->in_group || !executor.block->core) return nullptr;
    if (!fiber->part->cores_prepared.load(std::memory_order_acquire)) return nullptr;
    const CoreGroup group = fiber->part->group;
    const bool cube = core_type == CANOPY_CORE_CUBE;
    if (sub_index >= (cube ? group.cube : group.vector)) return nullptr;
    const std::uint32_t position = cube ? sub_index : group.cube + sub_index;
    SoftCore* core = fiber->launch->reach(*fiber, fiber->number - fiber->number % group.size() + position);
    if (!core) executor.fail(FaultKind::memory, "no memory for the local memories of a core");
    return &core->state();
}

// The core of `fiber` is open, so the table exists, and the architecture is that of the launch.
SoftCore* Launch::reach(BlockFiber& fiber, std::uint32_t number) noexcept {
    std::unique_ptr<SoftCore> fresh;
    LaunchPart& part = *fiber.part;
    for (int attempt = 0;; ++attempt) {
        SoftCore* core = nullptr;
        {
            SpinGuard guard(lock_);
            core = part.group_cores.reach(number, fresh);
        }
        if (core || attempt != 0) {
            fibers_.give_core(std::move(fresh));
            return core;
        }
        fresh = fibers_.take_core(fiber.core->architecture());
        if (!fresh) fresh = SoftCore::create(fiber.core->architecture());
    }
}

void Launch::leave_group(BlockFiber& fiber) noexcept {
    if (!fiber.in_group) [[likely]]
        return;
    fiber.in_group = false;
    LaunchPart& part = *fiber.part;
    if (!part.cores_prepared.load(std::memory_order_acquire)) return;
    SpareCores spare;
    {
        SpinGuard guard(lock_);
        part.group_cores.leave(fiber.number, fiber.core, spare);
    }
    for (std::unique_ptr<SoftCore>& core : spare) fibers_.give_core(std::move(core));
}

}  // namespace canopy
