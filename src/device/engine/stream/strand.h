// SPDX-License-Identifier: Apache-2.0
// Strand: runs commands in order and parks in front of one that is blocked: a wait parks the strand, never the thread.
// The queue of a stream is a strand, and so is each lane of a replayed graph.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>

#include "base/spin_lock.h"
#include "device/device.h"
#include "device/engine/stream/fence.h"
#include "device/engine/stream/runnable.h"
#include "device/engine/stream/stepwise.h"
#include "device/engine/stream/task_record.h"
#include "device/engine/stream/worker.h"

namespace canopy {

class Replayable;
class Scheduler;
class StrandCopy;

// launch: for something the driver needs before its kernel can begin.
enum class WaitReason : std::uint8_t { none, fence, value, host_call, launch, turn, graph };

class Strand : public Runnable {
public:
    // counted: the scheduler counts it as runnable while it is neither idle nor in a wait.
    Strand(Scheduler& scheduler, std::uint32_t priority, bool counted) noexcept
        : Runnable(priority), scheduler_(scheduler), counted_(counted) {
        waiter_.runnable = this;
    }
    ~Strand() override;

    void cancel(std::uint64_t limit, FaultKind why) noexcept final;
    // Completes the launch, or leaves that to the next owner.
    void continue_after_launch() noexcept override;
    void begin_wait() noexcept final;
    void continue_after_wait(WaitResult result) noexcept final;
    bool expire_wait(std::uint64_t serial) noexcept final;
    void stop_copy(std::uint64_t limit) noexcept final;
    // Undoes a begun wait that nothing will end; the strand is draining again.
    void cancel_wait() noexcept;
    // Ends the current wait (except a host call) so that the next owner can drop it; also ends the graph it replays.
    void withdraw_wait() noexcept;
    // True while it is in an unsatisfied wait: it needs something outside it to continue.
    [[nodiscard]] bool blocked() const noexcept;
    [[nodiscard]] Scheduler& scheduler() noexcept { return scheduler_; }
    // dropping: true while its commands are dropped. task_failed: reports a failure.
    [[nodiscard]] virtual bool dropping() const noexcept = 0;
    virtual void task_failed(TaskFailure& failure) noexcept = 0;
    [[nodiscard]] virtual CallRouter* router() const noexcept = 0;

    // ---- for launch slots
    // Its launch waits for something of the driver's; ended by continue_after_wait.
    void begin_launch_wait() noexcept {
        reason_.store(WaitReason::launch, std::memory_order_relaxed);
        begin_wait();
    }
    // The result of the wait that ended last, once.
    WaitResult take_wait_result() noexcept { return std::exchange(wait_result_, WaitResult::none); }
    [[nodiscard]] bool has_wait_result() const noexcept { return wait_result_ != WaitResult::none; }
    [[nodiscard]] std::uint64_t timeout_of(const LaunchWork& work) const noexcept;
    // Runs one kernel in its slot.
    Step run_kernel(Worker& worker, Command& command, std::uint64_t sequence) noexcept;
    // Waits for a word in memory; another thread may own the strand when this returns.
    void wait_for_word(const ValueWork& wait) noexcept;
    void report(const Command& command, const Fault& fault, std::uint32_t block, std::string_view what,
                std::string_view who = {}, std::uint32_t result = 0, const FailedStep& step = {}) noexcept;
    // Reports damage beside allocations, in checking mode.
    void check_memory(const Command& command) noexcept;
    // The link of the command whose recording has begun.
    [[nodiscard]] std::uint64_t recorded_link() const noexcept { return notes_.link; }

protected:
    // `sequence`: how many commands of the strand came before this one.
    Step execute(Worker& worker, Command& command, std::uint64_t sequence) noexcept;
    void drop(Command& command) noexcept;
    // Runs a signal, a brief call, or a wait that is over soon. False: the command is still to be executed. May be
    // called in the guard.
    bool pass_brief(Worker& worker, Command& command) noexcept;
    // Somebody records: notes the beginning of a command, unless the strand resumes it or has looked at its fence.
    void begin_record(const Command& command) noexcept;
    // Tells those who wait for the fence which task signals it, for their records.
    void note_signal(const Command& command) noexcept;
    // Called before the strand waits for a fence.
    virtual void about_to_wait() noexcept {}
    // Runs the graph for this strand, which is draining. Left: the strand waits until the graph ends.
    Step run_graph(Worker& worker, Replayable& graph, const ReplayWork* replay) noexcept;
    void stop_graph() noexcept;
    void set_replaying(Replayable* graph) noexcept;
    [[nodiscard]] bool kernel_asleep() const noexcept;
    // Its launch has ended: the owner that comes next takes the outcome.
    void note_launch_end() noexcept {
        reason_.store(WaitReason::none, std::memory_order_relaxed);
        wait_result_ = WaitResult::satisfied;
    }
    // True while it waits for the end of a graph that it replays.
    [[nodiscard]] bool replays_now() const noexcept {
        if (state_.load(std::memory_order_acquire) != RunState::waiting) return false;
        const WaitReason reason = reason_.load(std::memory_order_relaxed);
        return reason == WaitReason::graph || reason == WaitReason::turn;
    }

    // On the cache line of state_.
    std::atomic<WaitReason> reason_{WaitReason::none};
    WaitResult wait_result_ = WaitResult::none;  // set by the thread that ends a wait, published by state_

    SpinLock wait_lock_;  // keeps what it waits for alive for expire and abort
    EngineFence* waiting_for_ CANOPY_GUARDED_BY(wait_lock_) = nullptr;  // of the last wait; holds a reference
    Replayable* replaying_ CANOPY_GUARDED_BY(wait_lock_) = nullptr;     // the graph it replays or waits to replay

private:
    Step run_launch(Worker& worker, Command& command, std::uint64_t sequence) noexcept;
    Step run_cpu_kernel(Worker& worker, Command& command, std::uint64_t sequence) noexcept;
    void complete_cpu_kernel(const Command& command, const CpuOutcome& outcome) noexcept;
    Step run_wait(Worker& worker, Command& command) noexcept;
    bool pass_wait(Worker& worker, Command& command) noexcept;
    void run_signal(Worker& worker, const Command& command) noexcept;
    void set_waiting_for(EngineFence* fence) noexcept;
    Step run_wait_value(Worker& worker, Command& command) noexcept;
    Step run_host_call(Command& command) noexcept;
    void run_memory_work(Worker& worker, Command& command, std::uint64_t sequence) noexcept;
    Step run_large(Worker& worker, Command& command, std::uint64_t sequence) noexcept;
    void complete_large(const Command& command) noexcept;
    Step run_replay(Worker& worker, Command& command) noexcept;
    void drop_replay(const ReplayWork& replay) noexcept;
    [[nodiscard]] Worker* worker_here() const noexcept;
    void count_runnable(int change) noexcept;
    [[nodiscard]] bool counts_wait() const noexcept;
    Step run_stepwise(Worker& worker, Command& command, std::uint64_t sequence) noexcept;
    std::unique_ptr<StepwiseRun> stepwise_;   // made by the first launch that needs it
    std::atomic<StrandCopy*> copy_{nullptr};  // made by the first large copy or fill
    FenceWaiter waiter_;
    std::atomic<std::uint64_t> wait_serial_{0};  // incremented when a wait begins and when it has ended

protected:
    // Not on the cache line of state_, which other threads write.
    Scheduler& scheduler_;
    const bool counted_;
    TaskNotes notes_;  // of the command it runs
};

}  // namespace canopy
