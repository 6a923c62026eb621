// SPDX-License-Identifier: Apache-2.0
#include "device/soft/launch.h"

#include <fmt/format.h>
#include <sched.h>

#include <algorithm>
#include <cstdio>
#include <new>

#include "device/soft/module.h"
#include "device/soft/scheduler.h"
#include "device/soft/strand.h"
#include "device/soft/tuning.h"

namespace canopy {

FiberPool::~FiberPool() {
    while (free_) delete std::exchange(free_, free_->next);
}

BlockFiber* FiberPool::take() noexcept {
    {
        SpinGuard guard(lock_);
        if (free_) return std::exchange(free_, free_->next);
    }
    auto* fiber = new (std::nothrow) BlockFiber(block_stack_size());
    if (fiber && !fiber->fiber.valid()) {
        delete fiber;
        fiber = nullptr;
    }
    return fiber;
}

void FiberPool::give(BlockFiber* fiber) noexcept {
    SpinGuard guard(lock_);
    fiber->next = free_;
    free_ = fiber;
}

void Launch::begin(Strand& strand, const SoftKernel& kernel, const LaunchWork& work, std::uint32_t resident_limit,
                   std::uint64_t sequence, std::uint64_t timeout) noexcept {
    strand_ = &strand;
    kernel_ = &kernel;
    arguments_ = work.arguments;
    group_ = kernel.group;
    groups_ = work.blocks;
    cores_ = work.blocks * kernel.group.size();
    offset_ = work.block_offset;
    dynamic_size_ = work.dynamic_size;
    resident_limit_ = resident_limit;
    sequence_ = sequence;
    timeout_ = timeout;
    began_ = now();
    started_.store(0, std::memory_order_relaxed);
    finished_.store(0, std::memory_order_relaxed);
    cancelled_.store(false, std::memory_order_relaxed);
    runnable_count_.store(0, std::memory_order_relaxed);
    yielded_count_.store(0, std::memory_order_relaxed);
    flags_prepared_.store(false, std::memory_order_relaxed);
    participants = 1;
    SpinGuard guard(lock_);
    failed_ = deadlocked_ = false;
    fault_ = {};
    fault_core_ = 0;
    what_.clear();
}

bool Launch::has_work() const noexcept {
    if (cancelled()) return false;
    if (runnable_count_.load(std::memory_order_acquire) != 0) return true;
    if (yielded_count_.load(std::memory_order_acquire) != 0) return true;
    const std::uint32_t started = started_.load(std::memory_order_acquire);
    return started < cores_ && started - finished_.load(std::memory_order_acquire) < resident_limit_;
}

bool Launch::claim_core(std::uint32_t& number) noexcept {
    if (cancelled()) return false;
    std::uint32_t started = started_.load(std::memory_order_relaxed);
    do {
        if (started >= cores_ || started - finished_.load(std::memory_order_acquire) >= resident_limit_) return false;
    } while (!started_.compare_exchange_weak(started, started + 1, std::memory_order_acq_rel));
    number = started;
    return true;
}

BlockFiber* Launch::pop_runnable() noexcept {
    if (runnable_count_.load(std::memory_order_acquire) == 0 || cancelled()) return nullptr;
    SpinGuard guard(lock_);
    BlockFiber* fiber = runnable_.pop();
    runnable_count_.store(runnable_.count(), std::memory_order_release);
    return fiber;
}

BlockFiber* Launch::pop_yielded() noexcept {
    if (yielded_count_.load(std::memory_order_acquire) == 0 || cancelled()) return nullptr;
    SpinGuard guard(lock_);
    BlockFiber* fiber = yielded_.pop();
    yielded_count_.store(yielded_.count(), std::memory_order_release);
    return fiber;
}

// A block that may go on, before new ones are begun. Those that poll have their turn when there are no others, and now
// and then.
BlockFiber* Launch::pop_waiting(std::uint32_t turn) noexcept {
    if (turn % tuning::turns_per_poll == tuning::turns_per_poll - 1)
        if (BlockFiber* fiber = pop_yielded()) return fiber;
    return pop_runnable();
}

CANOPY_MAY_BE_LEFT void Launch::block_body(void* data) {
    const auto* launch = static_cast<const Launch*>(data);
    launch->kernel_->entry(launch->arguments_);
}

void Launch::identify(BlockFiber& fiber, std::uint32_t number) noexcept {
    std::uint32_t group = number, position = 0;
    if (group_.size() != 1) {
        group = number / group_.size();
        position = number % group_.size();
    }
    const bool cube = position < group_.cube;
    fiber.launch = this;
    fiber.number = number;
    fiber.block = {group + offset_,
                   groups_,
                   cube ? position : position - group_.cube,
                   std::max(group_.vector, 1u),
                   kernel_->core_type(cube),
                   dynamic_size_,
                   &fiber,
                   nullptr,
                   group_.vector};
}

void Launch::take_part(Executor& executor, FiberPool& pool) noexcept {
    executor.begin_task(strand_, sequence_, timeout_);
    const Nanoseconds begin = now();
    std::uint32_t ran = 0;
    BlockFiber* spare = nullptr;
    for (std::uint32_t turn = 0;; ++turn) {
        Fault fault;
        Fiber::Exit how;
        std::uint32_t number = 0;
        BlockFiber* fiber = pop_waiting(turn);
        if (!fiber && claim_core(number)) {
            fiber = spare ? std::exchange(spare, nullptr) : pool.take();
            if (!fiber) {
                fault.kind = FaultKind::memory;
                record(fault, number);
                finished_.fetch_add(1, std::memory_order_acq_rel);
                continue;
            }
            identify(*fiber, number);
            how = executor.run(&fiber->fiber, &block_body, this, &fiber->block, fault);
        } else {
            if (!fiber) fiber = pop_yielded();
            if (!fiber) break;
            how = executor.resume(&fiber->fiber, &fiber->block, fault);
        }
        if (how == Fiber::Exit::suspended && park(fiber, executor)) continue;
        if (how == Fiber::Exit::abandoned) record(fault, fiber->number);
        if (spare) pool.give(spare);
        spare = fiber;
        ++ran;
        finished_.fetch_add(1, std::memory_order_acq_rel);
    }
    if (spare) pool.give(spare);
    if (ran != 0) std::atomic_ref(kernel_->block_time).store((now() - begin) / ran, std::memory_order_relaxed);
    executor.end_task();
}

// ---- waiting -------------------------------------------------------------------------------------------------------

void Launch::stop_below(std::uint64_t limit) noexcept {
    std::uint64_t old = stop_below_.load(std::memory_order_relaxed);
    while (old < limit && !stop_below_.compare_exchange_weak(old, limit, std::memory_order_relaxed)) {
    }
}

bool Launch::must_stop(const BlockFiber& fiber) noexcept {
    Fault fault;
    if (sequence_ < stop_below_.load(std::memory_order_relaxed)) [[unlikely]]
        fault.kind = FaultKind::aborted;
    else if (timeout_ != 0 && static_cast<std::uint64_t>(now() - began_) > timeout_) [[unlikely]]
        fault.kind = FaultKind::timeout;
    else [[likely]]
        return false;
    record(fault, fiber.number);
    return true;
}

bool Launch::park(BlockFiber* fiber, Executor& executor) noexcept {
    if (must_stop(*fiber)) {
        fiber->fiber.discard();
        return false;
    }
    bool anybody = false;
    {
        SpinGuard guard(lock_);
        FiberList released;
        switch (fiber->wait.kind) {
            case WaitKind::yielded:
                yielded_.push(fiber);
                yielded_count_.store(yielded_.count(), std::memory_order_release);
                executor.count_idle_step();
                return true;
            case WaitKind::meeting:
                if (fiber->wait.scope == CANOPY_SYNC_PAIR) {
                    flags_.wait(fiber->number, fiber, released);
                } else {
                    FiberList& met = met_[fiber->wait.scope];
                    met.push(fiber);
                    if (met.count() == expected(fiber->wait.scope)) released.append(met);
                }
                break;
            default:
                flags_.wait(fiber->number, fiber, released);
                break;
        }
        anybody = !released.empty();
        release(released);
    }
    invite_if(anybody);
    return true;
}

void Launch::release(FiberList& released) noexcept {
    runnable_.append(released);
    runnable_count_.store(runnable_.count(), std::memory_order_release);
}

void Launch::invite_if(bool anybody) noexcept {
    if (anybody) strand_->scheduler().invite(*this);
}

// Before a core uses a flag: the table is there, or the block fails.
void Launch::prepare_flags(Executor& executor) noexcept {
    if (flags_prepared_.load(std::memory_order_acquire)) return;
    bool prepared = false;
    {
        SpinGuard guard(lock_);
        prepared = flags_.in_use() || flags_.begin(group_, groups_);
        flags_prepared_.store(prepared, std::memory_order_release);
    }
    if (!prepared) executor.fail(FaultKind::memory, "no memory for the flags of the cores");
}

std::uint32_t Launch::expected(std::uint32_t scope) const noexcept {
    if (scope == CANOPY_SYNC_VECTOR) return groups_ * group_.vector;
    if (scope == CANOPY_SYNC_CUBE) return groups_ * group_.cube;
    return cores_;
}

bool Launch::set(std::uint32_t number, std::uint32_t mode, std::uint32_t id) noexcept {
    bool anybody = false, room = false;
    {
        SpinGuard guard(lock_);
        FiberList released;
        room = flags_.set(number, mode, id, released);
        anybody = !released.empty();
        release(released);
    }
    invite_if(anybody);
    return room;
}

bool Launch::take(std::uint32_t number, std::uint32_t mode, std::uint32_t id) noexcept {
    SpinGuard guard(lock_);
    return flags_.take(number, mode, id);
}

// ---- how it went ---------------------------------------------------------------------------------------------------

void Launch::record(const Fault& fault, std::uint32_t core) noexcept {
    {
        SpinGuard guard(lock_);
        // The first fault is the cause; the blocks that are stopped because of it are not.
        if (!failed_) {
            failed_ = true;
            fault_ = fault;
            fault_.text = nullptr;
            fault_core_ = core;
            try {
                if (fault.text) what_ = fault.text;
            } catch (...) {
            }
        }
    }
    if (!cancelled_.exchange(true, std::memory_order_acq_rel))
        strand_->scheduler().cancel_running(*strand_, sequence_ + 1, FaultKind::aborted);
}

void Launch::fail_deadlock() noexcept {
    SpinGuard guard(lock_);
    if (failed_) return;
    failed_ = deadlocked_ = true;
    fault_.kind = FaultKind::timeout;
    cancelled_.store(true, std::memory_order_release);
}

std::string Launch::name_of(std::uint32_t number) const {
    const std::uint32_t position = number % group_.size();
    if (position < group_.cube) return group_.cube == 1 ? "cube core" : fmt::format("cube core {}", position);
    return group_.vector == 1 ? "vector core" : fmt::format("vector core {}", position - group_.cube);
}

namespace {

std::string wait_in_words(const CoreWait& wait) {
    if (wait.kind == WaitKind::flag) return fmt::format("CrossCoreWaitFlag of flag {} (mode {})", wait.id, wait.mode);
    constexpr const char* meetings[] = {"SyncAll", "SyncAll of the vector cores", "SyncAll of the cube cores",
                                        "the meeting of a group's vector cores"};
    return meetings[wait.scope];
}

}  // namespace

// Names the wait of the lowest core that stands in one.
void Launch::describe_deadlock() {
    const BlockFiber* lowest = flags_.first_waiting();
    std::uint32_t waiting = flags_.waiting();
    for (const FiberList& met : met_) {
        waiting += met.count();
        for (const BlockFiber* fiber = met.first(); fiber; fiber = fiber->next)
            if (!lowest || fiber->number < lowest->number) lowest = fiber;
    }
    if (!lowest) return;
    fault_core_ = lowest->number;
    const std::uint32_t ended = finished_.load(std::memory_order_acquire);
    const std::uint32_t idle = cores_ - started_.load(std::memory_order_acquire);
    what_ = fmt::format("{} can never complete: of {} cores {} wait, {} have ended and {} cannot start",
                        wait_in_words(lowest->wait), cores_, waiting, ended, idle);
}

Launch::Outcome Launch::end(FiberPool& pool) noexcept {
    Outcome outcome;
    FiberList left;
    {
        SpinGuard guard(lock_);
        try {
            if (deadlocked_) describe_deadlock();
            if (failed_ && group_.size() > 1) outcome.who = name_of(fault_core_);
        } catch (...) {
        }
        outcome.fault = fault_;
        outcome.block = fault_core_ / group_.size() + offset_;
        outcome.what.swap(what_);
        left.append(runnable_);
        left.append(yielded_);
        for (FiberList& met : met_) left.append(met);
        if (flags_.in_use()) {
            FiberList waiting = flags_.take_waiting();
            left.append(waiting);
            flags_.end();
        }
    }
    while (BlockFiber* fiber = left.pop()) {
        fiber->fiber.discard();
        pool.give(fiber);
    }
    return outcome;
}

// ---- what blocks ask for -------------------------------------------------------------------------------------------

namespace {

BlockFiber* fiber_of(const CanopyBlock& block) noexcept { return static_cast<BlockFiber*>(block.launch); }

CoreGroup group_of_one(const CanopyBlock& block) noexcept {
    return block.core_type == CANOPY_CORE_CUBE ? CoreGroup{1, 0} : CoreGroup{0, 1};
}

void suspend_for(Executor& executor, const CoreWait& wait) noexcept {
    fiber_of(*executor.block)->wait = wait;
    executor.fiber->suspend();  // whoever entered the fiber parks it
}

// The calling block's executor. SIMT threads must not leave their operating-system thread.
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
    const CoreGroup group = fiber ? fiber->launch->group_ : group_of_one(block);
    const bool cube = block.core_type == CANOPY_CORE_CUBE;
    // The cores of AICORE are both kinds; where all are of one kind, meeting them is meeting all.
    if (scope != CANOPY_SYNC_PAIR && (block.core_type == CANOPY_CORE_AICORE || group.cube == 0 || group.vector == 0))
        scope = CANOPY_SYNC_ALL;
    if ((scope == CANOPY_SYNC_VECTOR || scope == CANOPY_SYNC_PAIR) && cube && group.vector != 0)
        executor.fail(FaultKind::trap, "a cube core cannot take part in a meeting of the vector cores");
    if (scope == CANOPY_SYNC_CUBE && !cube)
        executor.fail(FaultKind::trap, "a vector core cannot take part in a meeting of the cube cores");
    if (scope > CANOPY_SYNC_PAIR) executor.fail(FaultKind::trap, "a meeting of cores that does not exist");
    const bool alone = !fiber || (scope == CANOPY_SYNC_PAIR ? group.vector <= 1 : fiber->launch->expected(scope) == 1);
    if (!alone) {
        if (scope == CANOPY_SYNC_PAIR) fiber->launch->prepare_flags(executor);
        suspend_for(executor, {WaitKind::meeting, static_cast<std::uint8_t>(scope), 0, 0});
    }
}

void Launch::yield() noexcept {
    Executor& executor = *Executor::existing();
    if (executor.in_thread()) return executor.threads()->yield();
    const BlockFiber* fiber = fiber_of(*executor.block);
    // Nobody of this launch needs the thread. Of one that is being stopped the block must not go on.
    if (!fiber || (!fiber->launch->has_work() && !fiber->launch->cancelled())) {
        sched_yield();
        return;
    }
    suspend_for(executor, {WaitKind::yielded, 0, 0, 0});
}

void Launch::set_flag(std::uint32_t mode, std::uint32_t id) noexcept {
    Executor& executor = executor_of_block(set_name);
    check_flag(executor, set_name, mode, id);
    const CanopyBlock& block = *executor.block;
    bool room = false;
    if (const BlockFiber* fiber = fiber_of(block)) {
        fiber->launch->prepare_flags(executor);
        room = fiber->launch->set(fiber->number, mode, id);
    } else {
        FiberList nobody;
        room = executor.own_flags(group_of_one(block)).set(0, mode, id, nobody);
    }
    if (!room) {
        char text[160];
        std::snprintf(text, sizeof text, "%s: flag %u of mode %u is set %u times already and nobody has waited for it",
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
        fiber->launch->prepare_flags(executor);
        if (!fiber->launch->take(fiber->number, mode, id)) suspend_for(executor, wait);
    } else if (!executor.own_flags(group_of_one(block)).take(0, mode, id)) {
        char text[160];
        std::snprintf(text, sizeof text, "%s of flag %u can never complete: the block is the only one of its launch",
                      wait_name, id);
        executor.fail(FaultKind::timeout, text);
    }
}

}  // namespace canopy
