// SPDX-License-Identifier: Apache-2.0
#include "device/soft/launch.h"

#include <new>

#include "device/soft/module.h"
#include "device/soft/queue.h"
#include "device/soft/scheduler.h"

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

void Launch::begin(SoftQueue& queue, const SoftKernel& kernel, const LaunchWork& work, const void* arguments,
                   std::uint32_t resident_limit, std::uint64_t sequence, std::uint64_t timeout) noexcept {
    queue_ = &queue;
    kernel_ = &kernel;
    arguments_ = arguments;
    blocks_ = work.blocks;
    offset_ = work.block_offset;
    dynamic_size_ = work.dynamic_size;
    resident_limit_ = resident_limit;
    sequence_ = sequence;
    timeout_ = timeout;
    started_.store(0, std::memory_order_relaxed);
    finished_.store(0, std::memory_order_relaxed);
    cancelled_.store(false, std::memory_order_relaxed);
    runnable_count_.store(0, std::memory_order_relaxed);
    participants = 1;
    SpinGuard guard(lock_);
    waiting_ = runnable_ = nullptr;
    waiting_count_ = 0;
    failed_ = false;
    fault_ = {};
    what_ = nullptr;
}

bool Launch::has_work() noexcept {
    if (cancelled()) return false;
    if (runnable_count_.load(std::memory_order_acquire) != 0) return true;
    const std::uint32_t started = started_.load(std::memory_order_acquire);
    return started < blocks_ && started - finished_.load(std::memory_order_acquire) < resident_limit_;
}

bool Launch::claim_block(std::uint32_t& index) noexcept {
    if (cancelled()) return false;
    std::uint32_t started = started_.load(std::memory_order_relaxed);
    do {
        if (started >= blocks_ || started - finished_.load(std::memory_order_acquire) >= resident_limit_) return false;
    } while (!started_.compare_exchange_weak(started, started + 1, std::memory_order_acq_rel));
    index = started;
    return true;
}

BlockFiber* Launch::pop_runnable() noexcept {
    if (runnable_count_.load(std::memory_order_acquire) == 0) return nullptr;
    SpinGuard guard(lock_);
    BlockFiber* fiber = runnable_;
    if (fiber) {
        runnable_ = fiber->next;
        runnable_count_.fetch_sub(1, std::memory_order_acq_rel);
    }
    return fiber;
}

CANOPY_MAY_BE_LEFT void Launch::block_body(void* data) {
    const auto* launch = static_cast<const Launch*>(data);
    launch->kernel_->entry(launch->arguments_);
}

void Launch::take_part(Executor& executor, FiberPool& pool) noexcept {
    executor.begin_task(queue_, sequence_, timeout_);
    const Nanoseconds begin = now();
    std::uint32_t ran = 0;
    BlockFiber* spare = nullptr;
    for (;;) {
        Fault fault;
        Fiber::Exit how;
        BlockFiber* fiber = cancelled() ? nullptr : pop_runnable();
        if (fiber) {
            how = executor.resume(&fiber->fiber, &fiber->block, fault);
        } else {
            std::uint32_t index = 0;
            if (!claim_block(index)) break;
            fiber = spare ? std::exchange(spare, nullptr) : pool.take();
            if (!fiber) {
                fault.kind = FaultKind::memory;
                record(fault, index);
                finished_.fetch_add(1, std::memory_order_acq_rel);
                continue;
            }
            const auto core = static_cast<std::uint32_t>(kernel_->info->core);
            fiber->block = {index + offset_, blocks_, 0, 1, core, dynamic_size_, this, nullptr};
            how = executor.run(&fiber->fiber, &block_body, this, &fiber->block, fault);
        }
        if (how == Fiber::Exit::suspended) {
            arrive(fiber);
            continue;
        }
        if (how == Fiber::Exit::abandoned) record(fault, fiber->block.index);
        if (spare) pool.give(spare);
        spare = fiber;
        ++ran;
        finished_.fetch_add(1, std::memory_order_acq_rel);
    }
    if (spare) pool.give(spare);
    if (ran != 0) std::atomic_ref(kernel_->block_time).store((now() - begin) / ran, std::memory_order_relaxed);
    executor.end_task();
}

void Launch::arrive(BlockFiber* fiber) noexcept {
    bool released = false;
    {
        SpinGuard guard(lock_);
        fiber->next = waiting_;
        waiting_ = fiber;
        if (++waiting_count_ == blocks_) {
            runnable_ = waiting_;
            waiting_ = nullptr;
            runnable_count_.store(waiting_count_, std::memory_order_release);
            waiting_count_ = 0;
            released = true;
        }
    }
    if (released) queue_->scheduler().invite(*this);
}

void Launch::record(const Fault& fault, std::uint32_t block) noexcept {
    {
        SpinGuard guard(lock_);
        // The first fault is the cause; the blocks that are stopped because of it are not.
        if (!failed_) {
            failed_ = true;
            fault_ = fault;
            fault_block_ = block;
        }
    }
    if (!cancelled_.exchange(true, std::memory_order_acq_rel))
        queue_->scheduler().cancel_running(*queue_, sequence_ + 1, FaultKind::aborted);
}

void Launch::fail_deadlock() noexcept {
    SpinGuard guard(lock_);
    if (failed_) return;
    failed_ = true;
    fault_.kind = FaultKind::timeout;
    what_ = "SyncAll can never complete: some blocks wait in it, the others have ended or cannot start";
    cancelled_.store(true, std::memory_order_release);
}

Launch::Outcome Launch::end(FiberPool& pool) noexcept {
    SpinGuard guard(lock_);
    for (BlockFiber** list : {&waiting_, &runnable_}) {
        while (*list) {
            BlockFiber* fiber = std::exchange(*list, (*list)->next);
            fiber->fiber.discard();
            pool.give(fiber);
        }
    }
    return {fault_, fault_block_, what_};
}

CANOPY_MAY_BE_LEFT void Launch::sync_all() noexcept {
    Executor* executor = Executor::existing();
    if (executor->block->count == 1) return;
    executor->enter_service();
    executor->fiber->suspend();  // the resumer's take_part counts the arrival
    Executor::existing()->leave_service();
}

}  // namespace canopy
