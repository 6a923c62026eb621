// SPDX-License-Identifier: Apache-2.0
// Scheduler: the workers of one software NPU and what they choose from. Ready queues by strict priority, running
// launches that want more hands, words in memory that queues wait for. A monitor thread watches for blocks that stop
// finishing (and adds workers until every resident block has one), for kernels that take too long, and for waits whose
// time is over; it sleeps when the device does.
//
// Lock order: a stream's submit lock, a fence's lock, then lock_ here; value_lock_ and timer_mutex_ are leaves.
#pragma once

#include <atomic>
#include <cstdint>
#include <vector>

#include "base/mutex.h"
#include "base/parking.h"
#include "base/spin_lock.h"
#include "device/soft/base/tuning.h"
#include "device/soft/cpu/cpu_cores.h"
#include "device/soft/launch/chip_cores.h"
#include "device/soft/launch/launch.h"
#include "device/soft/stream/host_calls.h"
#include "device/soft/stream/runnable.h"
#include "device/soft/stream/worker.h"

namespace canopy {

struct SchedulerOptions {
    std::uint32_t workers = 1;
    std::uint32_t max_workers = 64;  // with those added so that every resident block has a thread
    ChipCores cores;
    CpuCoresOptions cpu;
    const char* thread_name = "canopy";
};

// What runs after every kernel in checking mode; returns an explanation when it found damage.
class Checker {
public:
    virtual ~Checker() = default;
    virtual bool damaged(std::string& what) noexcept = 0;
    // Where an address lies, in words.
    virtual std::string describe(std::uintptr_t address) noexcept = 0;
    [[nodiscard]] virtual bool enabled() const noexcept = 0;
};

// A queue, as the scheduler counts what is left to do in it.
class CountedQueue {
public:
    [[nodiscard]] virtual std::uint64_t submitted() const noexcept = 0;
    [[nodiscard]] virtual std::uint64_t completed() const noexcept = 0;
    // Commands up to `sequence` that are still to be completed; 0 while the queue is in a wait.
    [[nodiscard]] virtual std::uint64_t unfinished(std::uint64_t sequence) const noexcept = 0;

    // The scheduler's list of all queues.
    std::uint64_t number = 0;  // among all queues of the scheduler; never used twice
    CountedQueue* all_next = nullptr;
    CountedQueue* all_previous = nullptr;

protected:
    ~CountedQueue() = default;
};

class Scheduler {
public:
    Scheduler(const SchedulerOptions& options, Checker* checker);
    ~Scheduler();
    Scheduler(const Scheduler&) = delete;
    Scheduler& operator=(const Scheduler&) = delete;

    void add(CountedQueue& queue) noexcept;
    void remove(CountedQueue& queue) noexcept;  // its runnable must be forgotten as well
    // Takes a runnable that ends out of the lists and timers.
    void forget(Runnable& runnable) noexcept;

    // Makes it ready; a thread will claim it. It may be gone when this returns.
    void enqueue(Runnable& runnable) noexcept;
    // Should the owner of a queue of that priority step back after `turn` tasks?
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
    // Lets workers without work take some of the lanes this one has kept.
    void offer_kept(Worker& worker) noexcept;
    void withdraw_offer(Worker& worker) noexcept;
    // Makes everything ready that the worker has kept.
    void share_kept(Worker& worker) noexcept;

    // Lists a launch that begins so that other workers can join, unless it is unlisted.
    void publish(Runnable& runnable) noexcept;
    // Lists its launch again: blocks have become runnable, or there are items that `hands` sleeping workers are worth
    // waking for.
    void invite(Runnable& runnable) noexcept;
    void invite(Runnable& runnable, std::uint32_t hands) noexcept;
    // Takes part in its launch until there is nothing left for this thread, which has been counted as participant.
    // True: it was the last one and must complete the launch. False: the launch may be gone already.
    bool work_on(Runnable& runnable, Worker& worker) noexcept;
    // Takes cores for its launch; false when they are busy: it is then waiting for them.
    bool acquire_cores(Runnable& runnable, CoreNeed need) noexcept;
    void release_cores(Runnable& runnable) noexcept;
    // Gives up waiting for cores; false when they have been given meanwhile.
    bool withdraw_core_wait(Runnable& runnable) noexcept;

    // Stops what runs of this queue's first `limit` commands, wherever it runs.
    void cancel_running(Runnable& runnable, std::uint64_t limit, FaultKind why) noexcept;

    void wait_for_value(Runnable& runnable) noexcept;
    bool withdraw_value_wait(Runnable& runnable) noexcept;
    void start_timer(Runnable& runnable, std::uint64_t serial, Nanoseconds at) noexcept;

    // Counts queues that are neither idle nor in a wait.
    void count_runnable(int change) noexcept;
    // Adds what a draining thread has counted by itself.
    void flush_count(Worker& worker) noexcept {
        if (const int change = worker.hand_over.take_change(); change != 0) [[unlikely]]
            count_runnable(change);
    }
    // Whether anything could be running right now.
    [[nodiscard]] bool busy() noexcept;
    // What had been submitted at one moment and was not completed, newest queue first.
    struct Backlog {
        struct Entry {
            std::uint64_t queue;  // its number
            std::uint64_t sequence;
        };
        std::vector<Entry> entries;
    };
    [[nodiscard]] Backlog backlog();
    // Commands of it that could still run; 0 when all are done or behind a wait.
    [[nodiscard]] std::uint64_t unfinished(const Backlog& backlog) noexcept;
    // Waits until everything submitted before that could run has, or nothing has ended for a long time.
    void quiesce() noexcept;

    void set_kernel_timeout(std::uint64_t timeout) noexcept {
        kernel_timeout_.store(timeout, std::memory_order_relaxed);
    }
    [[nodiscard]] std::uint64_t kernel_timeout() const noexcept {
        return kernel_timeout_.load(std::memory_order_relaxed);
    }
    [[nodiscard]] FiberPool& fibers() noexcept { return fibers_; }
    [[nodiscard]] HostCalls& host_calls() noexcept { return host_calls_; }
    [[nodiscard]] CpuCores& cpu_cores() noexcept { return cpu_cores_; }
    [[nodiscard]] Checker* checker() const noexcept { return checker_; }
    [[nodiscard]] bool checks() const noexcept { return checker_ && checker_->enabled(); }
    [[nodiscard]] const ChipCores& cores() const noexcept { return options_.cores; }
    [[nodiscard]] bool may_spin() const noexcept { return may_spin_; }
    // Share of the time since the last call in which threads of that kind were inside blocks, in percent.
    int utilisation(bool cpu) noexcept;

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
    Leave leave(Runnable& runnable) noexcept;
    Runnable* take_ready() noexcept;
    Runnable* join_launch() noexcept;
    bool take_offered(Worker& worker) noexcept;
    bool poll_values(Executor& executor) noexcept;
    void wake_worker() noexcept;
    void unlist(Runnable& runnable) noexcept CANOPY_REQUIRES(lock_);
    bool list_launch(Runnable& runnable) noexcept CANOPY_REQUIRES(lock_);
    void delist_launch(Runnable& runnable) noexcept CANOPY_REQUIRES(lock_);
    void wake_for(std::uint32_t hands) noexcept;
    void list_overdue() noexcept;
    Runnable* take_served() noexcept CANOPY_REQUIRES(lock_);
    static void give_cores(Runnable* served) noexcept;

    void monitor_main() noexcept;
    void wake_monitor() noexcept;
    bool monitor_beat(Executor& executor) noexcept;
    void check_executors(bool& progress, std::uint32_t& running) noexcept;
    void check_timers() noexcept;
    bool anything_to_watch() noexcept;

    const SchedulerOptions options_;
    Checker* const checker_;
    const bool may_spin_;

    SpinLock lock_;
    struct ReadyList {
        Runnable* first = nullptr;
        Runnable* last = nullptr;
    };
    ReadyList ready_[8] CANOPY_GUARDED_BY(lock_);
    CountedQueue* all_ CANOPY_GUARDED_BY(lock_) = nullptr;
    std::uint64_t queues_made_ CANOPY_GUARDED_BY(lock_) = 0;
    Runnable* launches_ CANOPY_GUARDED_BY(lock_) = nullptr;  // whose launches have work for others
    Runnable* running_ CANOPY_GUARDED_BY(lock_) = nullptr;   // whose launches run
    CoreNeed cores_used_ CANOPY_GUARDED_BY(lock_);
    Runnable* cores_first_ CANOPY_GUARDED_BY(lock_) = nullptr;
    std::atomic<std::uint32_t> ready_mask_{0};
    std::atomic<std::uint32_t> open_launches_{0};
    std::atomic<Worker*> offering_{nullptr};  // changed under lock_
    std::atomic<std::uint32_t> wakers_{0};    // threads that have made a queue ready and not returned yet

    alignas(64) std::atomic<std::uint32_t> spinning_{0};
    std::atomic<std::uint32_t> idle_{0};  // workers that spin or sleep
    std::atomic<std::uint32_t> workers_{0};
    ParkingLot parked_;
    std::atomic<bool> started_{false};
    std::atomic<bool> stopping_{false};
    Mutex start_mutex_;  // for the thread that starts the others

    alignas(64) std::atomic<std::int32_t> runnable_{0};
    ParkingLot quiet_;

    SpinLock value_lock_;
    Runnable* value_first_ CANOPY_GUARDED_BY(value_lock_) = nullptr;
    std::atomic<std::uint32_t> value_waits_{0};

    Mutex timer_mutex_;
    std::vector<Timer> timers_ CANOPY_GUARDED_BY(timer_mutex_);
    std::atomic<std::uint32_t> timer_count_{0};

    ParkingLot monitor_;
    std::atomic<bool> monitor_sleeps_{false};
    std::atomic<bool> monitor_ended_{true};
    std::atomic<std::uint64_t> kernel_timeout_{0};
    struct Samples {
        std::atomic<std::uint64_t> busy{0}, all{0};
    };
    Samples samples_[2];  // of workers, of CPU cores

    FiberPool fibers_;
    HostCalls host_calls_;
    CpuCores cpu_cores_;
};

}  // namespace canopy
