// SPDX-License-Identifier: Apache-2.0
#include "device/soft/cpu_cores.h"

#include <pthread.h>
#include <sched.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <exception>
#include <thread>
#include <utility>

#include "base/clock.h"
#include "base/ticks.h"
#include "device/soft/cpu_module.h"
#include "device/soft/cpu_process.h"
#include "device/soft/cpu_tuning.h"
#include "device/soft/scheduler.h"
#include "device/soft/strand.h"
#include "device/soft/tuning.h"

namespace canopy {

// ---- one block -----------------------------------------------------------------------------------------------------

namespace {

struct Call {
    const CpuKernel* kernel;
    void* arguments;
    CpuBlock block;
    std::uint32_t result;
    bool threw;
    CpuOutcome* outcome;
};

// Inside the guard. An exception must not leave the fiber.
CANOPY_MAY_BE_LEFT void call_kernel(void* data) {
    Call& call = *static_cast<Call*>(data);
    try {
        if (call.kernel->with_block)
            call.result = reinterpret_cast<std::uint32_t (*)(void*, CpuBlock*)>(call.kernel->function)(call.arguments,
                                                                                                       &call.block);
        else
            call.result = reinterpret_cast<std::uint32_t (*)(void*)>(call.kernel->function)(call.arguments);
    } catch (const std::exception& exception) {
        call.threw = true;
        std::snprintf(call.outcome->text, sizeof call.outcome->text, "the kernel threw an exception: %s",
                      exception.what());
    } catch (...) {
        call.threw = true;
        std::snprintf(call.outcome->text, sizeof call.outcome->text,
                      "the kernel threw an exception that is no std::exception");
    }
}

}  // namespace

bool CpuCores::run_block(Executor& executor, const CpuKernel& kernel, void* arguments, CpuBlock block, LaunchEnd& end,
                         CpuOutcome& outcome) noexcept {
    const std::uint32_t runs = kernel.runs.load(std::memory_order_relaxed);
    kernel.runs.store(runs + 1, std::memory_order_relaxed);
    const bool measured = runs % tuning::cpu_kernel_runs_per_measurement == 0 || !kernel.is_short();
    const Nanoseconds began = measured ? now() : 0;
    CanopyBlock who = {block.index, block.count, 0,       1, static_cast<std::uint32_t>(CoreType::cpu),
                       0,           nullptr,     nullptr, 0};
    Call call = {&kernel, arguments, block, 0, false, &outcome};
    executor.launch_end = &end;
    const Fiber::Exit how = executor.run_cpu_kernel(&call_kernel, &call, who, outcome.fault);
    executor.launch_end = nullptr;
    if (measured) kernel.block_time.store(now() - began, std::memory_order_relaxed);
    if (how == Fiber::Exit::finished && !call.threw && call.result == 0) [[likely]]
        return true;
    outcome.block = block.index;
    if (how != Fiber::Exit::finished) {
        if (outcome.fault.text) std::snprintf(outcome.text, sizeof outcome.text, "%s", outcome.fault.text);
        outcome.fault.text = nullptr;
        return false;
    }
    outcome.fault.kind = call.threw ? FaultKind::exception : FaultKind::returned;
    outcome.result = call.result;
    if (!call.threw) std::snprintf(outcome.text, sizeof outcome.text, "the kernel returned %u", unsigned{call.result});
    return false;
}

// ---- launches ------------------------------------------------------------------------------------------------------

CpuCores::CpuCores(Scheduler& scheduler, const CpuCoresOptions& options) noexcept
    : scheduler_(scheduler), options_(options) {}

CpuCores::~CpuCores() {
    std::unique_lock lock(mutex_);
    ending_ = true;
    news_.notify_all();
    ended_.wait(lock, [this] { return threads_ == 0; });
}

namespace {

bool refuse(CpuLaunch& launch, FaultKind kind, const char* why) noexcept {
    launch.outcome.fault.kind = kind;
    std::snprintf(launch.outcome.text, sizeof launch.outcome.text, "%s", why);
    return false;
}

}  // namespace

bool CpuCores::start(CpuLaunch& launch) noexcept {
    launch.begun = launch.finished = 0;
    launch.next = nullptr;
    launch.outcome.fault = {};
    launch.outcome.result = 0;
    launch.outcome.block = launch.offset;
    launch.outcome.text[0] = '\0';
    launch.stopping.store(false, std::memory_order_relaxed);
    if (launch.blocks > tuning::most_cpu_threads) {
        char text[128];
        std::snprintf(text, sizeof text, "a launch of %u blocks: at most %u can be alive at once on CPU cores",
                      unsigned{launch.blocks}, unsigned{tuning::most_cpu_threads});
        return refuse(launch, FaultKind::exception, text);
    }
    if (options_.process) return options_.process->start(launch);
    std::lock_guard lock(mutex_);
    launch.state = CpuLaunch::State::pending;
    (last_pending_ ? last_pending_->next : first_pending_) = &launch;
    last_pending_ = &launch;
    return admit() == nullptr;  // nothing runs when one is refused, so it is this one
}

CpuLaunch* CpuCores::unlink_first() noexcept {
    CpuLaunch* launch = first_pending_;
    first_pending_ = launch->next;
    if (!first_pending_) last_pending_ = nullptr;
    launch->next = nullptr;
    return launch;
}

bool CpuCores::add_threads(std::uint32_t wanted) noexcept {
    while (threads_ < wanted) {
        try {
            std::thread([this, number = threads_made_] { thread_main(number); }).detach();
        } catch (...) {
            return false;
        }
        ++threads_;
        ++threads_made_;
    }
    return true;
}

CpuLaunch* CpuCores::admit() noexcept {
    bool anything = false;
    CpuLaunch* refused = nullptr;
    const auto refuse_first = [&] {
        CpuLaunch* launch = unlink_first();
        launch->state = CpuLaunch::State::idle;
        refuse(*launch, FaultKind::memory, "the system gives no threads for the blocks of the launch");
        launch->next = refused;
        refused = launch;
    };
    while (first_pending_) {
        const std::uint32_t blocks = first_pending_->blocks;
        if (busy_ + blocks > tuning::most_cpu_threads) break;
        bool possible = add_threads(busy_ + blocks);
        try {
            if (possible) running_.push_back(first_pending_);
        } catch (...) {
            possible = false;
        }
        if (!possible) {
            if (busy_ != 0) break;
            refuse_first();
            continue;
        }
        unlink_first()->state = CpuLaunch::State::running;
        busy_ += blocks;
        unclaimed_ += blocks;
        anything = true;
    }
    if (anything) unclaimed_ == 1 ? news_.notify_one() : news_.notify_all();
    return refused;
}

void CpuCores::give_back(CpuLaunch* refused) noexcept {
    while (refused) {
        CpuLaunch* launch = std::exchange(refused, refused->next);
        launch->strand->continue_after_cpu_kernel();
    }
}

void CpuCores::stop(CpuLaunch& launch, std::uint64_t limit) noexcept {
    if (options_.process) return options_.process->stop(launch, limit);
    CpuLaunch* refused = nullptr;
    {
        std::lock_guard lock(mutex_);
        if (launch.state == CpuLaunch::State::idle || launch.sequence >= limit) return;
        if (launch.state == CpuLaunch::State::running) {
            if (!launch.stopping.exchange(true, std::memory_order_seq_cst))
                stopping_.fetch_add(1, std::memory_order_relaxed);
            return;
        }
        CpuLaunch** link = &first_pending_;
        CpuLaunch* before = nullptr;
        while (*link != &launch) {
            before = *link;
            link = &(*link)->next;
        }
        *link = launch.next;
        if (last_pending_ == &launch) last_pending_ = before;
        launch.next = nullptr;
        launch.state = CpuLaunch::State::idle;
        launch.outcome.fault.kind = FaultKind::aborted;
        refused = admit();  // those behind it may need fewer threads
    }
    launch.strand->continue_after_cpu_kernel();
    give_back(refused);
}

void CpuCores::end_stopped() noexcept {
    if (options_.process) return options_.process->end_late();
    if (stopping_.load(std::memory_order_relaxed) == 0) return;
    std::lock_guard lock(mutex_);
    for (CpuLaunch* launch : running_) {
        if (!launch->stopping.load(std::memory_order_relaxed)) continue;
        for_each_executor([&](Executor& executor) {
            const std::uint64_t step = executor.step();
            if (Executor::inside(step) && executor.runs(launch->strand, launch->sequence + 1))
                executor.cancel(step, FaultKind::aborted);
        });
    }
}

// ---- threads -------------------------------------------------------------------------------------------------------

void CpuCores::pin(std::uint32_t number) const noexcept {
    cpu_set_t allowed;
    if (!options_.pinned || sched_getaffinity(0, sizeof allowed, &allowed) != 0) return;
    const int count = CPU_COUNT(&allowed);
    if (count == 0) return;
    int wanted = static_cast<int>(number % static_cast<std::uint32_t>(count));
    for (int processor = 0; processor < CPU_SETSIZE; ++processor) {
        if (!CPU_ISSET(processor, &allowed) || wanted-- != 0) continue;
        cpu_set_t one;
        CPU_ZERO(&one);
        CPU_SET(processor, &one);
        pthread_setaffinity_np(pthread_self(), sizeof one, &one);
        return;
    }
}

void CpuCores::thread_main(std::uint32_t number) noexcept {
    pthread_setname_np(pthread_self(), "canopy-cpu");
    pin(number);
    Executor* executor = Executor::current();
    if (executor) {
        executor->is_cpu_core.store(true, std::memory_order_relaxed);
        executor->scheduler.store(&scheduler_, std::memory_order_relaxed);
    }
    std::unique_lock lock(mutex_);
    for (;;) {
        const bool found = news_.wait_for(lock, std::chrono::nanoseconds(tuning::extra_worker_idle),
                                          [this] { return ending_ || unclaimed_ != 0; });
        if (unclaimed_ != 0)
            run_next(executor, lock);
        else if (ending_ || (!found && threads_ > std::max(options_.cores, busy_)))
            break;
    }
    --threads_;
    ended_.notify_all();
}

void CpuCores::run_next(Executor* executor, std::unique_lock<std::mutex>& lock) noexcept {
    const auto waiting = std::find_if(running_.begin(), running_.end(),
                                      [](const CpuLaunch* launch) { return launch->begun < launch->blocks; });
    CpuLaunch& launch = **waiting;
    const std::uint32_t index = launch.begun++;
    --unclaimed_;
    lock.unlock();

    CpuOutcome outcome;
    bool ended_well = false;
    if (!executor) {
        outcome.fault.kind = FaultKind::memory;
    } else {
        executor->begin_task(launch.strand, launch.sequence, launch.timeout);
        if (launch.stopping.load(std::memory_order_seq_cst))
            outcome.fault.kind = FaultKind::aborted;
        else
            ended_well = run_block(*executor, *launch.kernel, launch.arguments, {launch.blocks, launch.offset + index},
                                   launch.end, outcome);
        executor->end_task();
    }

    lock.lock();
    if (!ended_well && launch.outcome.fault.kind == FaultKind::none) {
        launch.outcome = outcome;
        // The others may be waiting for it: they are ended. One that has ended by itself lets them go on.
        if (outcome.fault.kind != FaultKind::returned && !launch.stopping.exchange(true, std::memory_order_seq_cst))
            stopping_.fetch_add(1, std::memory_order_relaxed);
    }
    --busy_;
    const bool last = ++launch.finished == launch.blocks;
    if (last) {
        launch.state = CpuLaunch::State::idle;
        if (launch.stopping.load(std::memory_order_relaxed)) stopping_.fetch_sub(1, std::memory_order_relaxed);
        running_.erase(std::find(running_.begin(), running_.end(), &launch));
    }
    CpuLaunch* refused = admit();
    if (!last && !refused) return;
    lock.unlock();
    if (last) {
        launch.end.run();
        launch.strand->continue_after_cpu_kernel();
    }
    give_back(refused);
    lock.lock();
}

}  // namespace canopy
