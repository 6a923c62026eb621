// SPDX-License-Identifier: Apache-2.0
// The services that blocks call on their launch: barriers, flags and yielding.
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

}  // namespace canopy
