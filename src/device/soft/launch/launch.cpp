// SPDX-License-Identifier: Apache-2.0
#include "device/soft/launch/launch.h"

#include <fmt/core.h>

#include <algorithm>
#include <new>
#include <span>

#include "device/engine/stream/scheduler.h"
#include "device/engine/stream/strand.h"
#include "device/execution/tuning.h"
#include "device/opaque_pointer.h"
#include "record/recorder.h"

namespace canopy {

FiberPool::~FiberPool() {
    while (free_) delete static_cast<BlockFiber*>(std::exchange(free_, free_->next));
}

BlockFiber* FiberPool::take() noexcept {
    {
        SpinGuard guard(lock_);
        if (free_) return static_cast<BlockFiber*>(std::exchange(free_, free_->next));
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

std::unique_ptr<SoftCore> FiberPool::take_core(std::uint32_t architecture) noexcept {
    SpinGuard guard(lock_);
    for (std::size_t i = cores_.size(); i-- > 0;) {
        if (cores_[i]->architecture() != architecture) continue;
        std::swap(cores_[i], cores_.back());
        std::unique_ptr<SoftCore> core = std::move(cores_.back());
        cores_.pop_back();
        return core;
    }
    return nullptr;
}

void FiberPool::give_core(std::unique_ptr<SoftCore> core) noexcept {
    if (!core) return;
    SpinGuard guard(lock_);
    try {
        cores_.push_back(std::move(core));
    } catch (...) {  // it is freed
    }
}

void Launch::reset(const void* arguments, std::uint64_t sequence, std::uint64_t timeout) noexcept {
    arguments_ = arguments;
    recorded_ = false;
    sequence_ = sequence;
    timeout_ = timeout;
    cancelled_.store(false, std::memory_order_relaxed);
    unlisted_.store(false, std::memory_order_relaxed);
    runnable_count_.store(0, std::memory_order_relaxed);
    yielded_count_.store(0, std::memory_order_relaxed);
    SpinGuard guard(lock_);
    failed_ = deadlocked_ = false;
    fault_ = {};
    fault_part_ = nullptr;
    fault_core_ = 0;
    fault_step_ = {};
    what_.clear();
}

void Launch::begin(const SoftKernel& kernel, const LaunchWork& work, std::uint32_t resident_limit,
                   std::uint64_t sequence, std::uint64_t timeout) noexcept {
    reset(opaque_pointer(work.arguments()), sequence, timeout);
    fused_ = nullptr;
    parts_ = &only_;
    part_count_ = 1;
    only_.reset();
    only_.kernel = &kernel;
    only_.arguments = arguments_;
    only_.group = kernel.group;
    only_.groups = work.single ? 1 : work.blocks;
    only_.shown_groups = work.blocks;
    only_.cores = only_.groups * kernel.group.size();
    only_.offset = work.block_offset + (work.single ? work.single_block : 0u);
    only_.dynamic_size = work.dynamic_size;
    only_.resident_limit = resident_limit;
    only_.timeout = timeout;
    only_.began = now();
    parts_left_.store(1, std::memory_order_relaxed);
    const std::int64_t block_time = std::atomic_ref(kernel.block_time).load(std::memory_order_relaxed);
    unlisted_.store(block_time < tuning::launch_time_worth_sharing &&
                        block_time * only_.cores < tuning::launch_time_worth_sharing &&
                        !std::atomic_ref(kernel.stubborn).load(std::memory_order_relaxed),
                    std::memory_order_relaxed);
}

std::uint32_t Launch::worth_waking(std::uint64_t items, Nanoseconds time) noexcept {
    if (items < 2) return 0;
    std::uint64_t hands = items - 1;
    if (time < tuning::block_time_worth_waking)
        hands = std::min(hands, items * static_cast<std::uint64_t>(time) / tuning::share_worth_waking);
    return static_cast<std::uint32_t>(std::min<std::uint64_t>(hands, UINT32_MAX));
}

std::uint32_t Launch::hands_wanted() const noexcept {
    std::int64_t time = 0;
    std::uint64_t items = 0;
    for (const LaunchPart& part : std::span(parts_, part_count_)) {
        if (part.plan && part.plan->before != 0) continue;
        time = std::max(time, std::atomic_ref(part.plan ? part.plan->item_time : part.kernel->block_time)
                                  .load(std::memory_order_relaxed));
        items += part.cores;
    }
    return worth_waking(items, time);
}

bool Launch::has_work() const noexcept {
    if (cancelled()) return false;
    if (runnable_count_.load(std::memory_order_acquire) != 0) return true;
    if (yielded_count_.load(std::memory_order_acquire) != 0) return true;
    return fused_ ? any_claimable() : only_.claimable();
}

// Claims an item of the part, or of another open part.
bool Launch::claim(LaunchPart*& part, std::uint32_t& number) noexcept {
    if (cancelled()) return false;
    if (!fused_) [[likely]]
        return only_.claim(number);
    if (!part->claim(number)) return claim_other(part, number);
    if (number + 1 == part->cores) close(*part);
    return true;
}

BlockFiber* Launch::pop_runnable() noexcept {
    if (runnable_count_.load(std::memory_order_acquire) == 0 || cancelled()) return nullptr;
    SpinGuard guard(lock_);
    auto* fiber = static_cast<BlockFiber*>(runnable_.pop());
    runnable_count_.store(runnable_.count(), std::memory_order_release);
    return fiber;
}

BlockFiber* Launch::pop_yielded() noexcept {
    if (yielded_count_.load(std::memory_order_acquire) == 0 || cancelled()) return nullptr;
    SpinGuard guard(lock_);
    auto* fiber = static_cast<BlockFiber*>(yielded_.pop());
    yielded_count_.store(yielded_.count(), std::memory_order_release);
    return fiber;
}

// A block that can continue, before new ones begin. Polling blocks get a turn when there are no others, and every few
// turns.
BlockFiber* Launch::pop_waiting(std::uint32_t turn) noexcept {
    if (turn % tuning::turns_per_poll == tuning::turns_per_poll - 1)
        if (BlockFiber* fiber = pop_yielded()) return fiber;
    return pop_runnable();
}

// ---- running -------------------------------------------------------------------------------------------------------

// A fiber runs its item and then, as long as no other block needs its thread, further items. Runs inside the guard and,
// except for the calls, inside a service. Every call is a step with its own time limit.
CANOPY_MAY_BE_LEFT void Launch::run_items(void* data) {
    auto* fiber = static_cast<BlockFiber*>(data);
    while (fiber->launch->next_call(*fiber)) {
        Executor* executor = Executor::existing();
        executor->begin_step(fiber->timeout);
        executor->leave_service();
        fiber->entry(fiber->arguments);
        Executor::existing()->enter_service();
    }
}

void Launch::give_item(BlockFiber& fiber, LaunchPart& part, std::uint32_t number) noexcept {
    fiber.launch = this;
    fiber.part = &part;
    fiber.number = number;
    fiber.begun = false;
    fiber.call_began = 0;
    fiber.pieces = 0;
}

void Launch::identify(BlockFiber& fiber) noexcept {
    const LaunchPart& part = *fiber.part;
    std::uint32_t group = fiber.number, position = 0;
    if (part.group.size() != 1) {
        group = fiber.number / part.group.size();
        position = fiber.number % part.group.size();
        fiber.in_group = true;
    }
    const bool cube = position < part.group.cube;
    fiber.block = {group + part.offset,
                   part.shown_groups,
                   cube ? position : position - part.group.cube,
                   std::max(part.group.vector, 1u),
                   part.kernel->core_type(cube),
                   part.dynamic_size,
                   &fiber,
                   nullptr,
                   part.group.vector};
    fiber.entry = part.kernel->entry;
    fiber.arguments = part.arguments;
    fiber.timeout = part.timeout;
}

bool Launch::next_call(BlockFiber& fiber) noexcept {
    if (recorded_) [[unlikely]]
        return next_recorded_call(fiber);
    return find_call(fiber);
}

bool Launch::find_call(BlockFiber& fiber) noexcept {
    for (;;) {
        if (cancelled()) return false;
        if (fused_) {
            if (next_fused_call(fiber)) return true;
        } else if (!fiber.begun) {
            fiber.begun = true;
            identify(fiber);
            return true;
        }
        if (!next_item(fiber)) return false;
    }
}

// The time in which the next call is found belongs to neither.
[[gnu::cold]] bool Launch::next_recorded_call(BlockFiber& fiber) noexcept {
    if (fiber.call_began != 0) end_call_record(fiber, ticks());
    if (!find_call(fiber)) {
        fiber.call_began = 0;
        return false;
    }
    fiber.call_began = ticks();
    return true;
}

// A call has ended, or left its thread.
[[gnu::cold]] void Launch::end_call_record(BlockFiber& fiber, Ticks end) noexcept {
    profile::Record record{};
    const Kernel* kernel = fused_ ? fiber.place.kernel : fiber.part->kernel;
    if (!kernel) kernel = fused_;
    record.begin = fiber.call_began;
    record.duration = record::duration_between(fiber.call_began, end);
    record.kind = static_cast<std::uint64_t>(fused_ ? profile::Kind::step : profile::Kind::block);
    record.name = record::kept_name_number(kernel->record_name, kernel->info->name);
    record.object = fiber.block.index;
    record.argument = fiber.pieces++;
    if (fused_) {
        record.object = fiber.place.number;
        record.argument = fiber.block.index;
    } else if (fiber.part->group.size() > 1 && fiber.block.core_type == CANOPY_CORE_VECTOR) {
        record.object |= profile::block_vector_core;
    }
    record.link = link_;
    record::write_if_prepared(record);
}

// The fiber's item is done: takes another one, unless there are blocks to continue first.
bool Launch::next_item(BlockFiber& fiber) noexcept {
    ++Executor::existing()->items_run;
    LaunchPart* part = fiber.part;
    leave_group(fiber);
    finish(*part);
    if (sequence_ < stop_below_.load(std::memory_order_relaxed)) [[unlikely]] {
        must_stop(fiber);
        return false;
    }
    if (runnable_count_.load(std::memory_order_relaxed) != 0 || yielded_count_.load(std::memory_order_relaxed) != 0)
        return false;
    std::uint32_t number = 0;
    if (!claim(part, number)) return false;
    give_item(fiber, *part, number);
    return true;
}

void Launch::finish(LaunchPart& part) noexcept {
    if (part.finished.fetch_add(1, std::memory_order_acq_rel) + 1 != part.cores) return;
    if (!fused_) [[likely]] {
        parts_left_.store(0, std::memory_order_release);
        return;
    }
    Opened opened;
    complete(part, opened);
    // This thread takes one of the items itself.
    if (opened.items > 1 && !unlisted()) owner_.scheduler().invite(*this, std::min(opened.hands, opened.items - 1));
}

void Launch::take_part(Executor& executor) noexcept {
    const Kernel* kernel = fused_ ? static_cast<const Kernel*>(fused_) : only_.kernel;
    executor.begin_task(&owner_, sequence_, timeout_, kernel);
    record::prepare_thread();
    executor.items_run = 0;
    const Nanoseconds begin = fused_ ? 0 : now();
    BlockFiber* spare = nullptr;
    LaunchPart* part = parts_;
    for (std::uint32_t turn = 0;; ++turn) {
        Fault fault;
        Fiber::Exit how;
        std::uint32_t number = 0;
        BlockFiber* fiber = pop_waiting(turn);
        if (!fiber && claim(part, number)) {
            fiber = spare ? std::exchange(spare, nullptr) : fibers_.take();
            if (!fiber) {
                fault.kind = FaultKind::memory;
                record(fault, *part, number, {});
                continue;
            }
            give_item(*fiber, *part, number);
            how = executor.run_steps(&fiber->fiber, &run_items, fiber, fiber->block, fault);
        } else {
            if (!fiber) fiber = pop_yielded();
            if (!fiber) break;
            executor.begin_task(&owner_, sequence_, fiber->timeout, kernel);
            if (fiber->call_began != 0) [[unlikely]]
                fiber->call_began = ticks();
            how = executor.resume(&fiber->fiber, &fiber->block, fault);
        }
        part = fiber->part;
        if (fiber->call_began != 0 && how != Fiber::Exit::finished) [[unlikely]]
            end_call_record(*fiber, ticks());
        if (how == Fiber::Exit::suspended && park(fiber, executor)) continue;
        if (how == Fiber::Exit::abandoned) fail_item(fault, *fiber);
        leave_group(*fiber);  // if its block did not end by itself
        if (spare) fibers_.give(spare);
        spare = fiber;
    }
    if (spare) fibers_.give(spare);
    if (!fused_ && executor.items_run != 0)
        std::atomic_ref(only_.kernel->block_time)
            .store((now() - begin) / executor.items_run, std::memory_order_relaxed);
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
    else if (fiber.timeout != 0 && static_cast<std::uint64_t>(now() - fiber.part->began) > fiber.timeout) [[unlikely]]
        fault.kind = FaultKind::timeout;
    else [[likely]]
        return false;
    fail_item(fault, fiber);
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
        ParkedCores released;
        switch (fiber->wait.kind) {
            case WaitKind::yielded:
                yielded_.push(fiber);
                yielded_count_.store(yielded_.count(), std::memory_order_release);
                executor.count_idle_step();
                return true;
            case WaitKind::meeting:
                if (fiber->wait.scope == CANOPY_SYNC_PAIR) {
                    fiber->part->flags.wait(fiber->number, fiber, released);
                } else {
                    ParkedCores& met = fiber->part->met[fiber->wait.scope];
                    met.push(fiber);
                    if (met.count() == fiber->part->expected(fiber->wait.scope)) released.append(met);
                }
                break;
            default:
                fiber->part->flags.wait(fiber->number, fiber, released);
                break;
        }
        anybody = !released.empty();
        release(released);
    }
    invite_if(anybody);
    return true;
}

void Launch::release(ParkedCores& released) noexcept {
    runnable_.append(released);
    runnable_count_.store(runnable_.count(), std::memory_order_release);
}

void Launch::invite_if(bool anybody) noexcept {
    if (anybody && !unlisted()) owner_.scheduler().invite(*this);
}

// Makes the flag table before a core uses a flag; fails the block if it cannot.
void Launch::prepare_flags(LaunchPart& part, Executor& executor) noexcept {
    if (part.flags_prepared.load(std::memory_order_acquire)) return;
    bool prepared = false;
    {
        SpinGuard guard(lock_);
        prepared = part.flags.in_use() || part.flags.begin(part.group, part.groups);
        part.flags_prepared.store(prepared, std::memory_order_release);
    }
    if (!prepared) executor.fail(FaultKind::memory, "no memory for the flags of the cores");
}

bool Launch::set(LaunchPart& part, std::uint32_t number, std::uint32_t mode, std::uint32_t id) noexcept {
    bool anybody = false, room = false;
    {
        SpinGuard guard(lock_);
        ParkedCores released;
        room = part.flags.set(number, mode, id, released);
        anybody = !released.empty();
        release(released);
    }
    invite_if(anybody);
    return room;
}

bool Launch::take(LaunchPart& part, std::uint32_t number, std::uint32_t mode, std::uint32_t id) noexcept {
    SpinGuard guard(lock_);
    return part.flags.take(number, mode, id);
}

// ---- outcome -------------------------------------------------------------------------------------------------------

void Launch::record(const Fault& fault, const LaunchPart& part, std::uint32_t core, const FailedStep& step) noexcept {
    {
        SpinGuard guard(lock_);
        // The first fault is the cause; later ones come from blocks that were stopped because of it.
        if (!failed_) {
            failed_ = true;
            fault_ = fault;
            fault_.text = nullptr;
            fault_part_ = &part;
            fault_core_ = core;
            if (fused_) fault_step_ = step;
            try {
                if (fault.text) what_ = fault.text;
            } catch (...) {
            }
        }
    }
    if (!cancelled_.exchange(true, std::memory_order_acq_rel)) owner_.cancel(sequence_ + 1, FaultKind::aborted);
}

void Launch::fail_item(const Fault& fault, const BlockFiber& fiber) noexcept {
    const SoftPart* plan = fiber.part->plan;
    if (!fused_ || plan->kind != PartKind::loops) return record(fault, *fiber.part, fiber.number, fiber.place);
    const SoftStep& step = fused_->steps[fiber.chunk.first_step()];
    record(fault, *fiber.part, 0, {step.number, step.kernel, fused_});
}

void Launch::nobody_left() noexcept {
    if (!all_finished() && !cancelled()) fail_deadlock();
}

void Launch::conclude(Worker& worker) noexcept { owner_.drain_after_launch(worker); }

std::uint32_t Launch::priority() const noexcept { return owner_.priority(); }

void Launch::fail_deadlock() noexcept {
    SpinGuard guard(lock_);
    if (failed_) return;
    failed_ = deadlocked_ = true;
    fault_.kind = FaultKind::timeout;
    cancelled_.store(true, std::memory_order_release);
}

namespace {

std::string name_of(CoreGroup group, std::uint32_t number) {
    const std::uint32_t position = number % group.size();
    if (position < group.cube) return group.cube == 1 ? "cube core" : fmt::format("cube core {}", position);
    return group.vector == 1 ? "vector core" : fmt::format("vector core {}", position - group.cube);
}

std::string wait_in_words(const CoreWait& wait) {
    if (wait.kind == WaitKind::flag) return fmt::format("CrossCoreWaitFlag of flag {} (mode {})", wait.id, wait.mode);
    constexpr const char* meetings[] = {"SyncAll", "SyncAll of the vector cores", "SyncAll of the cube cores",
                                        "the barrier of a group's vector cores"};
    return meetings[wait.scope];
}

}  // namespace

// Names the wait of the lowest-numbered core that waits.
void Launch::describe_deadlock() {
    const BlockFiber* lowest = nullptr;
    std::uint32_t waiting = 0;
    for (const LaunchPart& part : std::span(parts_, part_count_)) {
        lowest = static_cast<const BlockFiber*>(part.flags.first_waiting());
        waiting = part.flags.waiting();
        for (const ParkedCores& met : part.met) {
            waiting += met.count();
            for (const ParkedCore* core = met.first(); core; core = core->next)
                if (!lowest || core->number < lowest->number) lowest = static_cast<const BlockFiber*>(core);
        }
        if (lowest) break;
    }
    if (!lowest) return;
    const LaunchPart& part = *lowest->part;
    fault_part_ = &part;
    fault_core_ = lowest->number;
    fault_step_ = lowest->place;
    const std::uint32_t ended = part.finished.load(std::memory_order_acquire);
    const std::uint32_t idle = part.cores - part.started.load(std::memory_order_acquire);
    what_ = fmt::format("{} can never complete: of {} cores {} wait, {} have ended and {} cannot start",
                        wait_in_words(lowest->wait), part.cores, waiting, ended, idle);
}

Launch::Outcome Launch::end() noexcept {
    Outcome outcome;
    ParkedCores left;
    SpareCores spare;
    {
        SpinGuard guard(lock_);
        try {
            if (deadlocked_) describe_deadlock();
            if (fault_part_ && fault_part_->group.size() > 1) outcome.who = name_of(fault_part_->group, fault_core_);
        } catch (...) {
        }
        outcome.fault = fault_;
        if (fault_part_) outcome.block = fault_core_ / fault_part_->group.size() + fault_part_->offset;
        if (fused_) outcome.step = fault_step_;
        outcome.what.swap(what_);
        left.append(runnable_);
        left.append(yielded_);
        for (LaunchPart& part : std::span(parts_, part_count_)) {
            for (ParkedCores& met : part.met) left.append(met);
            part.group_cores.end(spare);
            if (!part.flags.in_use()) continue;
            ParkedCores waiting = part.flags.take_waiting();
            left.append(waiting);
            part.flags.end();
        }
    }
    while (ParkedCore* core = left.pop()) {
        auto* fiber = static_cast<BlockFiber*>(core);
        fiber->fiber.discard();
        fiber->in_group = false;
        fibers_.give(fiber);
    }
    for (std::unique_ptr<SoftCore>& core : spare) fibers_.give_core(std::move(core));
    return outcome;
}

}  // namespace canopy
