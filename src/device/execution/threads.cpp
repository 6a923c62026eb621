// SPDX-License-Identifier: Apache-2.0
// SIMT threads. The code on the block's own stack chooses who runs next: fibers return to it whenever their thread has
// to wait, and it enters the next fiber while its own thread waits too.
#include "device/execution/threads.h"

#include <sched.h>

#include <algorithm>
#include <cstdio>
#include <new>

#include "base/process_state.h"
#include "base/spin_lock.h"
#include "canopy/kernel_abi.h"
#include "device/execution/tuning.h"

namespace canopy {
namespace {

// Unused fibers. One pool per process; as many fibers exist as were ever in use at the same time.
struct Pool {
    SpinLock lock;
    SimtThreads::FiberQueue free CANOPY_GUARDED_BY(lock);
    std::uint32_t made CANOPY_GUARDED_BY(lock) = 0;
};
Pool& pool() noexcept { return process_state<Pool>(); }

}  // namespace

SimtThreads::ThreadFiber::ThreadFiber(bool guarded) noexcept
    : fiber(std::min(tuning::thread_stack, block_stack_size()), guarded) {}

void SimtThreads::FiberQueue::push(ThreadFiber* fiber) noexcept {
    fiber->next = nullptr;
    (last ? last->next : first) = fiber;
    last = fiber;
}

SimtThreads::ThreadFiber* SimtThreads::FiberQueue::pop() noexcept {
    ThreadFiber* fiber = first;
    if (!fiber) return nullptr;
    first = fiber->next;
    if (!first) last = nullptr;
    return fiber;
}

void SimtThreads::FiberQueue::append(FiberQueue& other) noexcept {
    if (!other.first) return;
    (last ? last->next : first) = other.first;
    last = other.last;
    other = {};
}

SimtThreads* SimtThreads::of(Executor& executor) noexcept {
    if (!executor.threads())
        executor.set_threads(std::unique_ptr<BlockThreads>(new (std::nothrow) SimtThreads(executor)));
    return static_cast<SimtThreads*>(executor.threads());
}

void SimtThreads::begin(Body body, void* data, std::uint32_t count) noexcept {
    if (active_) executor_.fail(FaultKind::trap, "SIMT threads were started from a SIMT thread");
    if (count > CANOPY_MAX_THREADS)
        executor_.fail(FaultKind::trap, "a block asked for more SIMT threads than the 2048 it may have");
    active_ = true;
    body_ = body;
    data_ = data;
    count_ = count;
    next_ = finished_ = 0;
    ended_.reset();
    own_waits_ = false;
    running_ = nullptr;
}

CANOPY_MAY_BE_LEFT void SimtThreads::run_on_block() noexcept {
    while (next_ < count_) {
        const std::uint32_t thread = next_++;
        executor_.simt_thread = thread;
        body_(data_);
        ended_.set(thread);
        ++finished_;
    }
}

void SimtThreads::end() noexcept {
    while (finished_ < count_)
        if (!run_one() && !release_left_behind()) fail_deadlock();
    finish();
}

CANOPY_MAY_BE_LEFT void SimtThreads::run_on_fiber(void* data) {
    auto& threads = *static_cast<SimtThreads*>(data);
    ThreadFiber& fiber = *threads.running_;
    threads.executor_.leave_service();
    while (threads.next_ < threads.count_) {
        fiber.thread = threads.next_++;
        threads.executor_.simt_thread = fiber.thread;
        threads.body_(threads.data_);
        threads.ended_.set(fiber.thread);
        ++threads.finished_;
    }
    threads.executor_.enter_service();
}

void SimtThreads::barrier(std::uint32_t first, std::uint32_t count) noexcept {
    check_barrier(first, count);
    if (arrive(first, count)) return;
    if (running_)
        running_->fiber.suspend();
    else
        run_others();
}

void SimtThreads::check_barrier(std::uint32_t first, std::uint32_t count) noexcept {
    if (!active_) executor_.fail(FaultKind::trap, "a barrier of SIMT threads outside a SIMT kernel");
    const std::uint32_t thread = executor_.simt_thread;
    if (thread >= first && thread - first < count && count <= count_ - first) return;
    // A message on the heap would leak, because this call does not return.
    char text[128];
    std::snprintf(text, sizeof text, "thread %u of %u cannot meet %u threads from thread %u on", thread, count_, count,
                  first);
    executor_.fail(FaultKind::trap, text);
}

// False if the caller has to wait; it is then registered as waiting.
bool SimtThreads::arrive(std::uint32_t first, std::uint32_t count) noexcept {
    if (count == 1) return true;
    Barrier& barrier = *find_or_add(first, count);
    if (++barrier.arrived < count) {
        if (running_)
            barrier.waiting.push(running_);
        else
            barrier.own = own_waits_ = true;
        return false;
    }
    release(static_cast<std::size_t>(&barrier - barriers_.data()));
    return true;
}

void SimtThreads::release(std::size_t index) noexcept {
    Barrier& barrier = barriers_[index];
    ready_.append(barrier.waiting);
    if (barrier.own) own_waits_ = false;
    barrier = barriers_.back();
    barriers_.pop_back();
}

// Called when no thread can run: releases a barrier in which only threads that have returned are missing.
bool SimtThreads::release_left_behind() noexcept {
    for (std::size_t i = 0; i < barriers_.size(); ++i) {
        const Barrier& barrier = barriers_[i];
        std::uint32_t there = barrier.arrived;
        for (std::uint32_t thread = 0; thread < barrier.count; ++thread) there += ended_.test(barrier.first + thread);
        if (there != barrier.count) continue;
        release(i);
        return true;
    }
    return false;
}

SimtThreads::Barrier* SimtThreads::find_or_add(std::uint32_t first, std::uint32_t count) noexcept {
    for (Barrier& barrier : barriers_)
        if (barrier.first == first && barrier.count == count) return &barrier;
    try {
        return &barriers_.emplace_back(Barrier{first, count, 0, false, {}});
    } catch (...) {
        executor_.fail(FaultKind::memory, "no memory for the barriers of SIMT threads");
    }
}

// The thread on the block's stack waits: runs the others until it can continue.
void SimtThreads::run_others() noexcept {
    const std::uint32_t own = executor_.simt_thread;
    while (own_waits_)
        if (!run_one() && !release_left_behind()) fail_deadlock();
    executor_.simt_thread = own;
}

// Runs one other thread until it ends or waits; false if none can run.
bool SimtThreads::run_one() noexcept {
    ThreadFiber* fiber = ready_.pop();
    if (!fiber && next_ < count_) fiber = take_fiber();
    if (!fiber) fiber = yielded_.pop();
    if (!fiber) return false;
    enter(fiber);
    return true;
}

void SimtThreads::enter(ThreadFiber* fiber) noexcept {
    Fiber* const block = executor_.fiber;
    executor_.set_fiber(&fiber->fiber);
    executor_.simt_thread = fiber->thread;
    running_ = fiber;
    const Fiber::Exit how =
        std::exchange(fiber->started, true) ? fiber->fiber.resume() : fiber->fiber.start(&run_on_fiber, this);
    running_ = nullptr;
    executor_.set_fiber(block);
    if (how == Fiber::Exit::suspended) return;
    fiber->started = false;
    if (how == Fiber::Exit::abandoned) executor_.abandon_with(fiber->fiber);
    idle_.push(fiber);
}

SimtThreads::ThreadFiber* SimtThreads::take_fiber() noexcept {
    if (ThreadFiber* fiber = idle_.pop()) return fiber;
    ThreadFiber* fiber = nullptr;
    bool guarded = false;
    {
        Pool& all = pool();
        SpinGuard guard(all.lock);
        fiber = all.free.pop();
        if (!fiber) guarded = all.made++ < tuning::guarded_thread_stacks;
    }
    if (!fiber) fiber = new (std::nothrow) ThreadFiber(guarded);
    if (fiber && fiber->fiber.valid()) {
        try {
            taken_.push_back(fiber);
            return fiber;
        } catch (...) {
        }
    }
    delete fiber;
    executor_.fail(FaultKind::memory, "no memory for the stacks of SIMT threads");
}

void SimtThreads::yield() noexcept {
    if (running_) {
        yielded_.push(running_);
        running_->fiber.suspend();
    } else {
        const std::uint32_t own = executor_.simt_thread;
        if (!run_one()) sched_yield();
        executor_.simt_thread = own;
    }
}

void SimtThreads::fail_deadlock() noexcept {
    const Barrier& barrier = barriers_.front();
    char text[192];
    std::snprintf(text, sizeof text,
                  "a barrier of the SIMT threads %u to %u can never complete: %u of %u have arrived, the others have "
                  "ended or wait in another barrier",
                  barrier.first, barrier.first + barrier.count - 1, barrier.arrived, barrier.count);
    executor_.fail(FaultKind::timeout, text);
}

void SimtThreads::finish() noexcept {
    active_ = false;
    executor_.simt_thread = 0;
    barriers_.clear();
    ready_ = yielded_ = idle_ = {};
    if (taken_.empty()) return;
    FiberQueue back;
    for (ThreadFiber* fiber : taken_) back.push(fiber);
    taken_.clear();
    Pool& all = pool();
    SpinGuard guard(all.lock);
    all.free.append(back);
}

void SimtThreads::abandon() noexcept {
    if (!active_) return;
    for (ThreadFiber* fiber : taken_)
        if (std::exchange(fiber->started, false)) fiber->fiber.discard();
    finish();
}

}  // namespace canopy
