// SPDX-License-Identifier: Apache-2.0
// Workers and how they choose work. The monitor is in monitor.cpp.
#include "device/engine/stream/scheduler.h"

#include <pthread.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <thread>

#include "device/engine/memory/memory_work.h"
#include "device/engine/stream/task_record.h"
#include "device/outside_signals.h"

namespace canopy {

namespace {

CpuCoresOptions cpu_options(CpuCoresOptions options, bool may_spin) noexcept {
    options.may_spin = may_spin;
    return options;
}

}  // namespace

Scheduler::Scheduler(const SchedulerOptions& options, Driver& driver)
    : options_(options),
      driver_(driver),
      abilities_(driver.abilities()),
      may_spin_(sysconf(_SC_NPROCESSORS_ONLN) > 1),
      cpu_cores_(this, cpu_options(options.cpu, may_spin_)) {}

Scheduler::~Scheduler() {
    stopping_.store(true, std::memory_order_seq_cst);
    while (workers_.load(std::memory_order_acquire) != 0 || !monitor_ended_.load(std::memory_order_acquire) ||
           wakers_.load(std::memory_order_acquire) != 0) {
        parked_.wake_all();
        monitor_.wake_all();
        sched_yield();
    }
}

// ---- threads -------------------------------------------------------------------------------------------------------

void Scheduler::start_threads() noexcept {
    MutexLock guard(start_mutex_);
    if (started_.load(std::memory_order_relaxed)) return;
    for (std::uint32_t i = 0; i < options_.workers; ++i) start_worker(false);
    monitor_ended_.store(false, std::memory_order_release);
    try {
        std::thread([this] { monitor_main(); }).detach();
    } catch (...) {
        monitor_ended_.store(true, std::memory_order_release);
    }
    started_.store(true, std::memory_order_release);
}

bool Scheduler::start_worker(bool extra) noexcept {
    workers_.fetch_add(1, std::memory_order_acq_rel);
    try {
        std::thread([this, extra] { worker_main(extra); }).detach();
        return true;
    } catch (...) {
        workers_.fetch_sub(1, std::memory_order_acq_rel);
        return false;
    }
}

void Scheduler::worker_main(bool extra) noexcept {
    pthread_setname_np(pthread_self(), options_.thread_name);
    const std::uint32_t number = worker_numbers_.fetch_add(1, std::memory_order_relaxed);
    name_recorded_thread(profile::ThreadRole::worker, "worker", number, options_.device);
    Worker* worker = Worker::current();
    Nanoseconds idle_since = now();
    while (worker && !stopping_.load(std::memory_order_relaxed)) {
        if (work_once(*worker)) {
            idle_since = 0;
            continue;
        }
        idle_.fetch_add(1, std::memory_order_seq_cst);
        bool found = spin_for_work();
        if (!found) {
            const ParkingLot::Epoch epoch = parked_.prepare();
            Deadline until = Deadline::never();
            if (value_waits_.load(std::memory_order_seq_cst) != 0)
                until = Deadline::after(tuning::value_poll_interval);
            else if (extra)
                until = Deadline::after(tuning::extra_worker_idle);
            if (ready_mask_.load(std::memory_order_seq_cst) != 0 ||
                open_launches_.load(std::memory_order_seq_cst) != 0 || stopping_.load(std::memory_order_seq_cst))
                parked_.cancel();
            else
                parked_.park(epoch, until);
        }
        idle_.fetch_sub(1, std::memory_order_seq_cst);
        if (idle_since == 0) idle_since = now();
        if (extra && !found && !has_other_work() && now() - idle_since > tuning::extra_worker_idle) break;
    }
    workers_.fetch_sub(1, std::memory_order_acq_rel);
}

// Does one piece of work; false if there is none.
bool Scheduler::work_once(Worker& worker) noexcept {
    worker.executor.works_for.store(this, std::memory_order_relaxed);
    record::prepare_thread();
    if (Runnable* runnable = take_ready()) {
        if (has_other_work()) wake_worker();
        runnable->drain(worker);
        return true;
    }
    if (SharedWork* work = join_work()) {
        if (work_on(*work, worker)) work->conclude(worker);
        return true;
    }
    if (take_offered(worker)) return true;
    return value_waits_.load(std::memory_order_relaxed) != 0 && poll_values(worker.executor);
}

// One worker at a time spins for a while instead of sleeping, so that the next task needs no wake-up.
bool Scheduler::spin_for_work() noexcept {
    if (!may_spin_) return false;
    std::uint32_t none = 0;
    if (!spinning_.compare_exchange_strong(none, 1, std::memory_order_seq_cst)) return false;
    const Nanoseconds end = now() + tuning::idle_spin_time;
    bool found = false;
    const OutsidePolling outside;
    do {
        for (int poll = 0; poll < 32 && !found; ++poll) {
            outside.poll();
            found = has_other_work();
            if (!found) cpu_relax();
        }
        found = found || value_waits_.load(std::memory_order_relaxed) != 0;
    } while (!found && now() < end && !stopping_.load(std::memory_order_relaxed));
    spinning_.store(0, std::memory_order_seq_cst);
    return found;
}

void Scheduler::wake_worker() noexcept {
    if (spinning_.load(std::memory_order_seq_cst) == 0) parked_.wake_one();
}

// ---- ready queues --------------------------------------------------------------------------------------------------

void Scheduler::add(CountedQueue& queue) noexcept {
    {
        SpinGuard guard(lock_);
        queue.number = ++queues_made_;
        queue.all_next = all_;
        if (all_) all_->all_previous = &queue;
        all_ = &queue;
    }
    tell_figures();
}

void Scheduler::remove(CountedQueue& queue) noexcept {
    {
        SpinGuard guard(lock_);
        removed_commands_ += queue.completed();
        if (queue.all_previous)
            queue.all_previous->all_next = queue.all_next;
        else
            all_ = queue.all_next;
        if (queue.all_next) queue.all_next->all_previous = queue.all_previous;
    }
    tell_figures();
}

void Scheduler::forget(Runnable& runnable) noexcept {
    {
        SpinGuard guard(lock_);
        unlist(runnable);
    }
    MutexLock guard(timer_mutex_);
    std::erase_if(timers_, [&](const Timer& timer) { return timer.runnable == &runnable; });
    timer_count_.store(static_cast<std::uint32_t>(timers_.size()), std::memory_order_relaxed);
}

void Scheduler::enqueue(Runnable& runnable) noexcept {
    if (!started_.load(std::memory_order_acquire)) [[unlikely]]
        start_threads();
    {
        SpinGuard guard(lock_);
        if (!runnable.listed) {
            const std::uint32_t level = runnable.priority();
            ReadyList& list = ready_[level];
            runnable.listed = true;
            runnable.ready_level = level;
            runnable.ready_next = nullptr;
            runnable.ready_previous = list.last;
            (list.last ? list.last->ready_next : list.first) = &runnable;
            list.last = &runnable;
            ready_mask_.fetch_or(1u << level, std::memory_order_seq_cst);  // pairs with the check before parking
        }
        // Counted before the queue can run and be destroyed, and the device with it.
        wakers_.fetch_add(1, std::memory_order_relaxed);
        // Under the lock: removing the queue takes the lock too, so the queue cannot be gone before this is done.
        runnable.become_ready();
    }
    wake_worker();
    wake_monitor();
    wakers_.fetch_sub(1, std::memory_order_release);
}

void Scheduler::unlist(Runnable& runnable) noexcept {
    if (!runnable.listed) return;
    ReadyList& list = ready_[runnable.ready_level];
    (runnable.ready_previous ? runnable.ready_previous->ready_next : list.first) = runnable.ready_next;
    (runnable.ready_next ? runnable.ready_next->ready_previous : list.last) = runnable.ready_previous;
    runnable.listed = false;
    runnable.ready_next = runnable.ready_previous = nullptr;
    if (!list.first) ready_mask_.fetch_and(~(1u << runnable.ready_level), std::memory_order_seq_cst);
}

// The most urgent ready queue, claimed for the caller. Queues that another thread has already claimed are unlisted on
// the way.
Runnable* Scheduler::take_ready() noexcept {
    if (ready_mask_.load(std::memory_order_relaxed) == 0) return nullptr;
    SpinGuard guard(lock_);
    for (;;) {
        const std::uint32_t mask = ready_mask_.load(std::memory_order_relaxed);
        if (mask == 0) return nullptr;
        Runnable* runnable = ready_[std::countr_zero(mask)].first;
        unlist(*runnable);
        if (runnable->claim()) return runnable;
    }
}

// ---- lanes of graphs that other threads have kept ------------------------------------------------------------------

void Scheduler::offer_kept(Worker& worker) noexcept {
    if (offering_.load(std::memory_order_relaxed)) return;
    {
        SpinGuard guard(lock_);
        if (offering_.load(std::memory_order_relaxed)) return;
        offering_.store(&worker, std::memory_order_seq_cst);
        worker.offers = true;
    }
    if (worker.kept.time() >= tuning::time_worth_waking) wake_worker();
}

void Scheduler::withdraw_offer(Worker& worker) noexcept {
    if (!worker.offers) return;
    worker.offers = false;
    SpinGuard guard(lock_);
    if (offering_.load(std::memory_order_relaxed) == &worker) offering_.store(nullptr, std::memory_order_relaxed);
}

bool Scheduler::take_offered(Worker& worker) noexcept {
    if (!offering_.load(std::memory_order_relaxed)) return false;
    Runnable* taken = nullptr;
    {
        SpinGuard guard(lock_);
        Worker* from = offering_.load(std::memory_order_relaxed);
        if (from && from != &worker) taken = from->kept.take_half();
        if (!taken) offering_.store(nullptr, std::memory_order_relaxed);
    }
    if (!taken) return false;
    worker.kept.push_all(taken);
    if (Runnable* first = worker.kept.take(nullptr)) first->drain(worker);  // runs the others as well
    withdraw_offer(worker);
    return true;
}

void Scheduler::share_kept(Worker& worker) noexcept {
    if (worker.kept.empty()) return;
    for (Runnable* runnable = worker.kept.take_all(); runnable;) enqueue(*std::exchange(runnable, runnable->kept.next));
}

// ---- shared work ---------------------------------------------------------------------------------------------------

// False: it is listed already, or has all the threads it may have.
bool Scheduler::list_work(SharedWork& work) noexcept {
    SharedWork::Place& place = work.place;
    if (place.listed || place.participants >= place.limit) return false;
    place.listed = true;
    place.next = listed_;
    place.previous = nullptr;
    if (listed_) listed_->place.previous = &work;
    listed_ = &work;
    open_launches_.fetch_add(1, std::memory_order_seq_cst);
    return true;
}

void Scheduler::delist_work(SharedWork& work) noexcept {
    SharedWork::Place& place = work.place;
    if (!place.listed) return;
    (place.previous ? place.previous->place.next : listed_) = place.next;
    if (place.next) place.next->place.previous = place.previous;
    place.listed = false;
    place.next = place.previous = nullptr;
    open_launches_.fetch_sub(1, std::memory_order_seq_cst);
}

// Waking a thread costs the waker 1 to 2 us, so threads wake each other: each wakes up to two.
std::uint32_t Scheduler::take_wakes(SharedWork& work) noexcept {
    const std::uint32_t count = std::min(work.place.to_wake, 2u);
    work.place.to_wake -= count;
    return count;
}

void Scheduler::wake(std::uint32_t threads) noexcept {
    for (; threads != 0 && parked_.has_waiters(); --threads) parked_.wake_one();
}

void Scheduler::publish(SharedWork& work) noexcept {
    const std::uint32_t hands = work.unlisted() ? 0 : work.hands_wanted();
    std::uint32_t wakes = 0;
    {
        SpinGuard guard(lock_);
        SharedWork::Place& place = work.place;
        place.participants = 1;
        place.limit = options_.workers;
        place.to_wake = std::min(hands, options_.workers - 1);
        place.running_next = running_;
        place.running_previous = nullptr;
        if (running_) running_->place.running_previous = &work;
        running_ = &work;
        place.beats = 0;
        if (work.unlisted()) return;
        list_work(work);
        wakes = take_wakes(work);
    }
    wake(wakes);
}

void Scheduler::invite(SharedWork& work) noexcept {
    {
        SpinGuard guard(lock_);
        if (!list_work(work)) return;
    }
    wake_worker();
}

void Scheduler::invite(SharedWork& work, std::uint32_t hands) noexcept {
    std::uint32_t wakes = 0;
    {
        SpinGuard guard(lock_);
        list_work(work);
        work.place.to_wake = std::max(work.place.to_wake, std::min(hands, options_.workers - 1));
        wakes = take_wakes(work);
    }
    wake(wakes);
}

// Lists unlisted work that has been running too long.
void Scheduler::list_overdue() noexcept {
    SpinGuard guard(lock_);
    for (SharedWork* work = running_; work; work = work->place.running_next) {
        if (!work->unlisted() || ++work->place.beats < 2) continue;
        work->list();
        list_work(*work);
    }
}

SharedWork* Scheduler::join_work() noexcept {
    if (open_launches_.load(std::memory_order_relaxed) == 0) return nullptr;
    std::uint32_t wakes = 0;
    SharedWork* best = nullptr;
    {
        SpinGuard guard(lock_);
        for (SharedWork* work = listed_; work; work = work->place.next)
            if (work->has_work() && (!best || work->priority() < best->priority())) best = work;
        if (best) {
            wakes = take_wakes(*best);
            if (++best->place.participants >= best->place.limit) delist_work(*best);
        } else {
            // Nothing to join: what is still listed has no work now; its participants will list it again.
            while (listed_) delist_work(*listed_);
        }
    }
    wake(wakes);
    return best;
}

Scheduler::Leave Scheduler::leave(SharedWork& work) noexcept {
    SharedWork::Place& place = work.place;
    SpinGuard guard(lock_);
    if (work.has_work()) {
        if (place.participants == 1 || !work.lets_go()) return Leave::more_to_do;
        --place.participants;
        return Leave::others_work;
    }
    delist_work(work);
    if (--place.participants != 0) return Leave::others_work;
    (place.running_previous ? place.running_previous->place.running_next : running_) = place.running_next;
    if (place.running_next) place.running_next->place.running_previous = place.running_previous;
    work.nobody_left();
    return Leave::last;
}

bool Scheduler::work_on(SharedWork& work, Worker& worker) noexcept {
    for (;;) {
        work.take_part(worker.executor);
        switch (leave(work)) {
            case Leave::more_to_do:
                continue;
            case Leave::others_work:
                return false;
            case Leave::last:
                return true;
        }
    }
}

// ---- waits for fences ----------------------------------------------------------------------------------------------

bool Scheduler::watch(const EngineFence& fence, const WaitWork& wait) const noexcept {
    const Nanoseconds end = now() + tuning::fence_watch_time;
    do {
        for (int look = 0; look < tuning::fence_looks; ++look) {
            if (wait.outside ? wait.outside->look() : fence.holds(wait)) return true;
            cpu_relax();
        }
    } while (!has_other_work() && now() < end);
    return false;
}

// ---- waits for words in memory -------------------------------------------------------------------------------------

void Scheduler::wait_for_value(Runnable& runnable) noexcept {
    {
        SpinGuard guard(value_lock_);
        runnable.begin_wait();
        runnable.value_waiter.next = value_first_;
        runnable.value_waiter.linked = true;
        value_first_ = &runnable;
        value_waits_.fetch_add(1, std::memory_order_seq_cst);
    }
    wake_worker();
    wake_monitor();
}

bool Scheduler::withdraw_value_wait(Runnable& runnable) noexcept {
    SpinGuard guard(value_lock_);
    if (!runnable.value_waiter.linked) return false;
    Runnable** link = &value_first_;
    while (*link != &runnable) link = &(*link)->value_waiter.next;
    *link = runnable.value_waiter.next;
    runnable.value_waiter.linked = false;
    value_waits_.fetch_sub(1, std::memory_order_seq_cst);
    return true;
}

// Checks every word once; true if a queue could continue.
bool Scheduler::poll_values(Executor& executor) noexcept {
    Runnable* served = nullptr;
    Runnable* faulted = nullptr;
    {
        if (!value_lock_.try_lock()) return false;
        for (Runnable** link = &value_first_; *link;) {
            Runnable* runnable = *link;
            const ValueCheck check = check_value(executor, nullptr, runnable->value_waiter.wait);
            if (check == ValueCheck::not_yet) {
                link = &runnable->value_waiter.next;
                continue;
            }
            *link = runnable->value_waiter.next;
            runnable->value_waiter.linked = false;
            Runnable*& list = check == ValueCheck::satisfied ? served : faulted;
            runnable->value_waiter.next = list;
            list = runnable;
            value_waits_.fetch_sub(1, std::memory_order_seq_cst);
        }
        value_lock_.unlock();
    }
    const bool any = served || faulted;
    while (served) {
        Runnable* runnable = std::exchange(served, served->value_waiter.next);
        runnable->continue_after_wait(WaitResult::satisfied);
    }
    while (faulted) {
        Runnable* runnable = std::exchange(faulted, faulted->value_waiter.next);
        runnable->continue_after_wait(WaitResult::faulted);
    }
    return any;
}

// ---- quiescing -----------------------------------------------------------------------------------------------------

void Scheduler::count_runnable(int change) noexcept {
    if (runnable_.fetch_add(change, std::memory_order_seq_cst) + change == 0) quiet_.wake_all();
}

bool Scheduler::busy() noexcept {
    if (runnable_.load(std::memory_order_seq_cst) == 0) return false;
    SpinGuard guard(lock_);
    for (CountedQueue* queue = all_; queue; queue = queue->all_next)
        if (queue->unfinished(queue->submitted()) != 0) return true;
    return false;
}

Scheduler::Backlog Scheduler::backlog() {
    Backlog found;
    SpinGuard guard(lock_);
    for (CountedQueue* queue = all_; queue; queue = queue->all_next)
        if (const std::uint64_t last = queue->submitted(); queue->completed() < last)
            found.entries.push_back({queue->number, last});
    return found;
}

std::uint64_t Scheduler::unfinished(const Backlog& backlog) noexcept {
    std::uint64_t count = 0;
    SpinGuard guard(lock_);
    CountedQueue* queue = all_;  // numbers decrease along the list, as in the backlog
    for (const Backlog::Entry& entry : backlog.entries) {
        while (queue && queue->number > entry.queue) queue = queue->all_next;
        if (queue && queue->number == entry.queue) count += queue->unfinished(entry.sequence);
    }
    return count;
}

// The caller does not help: a kernel may be waiting for something the caller does next, so it must not run on the
// caller's thread.
bool Scheduler::quiesce() noexcept {
    if (!busy()) return false;
    Backlog before;
    try {
        before = backlog();
    } catch (...) {
        return true;
    }
    std::uint64_t left_before = 0;
    // Waits that ran out since something finished. Counted, because the clock runs on while this machine is paused.
    std::uint32_t idle_waits = 0;
    for (int round = 0, without_work = 0;; ++round) {
        const std::uint64_t left = unfinished(before);
        if (left == 0) return true;
        if (std::exchange(left_before, left) != left)
            idle_waits = 0;
        else if (idle_waits > tuning::quiesce_patience)
            return true;
        if (round < 64) {
            sched_yield();
            continue;
        }
        const ParkingLot::Epoch epoch = quiet_.prepare();
        if (runnable_.load(std::memory_order_seq_cst) == 0 && ++without_work < 64) {  // about to finish
            quiet_.cancel();
            sched_yield();
            continue;
        }
        // A queue that keeps running does not report progress.
        if (!quiet_.park(epoch, Deadline::after(millisecond))) ++idle_waits;
    }
}

void Scheduler::count_host_call(int change) noexcept {
    if (calls_under_way_.fetch_add(static_cast<std::uint32_t>(change), std::memory_order_seq_cst) + change == 0)
        quiet_.wake_all();
}

// A host call that ends first makes its stream ready and then leaves the count, so one of the two is always seen.
bool Scheduler::settle(Deadline deadline) noexcept {
    for (;;) {
        const ParkingLot::Epoch epoch = quiet_.prepare();
        if (calls_under_way_.load(std::memory_order_seq_cst) == 0 && !busy()) {
            quiet_.cancel();
            return true;
        }
        if (deadline.passed()) {
            quiet_.cancel();
            return false;
        }
        // A queue that keeps running does not report progress.
        quiet_.park(epoch, Deadline{std::min(deadline.at, Deadline::after(millisecond).at)});
    }
}

void Scheduler::cancel_running(Runnable& runnable, std::uint64_t limit, FaultKind why) noexcept {
    if (LaunchSlot* slot = runnable.slot()) slot->stop(limit);
    runnable.stop_copy(limit);
    if (CpuLaunch* launch = runnable.cpu_launch()) cpu_cores_.stop(*launch, limit);
    const Executor* self = Executor::existing();
    for_each_executor([&](Executor& executor) {
        if (&executor == self) return;
        const std::uint64_t step = executor.step();
        if (Executor::inside(step) && executor.runs(&runnable, limit)) executor.cancel(step, why);
    });
}

}  // namespace canopy
