// SPDX-License-Identifier: Apache-2.0
// Workers and what they choose from. The monitor is in monitor.cpp.
#include "device/soft/stream/scheduler.h"

#include <pthread.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <thread>

#include "device/soft/code/module.h"
#include "device/soft/graph/graph.h"
#include "device/soft/launch/memory_work.h"

namespace canopy {

Scheduler::Scheduler(const SchedulerOptions& options, Checker* checker)
    : options_(options),
      checker_(checker),
      may_spin_(sysconf(_SC_NPROCESSORS_ONLN) > 1),
      cpu_cores_(*this, options.cpu) {}

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
    std::lock_guard guard(start_mutex_);
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
    Executor* executor = Executor::current();
    Nanoseconds idle_since = now();
    while (executor && !stopping_.load(std::memory_order_relaxed)) {
        if (work_once(*executor)) {
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

// One thing to do, if there is any.
bool Scheduler::work_once(Executor& executor) noexcept {
    executor.scheduler.store(this, std::memory_order_relaxed);
    if (Strand* strand = take_ready()) {
        if (has_other_work()) wake_worker();
        strand->go_on(executor);
        return true;
    }
    if (Launch* launch = join_launch()) {
        Strand& strand = launch->strand();
        if (work_on(*launch, executor)) strand.continue_after_launch(executor);
        return true;
    }
    if (take_offered(executor)) return true;
    return value_waits_.load(std::memory_order_relaxed) != 0 && poll_values(executor);
}

// One worker at a time looks around for a while instead of sleeping: the next task then needs no wake-up.
bool Scheduler::spin_for_work() noexcept {
    if (!may_spin_) return false;
    std::uint32_t none = 0;
    if (!spinning_.compare_exchange_strong(none, 1, std::memory_order_seq_cst)) return false;
    const Nanoseconds end = now() + tuning::idle_spin_time;
    bool found = false;
    do {
        for (int poll = 0; poll < 32 && !found; ++poll) {
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

void Scheduler::add(SoftQueue& queue) noexcept {
    SpinGuard guard(lock_);
    queue.number = ++queues_made_;
    queue.all_next = all_;
    if (all_) all_->all_previous = &queue;
    all_ = &queue;
}

void Scheduler::remove(SoftQueue& queue) noexcept {
    {
        SpinGuard guard(lock_);
        if (queue.all_previous)
            queue.all_previous->all_next = queue.all_next;
        else
            all_ = queue.all_next;
        if (queue.all_next) queue.all_next->all_previous = queue.all_previous;
    }
    forget(queue);
}

void Scheduler::forget(Strand& strand) noexcept {
    {
        SpinGuard guard(lock_);
        unlist(strand);
    }
    std::lock_guard guard(timer_mutex_);
    std::erase_if(timers_, [&](const Timer& timer) { return timer.strand == &strand; });
    timer_count_.store(static_cast<std::uint32_t>(timers_.size()), std::memory_order_relaxed);
}

void Scheduler::enqueue(Strand& strand) noexcept {
    if (!started_.load(std::memory_order_acquire)) [[unlikely]]
        start_threads();
    {
        SpinGuard guard(lock_);
        if (!strand.listed) {
            const std::uint32_t level = strand.priority();
            ReadyList& list = ready_[level];
            strand.listed = true;
            strand.ready_level = level;
            strand.ready_next = nullptr;
            strand.ready_previous = list.last;
            (list.last ? list.last->ready_next : list.first) = &strand;
            list.last = &strand;
            ready_mask_.fetch_or(1u << level, std::memory_order_seq_cst);  // pairs with the look before parking
        }
        // Before the queue can run and end, and the device with it.
        wakers_.fetch_add(1, std::memory_order_relaxed);
        // Inside the lock: whoever claims the queue, empties it and removes it must pass here first.
        strand.become_ready();
    }
    wake_worker();
    wake_monitor();
    wakers_.fetch_sub(1, std::memory_order_release);
}

void Scheduler::unlist(Strand& strand) noexcept {
    if (!strand.listed) return;
    ReadyList& list = ready_[strand.ready_level];
    (strand.ready_previous ? strand.ready_previous->ready_next : list.first) = strand.ready_next;
    (strand.ready_next ? strand.ready_next->ready_previous : list.last) = strand.ready_previous;
    strand.listed = false;
    strand.ready_next = strand.ready_previous = nullptr;
    if (!list.first) ready_mask_.fetch_and(~(1u << strand.ready_level), std::memory_order_seq_cst);
}

// The most urgent ready queue, claimed for the caller. Queues that somebody else has claimed fall out on the way.
Strand* Scheduler::take_ready() noexcept {
    if (ready_mask_.load(std::memory_order_relaxed) == 0) return nullptr;
    SpinGuard guard(lock_);
    for (;;) {
        const std::uint32_t mask = ready_mask_.load(std::memory_order_relaxed);
        if (mask == 0) return nullptr;
        Strand* strand = ready_[std::countr_zero(mask)].first;
        unlist(*strand);
        if (strand->claim()) return strand;
    }
}

// ---- lanes of graphs that other threads have kept ------------------------------------------------------------------

void Scheduler::offer_kept(Executor& executor) noexcept {
    if (offering_.load(std::memory_order_relaxed)) return;
    {
        SpinGuard guard(lock_);
        if (offering_.load(std::memory_order_relaxed)) return;
        offering_.store(&executor, std::memory_order_seq_cst);
        executor.offers = true;
    }
    if (executor.kept.time() >= tuning::time_worth_waking) wake_worker();
}

void Scheduler::withdraw_offer(Executor& executor) noexcept {
    if (!executor.offers) return;
    executor.offers = false;
    SpinGuard guard(lock_);
    if (offering_.load(std::memory_order_relaxed) == &executor) offering_.store(nullptr, std::memory_order_relaxed);
}

bool Scheduler::take_offered(Executor& executor) noexcept {
    if (!offering_.load(std::memory_order_relaxed)) return false;
    Lane* taken = nullptr;
    {
        SpinGuard guard(lock_);
        Executor* from = offering_.load(std::memory_order_relaxed);
        if (from && from != &executor) taken = from->kept.take_half();
        if (!taken) offering_.store(nullptr, std::memory_order_relaxed);
    }
    if (!taken) return false;
    while (taken) {
        Lane* lane = std::exchange(taken, taken->kept_next);
        executor.kept.push(*lane);
    }
    SoftGraph::work_off(executor);
    withdraw_offer(executor);
    return true;
}

// ---- launches with many blocks -------------------------------------------------------------------------------------

std::uint32_t Scheduler::resident_groups(const SoftKernel& kernel, std::uint32_t groups) const noexcept {
    const CoreGroup group = kernel.group;
    if (kernel.type == CANOPY_CORE_AICORE) return std::min(groups, std::max(core_count(true), 1u));
    if (group.cube != 0) groups = std::min(groups, core_count(true) / group.cube);
    if (group.vector != 0) groups = std::min(groups, core_count(false) / group.vector);
    return std::max(groups, 1u);
}

CoreNeed Scheduler::cores_for(const SoftKernel& kernel, std::uint32_t groups) const noexcept {
    const bool coupled = kernel.type == CANOPY_CORE_AICORE;
    const std::uint32_t cube = coupled ? groups : groups * kernel.group.cube;
    const std::uint32_t vector = coupled ? 0 : groups * kernel.group.vector;
    return {std::min(cube, core_count(true)), std::min(vector, core_count(false))};
}

// False: it is listed already.
bool Scheduler::list(Launch& launch) noexcept {
    if (launch.listed) return false;
    launch.listed = true;
    launch.next = launches_;
    launch.previous = nullptr;
    if (launches_) launches_->previous = &launch;
    launches_ = &launch;
    open_launches_.fetch_add(1, std::memory_order_seq_cst);
    return true;
}

void Scheduler::delist(Launch& launch) noexcept {
    if (!launch.listed) return;
    (launch.previous ? launch.previous->next : launches_) = launch.next;
    if (launch.next) launch.next->previous = launch.previous;
    launch.listed = false;
    launch.next = launch.previous = nullptr;
    open_launches_.fetch_sub(1, std::memory_order_seq_cst);
}

void Scheduler::wake_for(std::uint32_t hands) noexcept {
    for (std::uint32_t i = 0; i < hands && i + 1 < options_.workers && parked_.has_waiters(); ++i) parked_.wake_one();
}

void Scheduler::publish(Launch& launch) noexcept {
    {
        SpinGuard guard(lock_);
        launch.running_next = running_;
        launch.running_previous = nullptr;
        if (running_) running_->running_previous = &launch;
        running_ = &launch;
        launch.beats = 0;
        if (launch.hides()) return;
        list(launch);
    }
    wake_for(launch.hands_wanted());
}

void Scheduler::invite(Launch& launch) noexcept {
    {
        SpinGuard guard(lock_);
        if (!list(launch)) return;
    }
    wake_worker();
}

void Scheduler::invite(Launch& launch, std::uint32_t hands) noexcept {
    {
        SpinGuard guard(lock_);
        list(launch);
    }
    wake_for(hands);
}

// What has been hiding for longer than it should have taken.
void Scheduler::show_hidden() noexcept {
    SpinGuard guard(lock_);
    for (Launch* launch = running_; launch; launch = launch->running_next) {
        if (!launch->hides() || ++launch->beats < 2) continue;
        launch->show();
        list(*launch);
    }
}

Launch* Scheduler::join_launch() noexcept {
    if (open_launches_.load(std::memory_order_relaxed) == 0) return nullptr;
    SpinGuard guard(lock_);
    Launch* best = nullptr;
    for (Launch* launch = launches_; launch; launch = launch->next)
        if (launch->has_work() && (!best || launch->strand().priority() < best->strand().priority())) best = launch;
    if (best) {
        ++best->participants;
        return best;
    }
    // Nothing to join: what is still listed has no work for anybody, its participants list it again when it has.
    while (launches_) delist(*launches_);
    return nullptr;
}

Scheduler::Leave Scheduler::leave(Launch& launch) noexcept {
    SpinGuard guard(lock_);
    if (launch.has_work()) return Leave::more_to_do;
    delist(launch);
    if (--launch.participants != 0) return Leave::others_work;
    (launch.running_previous ? launch.running_previous->running_next : running_) = launch.running_next;
    if (launch.running_next) launch.running_next->running_previous = launch.running_previous;
    if (!launch.all_finished() && !launch.cancelled()) launch.fail_deadlock();
    return Leave::last;
}

bool Scheduler::work_on(Launch& launch, Executor& executor) noexcept {
    for (;;) {
        launch.take_part(executor, fibers_);
        switch (leave(launch)) {
            case Leave::more_to_do:
                continue;
            case Leave::others_work:
                return false;
            case Leave::last:
                return true;
        }
    }
}

bool Scheduler::acquire_cores(Strand& strand, std::uint32_t cube, std::uint32_t vector) noexcept {
    SpinGuard guard(lock_);
    const bool fits = (cube == 0 || cores_used_[0] + cube <= options_.cores[0]) &&
                      (vector == 0 || cores_used_[1] + vector <= options_.cores[1]);
    if (fits && !cores_first_) {
        cores_used_[0] += cube;
        cores_used_[1] += vector;
        return true;
    }
    // In order of arrival, more urgent ones first.
    Strand** link = &cores_first_;
    while (*link && (*link)->priority() <= strand.priority()) link = &(*link)->cores_next;
    strand.cores_next = *link;
    *link = &strand;
    strand.begin_wait();
    return false;
}

// Takes those out of the line whose cores are free now, and gives them the cores.
Strand* Scheduler::take_served() noexcept {
    Strand* served = nullptr;
    Strand** end = &served;
    while (cores_first_) {
        const Launch& next = cores_first_->launch();
        if (cores_used_[0] + next.cores_held[0] > options_.cores[0] ||
            cores_used_[1] + next.cores_held[1] > options_.cores[1])
            break;
        cores_used_[0] += next.cores_held[0];
        cores_used_[1] += next.cores_held[1];
        *end = cores_first_;
        cores_first_ = cores_first_->cores_next;
        (*end)->cores_next = nullptr;
        end = &(*end)->cores_next;
    }
    return served;
}

void Scheduler::release_cores(Launch& launch) noexcept {
    Strand* served = nullptr;
    {
        SpinGuard guard(lock_);
        cores_used_[0] -= launch.cores_held[0];
        cores_used_[1] -= launch.cores_held[1];
        served = take_served();
    }
    give_cores(served);
}

bool Scheduler::withdraw_core_wait(Strand& strand) noexcept {
    Strand* served = nullptr;
    {
        SpinGuard guard(lock_);
        Strand** link = &cores_first_;
        while (*link && *link != &strand) link = &(*link)->cores_next;
        if (!*link) return false;
        *link = strand.cores_next;
        strand.cores_next = nullptr;
        served = take_served();  // those behind it may need fewer
    }
    give_cores(served);
    return true;
}

void Scheduler::give_cores(Strand* served) noexcept {
    while (served) {
        Strand* strand = served;
        served = strand->cores_next;
        strand->cores_next = nullptr;
        strand->continue_after_wait(WaitResult::satisfied);
    }
}

// ---- waits for words in memory -------------------------------------------------------------------------------------

void Scheduler::wait_for_value(Strand& strand) noexcept {
    {
        SpinGuard guard(value_lock_);
        strand.begin_wait();
        strand.value_waiter.next = value_first_;
        strand.value_waiter.linked = true;
        value_first_ = &strand;
        value_waits_.fetch_add(1, std::memory_order_seq_cst);
    }
    wake_worker();
    wake_monitor();
}

bool Scheduler::withdraw_value_wait(Strand& strand) noexcept {
    SpinGuard guard(value_lock_);
    if (!strand.value_waiter.linked) return false;
    Strand** link = &value_first_;
    while (*link != &strand) link = &(*link)->value_waiter.next;
    *link = strand.value_waiter.next;
    strand.value_waiter.linked = false;
    value_waits_.fetch_sub(1, std::memory_order_seq_cst);
    return true;
}

// Looks at every word once; true when a queue could go on.
bool Scheduler::poll_values(Executor& executor) noexcept {
    Strand* served = nullptr;
    Strand* faulted = nullptr;
    {
        if (!value_lock_.try_lock()) return false;
        for (Strand** link = &value_first_; *link;) {
            Strand* strand = *link;
            const ValueCheck check = check_value(executor, nullptr, strand->value_waiter.wait);
            if (check == ValueCheck::not_yet) {
                link = &strand->value_waiter.next;
                continue;
            }
            *link = strand->value_waiter.next;
            strand->value_waiter.linked = false;
            Strand*& list = check == ValueCheck::satisfied ? served : faulted;
            strand->value_waiter.next = list;
            list = strand;
            value_waits_.fetch_sub(1, std::memory_order_seq_cst);
        }
        value_lock_.unlock();
    }
    const bool any = served || faulted;
    while (served) {
        Strand* strand = std::exchange(served, served->value_waiter.next);
        strand->continue_after_wait(WaitResult::satisfied);
    }
    while (faulted) {
        Strand* strand = std::exchange(faulted, faulted->value_waiter.next);
        strand->continue_after_wait(WaitResult::faulted);
    }
    return any;
}

// ---- coming to rest ------------------------------------------------------------------------------------------------

void Scheduler::count_runnable(int change) noexcept {
    if (runnable_.fetch_add(change, std::memory_order_seq_cst) + change == 0) quiet_.wake_all();
}

bool Scheduler::busy() noexcept {
    if (runnable_.load(std::memory_order_seq_cst) == 0) return false;
    SpinGuard guard(lock_);
    for (SoftQueue* queue = all_; queue; queue = queue->all_next)
        if (queue->unfinished(queue->submitted()) != 0) return true;
    return false;
}

Scheduler::Backlog Scheduler::backlog() {
    Backlog found;
    SpinGuard guard(lock_);
    for (SoftQueue* queue = all_; queue; queue = queue->all_next)
        if (const std::uint64_t last = queue->submitted(); queue->completed() < last)
            found.entries.push_back({queue->number, last});
    return found;
}

std::uint64_t Scheduler::unfinished(const Backlog& backlog) noexcept {
    std::uint64_t count = 0;
    SpinGuard guard(lock_);
    SoftQueue* queue = all_;  // numbers fall along the list, as they do in the backlog
    for (const Backlog::Entry& entry : backlog.entries) {
        while (queue && queue->number > entry.queue) queue = queue->all_next;
        if (queue && queue->number == entry.queue) count += queue->unfinished(entry.sequence);
    }
    return count;
}

// The caller does not help: what runs may be waiting for what the caller does next, and must not do so on its thread.
void Scheduler::quiesce() noexcept {
    if (!busy()) return;
    Backlog before;
    try {
        before = backlog();
    } catch (...) {
        return;
    }
    Nanoseconds progress_at = now();
    std::uint64_t left_before = 0;
    for (int round = 0;; ++round) {
        const std::uint64_t left = unfinished(before);
        if (left == 0) return;
        if (std::exchange(left_before, left) != left)
            progress_at = now();
        else if (now() - progress_at > tuning::quiesce_patience)
            return;
        if (round < 64) {
            sched_yield();
            continue;
        }
        const ParkingLot::Epoch epoch = quiet_.prepare();
        if (runnable_.load(std::memory_order_seq_cst) == 0)
            quiet_.cancel();
        else
            quiet_.park(epoch, Deadline::after(millisecond));  // a queue that goes on does not say what it has passed
    }
}

void Scheduler::cancel_running(Strand& strand, std::uint64_t limit, FaultKind why) noexcept {
    strand.launch().stop_below(limit);
    if (CpuLaunch* launch = strand.cpu_launch()) cpu_cores_.stop(*launch, limit);
    const Executor* self = Executor::existing();
    for_each_executor([&](Executor& executor) {
        if (&executor == self) return;
        const std::uint64_t step = executor.step();
        if (Executor::inside(step) && executor.runs(&strand, limit)) executor.cancel(step, why);
    });
}

}  // namespace canopy
