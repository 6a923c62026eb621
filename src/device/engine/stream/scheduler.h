// SPDX-License-Identifier: Apache-2.0
// Scheduler: the workers of one device and the work they choose from: ready queues by strict priority, shared work that
// needs more threads, and words in memory that queues wait for. A monitor thread watches for kernels that
// take too long and for expired waits; it sleeps when the device is idle. If blocks stop finishing while others cannot
// begin, they may be polling for each other: the monitor then adds threads until every resident block has one.
//
// Lock order: a stream's submit lock, a fence's lock, then lock_ here; value_lock_ and timer_mutex_ are leaves.
#pragma once

#include <atomic>
#include <cstdint>
#include <vector>

#include "base/parking.h"
#include "base/spin_lock.h"
#include "device/engine/cpu/cpu_cores.h"
#include "device/engine/stream/busy_times.h"
#include "device/engine/stream/fence.h"
#include "device/engine/stream/host_calls.h"
#include "device/engine/stream/runnable.h"
#include "device/engine/stream/shared_work.h"
#include "device/engine/stream/worker.h"
#include "device/execution/tuning.h"
#include "foundation/mutex.h"

namespace canopy {

namespace watch {
class DevicePage;
}

struct SchedulerOptions {
    std::uint32_t workers = 1;
    std::uint32_t max_workers = 64;  // including those added so that every resident block has a thread
    CpuCoresOptions cpu;
    const char* thread_name = "canopy";
    std::uint32_t device = 0;  // its number, in profiles
};

// A queue, as the scheduler sees it to count unfinished work.
class CountedQueue {
public:
    [[nodiscard]] virtual std::uint64_t submitted() const noexcept = 0;
    [[nodiscard]] virtual std::uint64_t completed() const noexcept = 0;
    // Number of commands up to `sequence` that are not completed; 0 while the queue is in a wait.
    [[nodiscard]] virtual std::uint64_t unfinished(std::uint64_t sequence) const noexcept = 0;

    // For programs that watch this one.
    [[nodiscard]] virtual watch::StreamFigures figures() const noexcept = 0;
    [[nodiscard]] virtual const TaskOwner* task_owner() const noexcept = 0;
    std::uint64_t sampled_completed = UINT64_MAX;  // when it was looked at last
    Nanoseconds sampled_at = 0;                    // since when it is at this command

    // The scheduler's list of all queues.
    std::uint64_t number = 0;  // unique among the scheduler's queues; never reused
    CountedQueue* all_next = nullptr;
    CountedQueue* all_previous = nullptr;

protected:
    ~CountedQueue() = default;
};

class Scheduler {
public:
    Scheduler(const SchedulerOptions& options, Driver& driver);
    ~Scheduler();
    Scheduler(const Scheduler&) = delete;
    Scheduler& operator=(const Scheduler&) = delete;

    void add(CountedQueue& queue) noexcept;
    void remove(CountedQueue& queue) noexcept;  // call forget for its runnable as well
    // Removes a runnable that is being destroyed from the lists and timers.
    void forget(Runnable& runnable) noexcept;

    // Starts the threads, unless they run already. Done by the first enqueue as well.
    void start() noexcept {
        if (!started_.load(std::memory_order_acquire)) [[unlikely]]
            start_threads();
    }
    // Makes it ready; a thread will claim it. It may be gone when this returns.
    void enqueue(Runnable& runnable) noexcept;
    // True if the owner of a queue of that priority should yield after `turn` tasks.
    [[nodiscard]] bool should_yield(std::uint32_t priority, std::uint32_t turn) const noexcept {
        const std::uint32_t mask = ready_mask_.load(std::memory_order_relaxed);
        if (mask == 0) [[likely]]
            return false;
        if (idle_.load(std::memory_order_relaxed) != 0) return false;
        if (mask & ((1u << priority) - 1)) return true;
        return turn >= tuning::tasks_per_turn && (mask & (1u << priority)) != 0;
    }
    [[nodiscard]] bool has_other_work() const noexcept {
        return ready_mask_.load(std::memory_order_relaxed) != 0 ||
               open_launches_.load(std::memory_order_relaxed) != 0 || offering_.load(std::memory_order_relaxed);
    }
    // Lets idle workers take some of the lanes this one has kept.
    void offer_kept(Worker& worker) noexcept;
    void withdraw_offer(Worker& worker) noexcept;
    // Makes all lanes ready that the worker has kept.
    void share_kept(Worker& worker) noexcept;

    // Registers shared work that begins. Unless it is unlisted, lists it so that other workers can join.
    void publish(SharedWork& work) noexcept;
    // Lists it again: blocks have become runnable, or new items are worth waking `hands` sleeping workers for.
    void invite(SharedWork& work) noexcept;
    void invite(SharedWork& work, std::uint32_t hands) noexcept;
    // Takes part until nothing is left for this thread, which is already counted as a participant. True: it was the
    // last participant and must complete the work. False: the work may be gone already.
    bool work_on(SharedWork& work, Worker& worker) noexcept;

    // Cancels whatever is running of its first `limit` commands, on any thread.
    void cancel_running(Runnable& runnable, std::uint64_t limit, FaultKind why) noexcept;

    // Watches a fence for a short time, while no stream is ready. True: the condition holds. The signal then costs one
    // cache line transfer; taking over a parked stream costs ten.
    bool watch(const EngineFence& fence, const WaitWork& wait) const noexcept;
    [[nodiscard]] bool may_watch(const Worker& worker, const WaitWork& wait) const noexcept {
        return may_spin_ && options_.workers > 1 && (!wait.clear || wait.outside) && worker.hand_over.empty() &&
               worker.kept.empty() && !has_other_work();
    }
    void wait_for_value(Runnable& runnable) noexcept;
    bool withdraw_value_wait(Runnable& runnable) noexcept;
    void start_timer(Runnable& runnable, std::uint64_t serial, Nanoseconds at) noexcept;

    // Counts queues that are neither idle nor in a wait.
    void count_runnable(int change) noexcept;
    // Adds the changes that a draining thread has accumulated.
    void flush_count(Worker& worker) noexcept {
        if (const int change = worker.hand_over.take_change(); change != 0) [[unlikely]]
            count_runnable(change);
    }
    // True if anything could be running right now.
    [[nodiscard]] bool busy() noexcept;
    // A snapshot of commands submitted but not completed, newest queue first.
    struct Backlog {
        struct Entry {
            std::uint64_t queue;  // its number
            std::uint64_t sequence;
        };
        std::vector<Entry> entries;
    };
    [[nodiscard]] Backlog backlog();
    // Number of its commands that can still run; 0 if all are done or behind a wait.
    [[nodiscard]] std::uint64_t unfinished(const Backlog& backlog) noexcept;
    // Waits until all earlier commands that can run have finished, or nothing has finished for a long time. False if
    // there was nothing to wait for.
    bool quiesce() noexcept;
    // Waits until nothing can run and no host call is under way. False if the deadline passes first.
    bool settle(Deadline deadline) noexcept;
    // Counts host calls of streams and graphs that have begun and not ended.
    void count_host_call(int change) noexcept;

    void set_kernel_timeout(std::uint64_t timeout) noexcept {
        kernel_timeout_.store(timeout, std::memory_order_relaxed);
    }
    [[nodiscard]] std::uint64_t kernel_timeout() const noexcept {
        return kernel_timeout_.load(std::memory_order_relaxed);
    }
    [[nodiscard]] Driver& driver() const noexcept { return driver_; }
    [[nodiscard]] std::uint32_t device() const noexcept { return options_.device; }
    [[nodiscard]] const Abilities& abilities() const noexcept { return abilities_; }
    [[nodiscard]] HostCalls& host_calls() noexcept { return host_calls_; }
    [[nodiscard]] CpuCores& cpu_cores() noexcept { return cpu_cores_; }
    [[nodiscard]] Checker* checker() const noexcept { return abilities_.checker; }
    [[nodiscard]] bool checks() const noexcept { return checker() && checker()->enabled(); }
    [[nodiscard]] bool may_spin() const noexcept { return may_spin_; }
    // Percentage of the time since the last call that threads of that kind spent inside blocks.
    int utilisation(bool cpu) noexcept;

    // Where it tells programs that watch this one what the device does.
    void set_page(watch::DevicePage* page) noexcept;
    // Streams, or memory in use, have changed, perhaps while the monitor sleeps.
    void tell_figures() noexcept;
    void tell_memory() noexcept;

private:
    struct Timer {
        Nanoseconds at;
        Runnable* runnable;
        std::uint64_t serial;
    };

    void start_threads() noexcept;
    bool start_worker(bool extra) noexcept;
    void worker_main(bool extra) noexcept;
    bool work_once(Worker& worker) noexcept;
    bool spin_for_work() noexcept;
    enum class Leave { more_to_do, others_work, last };
    Leave leave(SharedWork& work) noexcept;
    Runnable* take_ready() noexcept;
    SharedWork* join_work() noexcept;
    bool take_offered(Worker& worker) noexcept;
    bool poll_values(Executor& executor) noexcept;
    void wake_worker() noexcept;
    void unlist(Runnable& runnable) noexcept CANOPY_REQUIRES(lock_);
    bool list_work(SharedWork& work) noexcept CANOPY_REQUIRES(lock_);
    void delist_work(SharedWork& work) noexcept CANOPY_REQUIRES(lock_);
    [[nodiscard]] std::uint32_t take_wakes(SharedWork& work) noexcept CANOPY_REQUIRES(lock_);
    void wake(std::uint32_t threads) noexcept;
    void list_overdue() noexcept;

    void monitor_main() noexcept;
    void wake_monitor() noexcept;
    bool monitor_beat(Executor& executor) noexcept;
    void check_executors(bool& progress) noexcept;
    void end_stall(bool progress) noexcept;
    [[nodiscard]] bool starving() noexcept;
    void let_in(std::uint32_t threads) noexcept;
    void check_timers() noexcept;
    struct Sample;
    void sample_running(Sample& sample);
    void sample_streams(Sample& sample);
    void sample_times(watch::DeviceFigures& device) noexcept;
    void publish_figures(bool asleep, bool monitor = true) noexcept;
    static watch::Unit unit_of_work(Executor& executor) noexcept;
    bool anything_to_watch() noexcept;

    const SchedulerOptions options_;
    Driver& driver_;
    const Abilities abilities_;
    const bool may_spin_;

    SpinLock lock_;
    struct ReadyList {
        Runnable* first = nullptr;
        Runnable* last = nullptr;
    };
    ReadyList ready_[8] CANOPY_GUARDED_BY(lock_);
    CountedQueue* all_ CANOPY_GUARDED_BY(lock_) = nullptr;
    std::uint64_t queues_made_ CANOPY_GUARDED_BY(lock_) = 0;
    std::uint64_t removed_commands_ CANOPY_GUARDED_BY(lock_) = 0;  // that queues had completed which are gone
    SharedWork* listed_ CANOPY_GUARDED_BY(lock_) = nullptr;        // has something to do for others
    SharedWork* running_ CANOPY_GUARDED_BY(lock_) = nullptr;       // all that has begun
    std::atomic<std::uint32_t> ready_mask_{0};
    std::atomic<std::uint32_t> open_launches_{0};
    std::atomic<Worker*> offering_{nullptr};  // changed under lock_
    std::atomic<std::uint32_t> wakers_{0};    // threads that have made a queue ready and are still in enqueue

    alignas(64) std::atomic<std::uint32_t> spinning_{0};
    std::atomic<std::uint32_t> idle_{0};  // workers that spin or sleep
    std::atomic<std::uint32_t> workers_{0};
    std::atomic<std::uint32_t> worker_numbers_{0};
    ParkingLot parked_;
    std::atomic<bool> started_{false};
    std::atomic<bool> stopping_{false};
    Mutex start_mutex_;  // held by the thread that starts the others

    alignas(64) std::atomic<std::int32_t> runnable_{0};
    ParkingLot quiet_;
    std::atomic<std::uint32_t> calls_under_way_{0};

    SpinLock value_lock_;
    Runnable* value_first_ CANOPY_GUARDED_BY(value_lock_) = nullptr;
    std::atomic<std::uint32_t> value_waits_{0};

    Mutex timer_mutex_;
    std::vector<Timer> timers_ CANOPY_GUARDED_BY(timer_mutex_);
    std::atomic<std::uint32_t> timer_count_{0};

    std::uint32_t stalled_ticks_ = 0;  // of the monitor: in which blocks could neither begin nor end
    ParkingLot monitor_;
    std::atomic<bool> monitor_sleeps_{false};
    std::atomic<bool> monitor_ended_{true};
    std::atomic<std::uint64_t> kernel_timeout_{0};
    struct Samples {
        std::atomic<std::uint64_t> busy{0}, all{0};
    };
    Samples samples_[2];  // of workers, of CPU cores
    std::atomic<watch::DevicePage*> page_{nullptr};
    BusyTimes busy_times_;             // of the monitor
    Nanoseconds figures_told_at_ = 0;  // of the monitor

    HostCalls host_calls_;
    CpuCores cpu_cores_;
};

}  // namespace canopy
