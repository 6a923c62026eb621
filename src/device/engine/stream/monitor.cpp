// SPDX-License-Identifier: Apache-2.0
// The scheduler's monitor: a thread with a slow beat that does the work kept off the hot path.
#include <pthread.h>

#include <algorithm>
#include <utility>

#include "device/engine/stream/scheduler.h"

namespace canopy {

void Scheduler::wake_monitor() noexcept {
    if (monitor_sleeps_.load(std::memory_order_seq_cst)) [[unlikely]]
        monitor_.wake_all();
}

void Scheduler::start_timer(Runnable& runnable, std::uint64_t serial, Nanoseconds at) noexcept {
    {
        MutexLock guard(timer_mutex_);
        // A runnable waits for one thing at a time, so an older timer of it is obsolete.
        const auto old =
            std::find_if(timers_.begin(), timers_.end(), [&](const Timer& t) { return t.runnable == &runnable; });
        try {
            if (old != timers_.end())
                *old = {at, &runnable, serial};
            else
                timers_.push_back({at, &runnable, serial});
        } catch (...) {
            return;  // out of memory: the wait has no time limit
        }
        timer_count_.store(static_cast<std::uint32_t>(timers_.size()), std::memory_order_seq_cst);
    }
    wake_monitor();
}

bool Scheduler::anything_to_watch() noexcept {
    return runnable_.load(std::memory_order_seq_cst) != 0 || value_waits_.load(std::memory_order_seq_cst) != 0 ||
           timer_count_.load(std::memory_order_seq_cst) != 0;
}

void Scheduler::monitor_main() noexcept {
    pthread_setname_np(pthread_self(), "canopy-monitor");
    Executor* executor = Executor::current();
    int quiet = 0;
    while (executor && !stopping_.load(std::memory_order_seq_cst)) {
        quiet = monitor_beat(*executor) ? 0 : quiet + 1;
        Deadline until = Deadline::after(tuning::monitor_tick);
        const ParkingLot::Epoch epoch = monitor_.prepare();
        if (quiet > tuning::monitor_idle_ticks) {
            monitor_sleeps_.store(true, std::memory_order_seq_cst);
            until = Deadline::never();
            busy_times_.sleep();
            publish_figures(true);
            figures_told_at_ = 0;  // the next time at once
        } else if (const Nanoseconds time = now(); time - figures_told_at_ >= tuning::figures_interval) {
            figures_told_at_ = time;
            publish_figures(false);
        }
        if ((until.is_never() && anything_to_watch()) || stopping_.load(std::memory_order_seq_cst))
            monitor_.cancel();
        else
            monitor_.park(epoch, until);
        if (until.is_never()) {
            monitor_sleeps_.store(false, std::memory_order_seq_cst);
            // Woken to tell that something has changed: it sleeps again at once.
            quiet = anything_to_watch() ? 0 : tuning::monitor_idle_ticks;
        }
    }
    monitor_ended_.store(true, std::memory_order_release);
}

// False if nothing needs watching.
bool Scheduler::monitor_beat(Executor& executor) noexcept {
    if (!anything_to_watch()) return false;
    bool progress = false;
    check_executors(progress);
    check_timers();
    list_overdue();
    cpu_cores_.end_stopped();
    if (value_waits_.load(std::memory_order_relaxed) != 0) poll_values(executor);
    end_stall(progress);
    return true;
}

// ---- blocks that poll for each other -------------------------------------------------------------------------------

// True if something could run and no thread may take it.
bool Scheduler::starving() noexcept {
    if (has_other_work() && idle_.load(std::memory_order_seq_cst) == 0) return true;
    SpinGuard guard(lock_);
    for (const SharedWork* work = running_; work; work = work->place.running_next)
        if (work->place.participants >= work->place.limit && work->has_work()) return true;
    return false;
}

// If blocks cannot begin and none has ended for a while, the running ones may be polling for those. Doubles the threads
// at each further tick until every block has one.
void Scheduler::end_stall(bool progress) noexcept {
    stalled_ticks_ = starving() && !progress ? stalled_ticks_ + 1 : 0;
    if (stalled_ticks_ >= tuning::ticks_before_more_threads)
        let_in(workers_.load(std::memory_order_relaxed));
    else if (has_other_work())
        parked_.wake_one();
}

// Lets more threads take part in work that has all it may have, and sees to it that there are as many.
void Scheduler::let_in(std::uint32_t threads) noexcept {
    if (threads == 0) return;
    {
        SpinGuard guard(lock_);
        for (SharedWork* work = running_; work; work = work->place.running_next) {
            SharedWork::Place& place = work->place;
            if (!work->has_work()) continue;
            place.limit = std::max(place.limit, place.participants + threads);
            list_work(*work);
        }
    }
    const std::uint32_t idle = std::min(idle_.load(std::memory_order_seq_cst), threads);
    for (std::uint32_t i = 0; i < idle; ++i) parked_.wake_one();
    for (std::uint32_t i = idle; i < threads && workers_.load(std::memory_order_relaxed) < options_.max_workers; ++i)
        start_worker(true);
}

void Scheduler::check_executors(bool& progress) noexcept {
    const Nanoseconds time = now();
    busy_times_.begin_beat(time);
    for_each_executor([&](Executor& executor) {
        const bool has_task = executor.has_task();
        if (executor.works_for.load(std::memory_order_relaxed) != this) return;
        const std::uint64_t step = executor.step();
        const bool cpu = executor.is_cpu_core.load(std::memory_order_relaxed);
        Samples& samples = samples_[cpu ? 1 : 0];
        samples.all.fetch_add(1, std::memory_order_relaxed);
        if (step != executor.seen_step) {
            // A step in which a block only polled is not progress. The two counters are not read atomically and may be
            // one step apart.
            const std::uint64_t idle = executor.idle_steps();
            const std::uint64_t idled = idle - std::exchange(executor.seen_idle_steps, idle);
            const auto forward = static_cast<std::int64_t>(step - std::exchange(executor.seen_step, step) - idled);
            executor.seen_at = time;
            // CPU cores progress independently and say nothing about the workers.
            if (!cpu && (idled == 0 || forward >= 2)) progress = true;
            if (!Executor::inside(step)) return;
            samples.busy.fetch_add(1, std::memory_order_relaxed);
            if (has_task) busy_times_.add(unit_of_work(executor));
            return;
        }
        if (!Executor::inside(step) || !has_task) return;
        // The kernel may be waiting for a lane that its thread has kept.
        if (Worker* worker = Worker::of(executor)) share_kept(*worker);
        samples.busy.fetch_add(1, std::memory_order_relaxed);
        busy_times_.add(unit_of_work(executor));
        const std::uint64_t limit = executor.timeout();
        if (limit != 0 && static_cast<std::uint64_t>(time - executor.seen_at) > limit)
            executor.cancel(step, FaultKind::timeout);
    });
}

void Scheduler::check_timers() noexcept {
    if (timer_count_.load(std::memory_order_relaxed) == 0) return;
    const Nanoseconds time = now();
    // A queue cannot be removed while the mutex is held, so an expired one still exists.
    MutexLock guard(timer_mutex_);
    for (std::size_t i = 0; i < timers_.size();) {
        if (timers_[i].at > time || !timers_[i].runnable->expire_wait(timers_[i].serial)) {
            ++i;
            continue;
        }
        timers_[i] = timers_.back();
        timers_.pop_back();
    }
    timer_count_.store(static_cast<std::uint32_t>(timers_.size()), std::memory_order_relaxed);
}

int Scheduler::utilisation(bool cpu) noexcept {
    Samples& samples = samples_[cpu ? 1 : 0];
    const std::uint64_t all = samples.all.exchange(0, std::memory_order_relaxed);
    const std::uint64_t busy = samples.busy.exchange(0, std::memory_order_relaxed);
    return all == 0 ? 0 : static_cast<int>(busy * 100 / all);
}

}  // namespace canopy
