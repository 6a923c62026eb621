// SPDX-License-Identifier: Apache-2.0
// SoftQueue: a stream on the software NPU. Any number of host threads submit (one at a time, under the stream's lock),
// one owner drains. Ownership is the state word:
//
//   idle       nothing to do                              -> ready (submit)
//   ready      work to do, listed with the scheduler      -> draining (a worker, or a host thread that waits)
//   lingering  drained; a worker watches for more         -> draining (that worker, or a host thread), idle
//   draining   somebody runs its commands                 -> lingering, idle, ready (turn over), waiting
//   waiting    stands before a wait, a call or busy cores -> ready (whoever satisfies it)
//
// Steps into and out of idle happen under the submit lock: a submitter that sees another state may rely on the owner
// noticing its command. All other steps are compare-and-swap or made by the owner.
#pragma once

#include <atomic>
#include <cstdint>

#include "base/parking.h"
#include "base/spin_lock.h"
#include "device/backend.h"
#include "device/soft/executor.h"
#include "device/soft/fence.h"
#include "device/soft/launch.h"
#include "device/soft/ring.h"

namespace canopy {

class Scheduler;

enum class QueueState : std::uint32_t { idle, ready, lingering, draining, waiting };
enum class WaitResult : std::uint8_t { none, satisfied, timed_out, faulted };
enum class WaitReason : std::uint8_t { none, fence, value, host_call, cores };

// A queue's place among those that wait for a word in memory; guarded by the scheduler's value lock.
struct ValueWaiter {
    ValueWork wait{};
    SoftQueue* next = nullptr;
    bool linked = false;
};

class SoftQueue final : public Queue {
public:
    // nullptr when there is no memory for its ring.
    static std::unique_ptr<SoftQueue> create(Scheduler& scheduler, const QueueOptions& options);
    ~SoftQueue() override;

    Result<std::uint64_t> submit(std::span<const Command> commands) noexcept override;
    [[nodiscard]] std::uint64_t completed() const noexcept override {
        return completed_.load(std::memory_order_acquire);
    }
    WaitOutcome wait(std::uint64_t sequence, Deadline deadline) noexcept override;
    void relieve(std::uint64_t sequence) noexcept override;
    [[nodiscard]] bool blocked() const noexcept override;
    void abort() noexcept override;
    void stop_running() noexcept override;
    void set_priority(std::uint32_t priority) noexcept override {
        priority_.store(priority & 7u, std::memory_order_relaxed);
    }
    void set_router(CallRouter* router) noexcept override { router_.store(router, std::memory_order_release); }

    // The scheduler's and the fences' side.
    [[nodiscard]] std::uint32_t priority() const noexcept { return priority_.load(std::memory_order_relaxed); }
    // ready -> draining; false when somebody else was faster.
    bool claim() noexcept;
    // Runs commands until there are none, the queue must wait, its turn is over or `until` is completed. The caller
    // has claimed it. `linger`: watch the empty queue for a while before letting go.
    void drain(Executor& executor, std::uint64_t until, bool linger) noexcept;
    // The last block of its running launch has ended on this thread: completes the launch and drains on.
    void continue_after_launch(Executor& executor) noexcept;
    void begin_wait() noexcept;
    void continue_after_wait(WaitResult result) noexcept;
    // A timed wait's time is over; ignored unless it still stands before that very wait. False: ask again later.
    bool expire_wait(std::uint64_t serial) noexcept;
    // Commands up to `sequence` that are still to be completed; 0 while the queue stands before a wait.
    [[nodiscard]] std::uint64_t unfinished(std::uint64_t sequence) const noexcept;
    [[nodiscard]] std::uint64_t submitted() const noexcept { return ring_.tail(); }
    // ready, as the scheduler sets it together with the list.
    void become_ready() noexcept { state_.store(QueueState::ready, std::memory_order_release); }
    [[nodiscard]] bool dropping() const noexcept { return drop_until_.load(std::memory_order_acquire) > completed(); }
    [[nodiscard]] Launch& launch() noexcept { return launch_; }
    [[nodiscard]] Scheduler& scheduler() noexcept { return scheduler_; }

    // Lists of the scheduler.
    SoftQueue* ready_next = nullptr;
    SoftQueue* ready_previous = nullptr;
    std::uint32_t ready_level = 0;
    bool listed = false;
    std::uint64_t number = 0;  // among all queues of the scheduler; never used twice
    SoftQueue* all_next = nullptr;
    SoftQueue* all_previous = nullptr;
    SoftQueue* cores_next = nullptr;
    ValueWaiter value_waiter;

private:
    enum class Step { done, left };
    void drain_own(Executor& executor, std::uint64_t until, bool linger) noexcept;

    SoftQueue(Scheduler& scheduler, const QueueOptions& options);
    bool place(const Command& command) noexcept;
    Step execute(Executor& executor, Command& command) noexcept;
    Step run_launch(Executor& executor, Command& command) noexcept;
    Step run_many_blocks(Executor& executor, Command& command) noexcept;
    [[nodiscard]] std::uint32_t resident_groups(const SoftKernel& kernel, std::uint32_t groups) const noexcept;
    void complete_launch(const Command& command) noexcept;
    void check_memory(const Command& command) noexcept;
    Step run_wait(Command& command) noexcept;
    std::uint64_t stand_before(SoftFence* fence) noexcept;
    Step run_wait_value(Executor& executor, Command& command) noexcept;
    Step run_host_call(Command& command) noexcept;
    void run_guarded(Executor& executor, Command& command, Fiber::Body body) noexcept;
    void drop(Command& command) noexcept;
    void finish(Command& command) noexcept;
    void report(const Command& command, const Fault& fault, std::uint32_t block, std::string_view what,
                std::string_view who = {}) noexcept;
    WaitResult take_wait_result() noexcept;
    void count_runnable(int change) noexcept;
    bool more_after_lingering() noexcept;
    bool more_or_let_go() noexcept;
    void hand_over() noexcept;
    void notify_waiters() noexcept;
    void wake_sleepers() noexcept;
    bool try_to_help(Executor* executor, std::uint64_t sequence) noexcept;
    void withdraw_wait(WaitResult result) noexcept;

    Scheduler& scheduler_;
    SpinLock& submit_lock_;
    QueueObserver* const observer_;
    std::atomic<std::uint32_t> priority_;
    std::atomic<CallRouter*> router_{nullptr};
    CommandRing ring_;

    alignas(64) std::atomic<QueueState> state_{QueueState::idle};
    std::atomic<std::uint32_t> watchers_{0};    // workers that watch it; they stop under the lock or by claiming it
    std::atomic<std::uint64_t> drop_until_{0};  // commands up to this number are not run
    std::atomic<WaitReason> reason_{WaitReason::none};
    WaitResult wait_result_ = WaitResult::none;  // handed from whoever ends a wait to the next owner by state_

    std::uint64_t watched_from_ = 0;  // the owner's: what was completed when it began to watch last
    std::uint32_t watch_pauses_ = tuning::fewest_watch_pauses;

    alignas(64) std::atomic<std::uint64_t> completed_{0};
    std::atomic<std::uint64_t> wake_at_{UINT64_MAX};  // a sleeper wants to know when this number is completed
    ParkingLot sleepers_;

    FenceWaiter waiter_;
    SpinLock wait_lock_;  // keeps the fence of the present wait alive for expire and abort
    SoftFence* waiting_for_ CANOPY_GUARDED_BY(wait_lock_) = nullptr;  // of the last wait, with a reference
    std::atomic<std::uint64_t> wait_serial_{0};  // one step when a wait begins, one when it has ended

    Launch launch_;
};

}  // namespace canopy
