// SPDX-License-Identifier: Apache-2.0
// Strand: something that runs commands one after the other, by whichever thread has claimed it: a stream's queue, or a
// lane of a graph that is replayed. It knows how each command is run and how to stand before one that cannot go on:
// a wait parks the strand, never the thread. Ownership is the state word:
//
//   idle       nothing to do                              -> ready
//   ready      work to do, listed with the scheduler      -> draining (a worker, or a host thread that waits)
//   lingering  drained; a worker watches for more         -> draining (that worker, or a host thread), idle
//   draining   somebody runs its commands                 -> lingering, idle, ready (turn over), waiting
//   waiting    stands before a wait, a call, busy cores   -> ready (whoever satisfies it)
//              or a graph
//
// Steps are compare-and-swap or made by the owner; a queue has rules of its own for idle (queue.h).
#pragma once

#include <atomic>
#include <cstdint>

#include "base/spin_lock.h"
#include "device/backend.h"
#include "device/soft/cpu/cpu_cores.h"
#include "device/soft/execution/executor.h"
#include "device/soft/launch/launch.h"
#include "device/soft/stream/fence.h"

namespace canopy {

class Scheduler;
class SoftGraph;

enum class StrandState : std::uint32_t { idle, ready, lingering, draining, waiting };
enum class WaitResult : std::uint8_t { none, satisfied, timed_out, faulted };
enum class WaitReason : std::uint8_t { none, fence, value, host_call, cores, turn, graph };

// A strand's place among those that wait for a word in memory; guarded by the scheduler's value lock.
struct ValueWaiter {
    ValueWork wait{};
    Strand* next = nullptr;
    bool linked = false;
};

// A strand's place among those that wait for their turn to replay a graph; guarded by the graph's lock.
struct TurnWaiter {
    std::uint64_t ticket = 0;
    Strand* next = nullptr;
};

class Strand {
public:
    // counted: one of the scheduler's runnable ones while it is neither idle nor before a wait.
    Strand(Scheduler& scheduler, std::uint32_t priority, bool counted) noexcept
        : scheduler_(scheduler), counted_(counted), priority_(priority & 7u) {
        waiter_.strand = this;
    }
    virtual ~Strand();
    Strand(const Strand&) = delete;
    Strand& operator=(const Strand&) = delete;

    // The scheduler's and the fences' side.
    [[nodiscard]] std::uint32_t priority() const noexcept { return priority_.load(std::memory_order_relaxed); }
    // ready -> draining; false when somebody else was faster.
    bool claim() noexcept;
    // Runs what it can. The caller has claimed the strand, which may be gone when this returns.
    virtual void go_on(Executor& executor) noexcept = 0;
    // The same for a thread that has other things to do unless it `linger`s.
    virtual void run_some(Executor& executor, bool linger) noexcept = 0;
    // The last block of its running launch has ended on this thread: completes the launch and goes on.
    virtual void continue_after_launch(Executor& executor) noexcept = 0;
    void begin_wait() noexcept;
    void continue_after_wait(WaitResult result) noexcept;
    // Takes a wait back that has been begun and that nobody will end: draining again.
    void cancel_wait() noexcept;
    // A timed wait's time is over; ignored unless it still stands before that very wait. False: ask again later.
    bool expire_wait(std::uint64_t serial) noexcept;
    // Ends the present wait, whatever it is for, so that the owner that follows can drop it; ends the graph it replays.
    void withdraw_wait() noexcept;
    // The last block of its launch on CPU cores has ended on this thread, which completes it or leaves that to the next
    // owner.
    virtual void continue_after_cpu_kernel() noexcept;
    // True while it stands before an unsatisfied wait: it cannot go on without help from elsewhere.
    [[nodiscard]] bool blocked() const noexcept;
    // ready, as the scheduler sets it together with the list.
    void become_ready() noexcept { state_.store(StrandState::ready, std::memory_order_release); }
    [[nodiscard]] Launch& launch() noexcept { return launch_; }
    // nullptr before the first on CPU cores.
    [[nodiscard]] CpuLaunch* cpu_launch() noexcept { return cpu_launch_.load(std::memory_order_acquire); }
    [[nodiscard]] Scheduler& scheduler() noexcept { return scheduler_; }
    // Whether its commands are being dropped, and how it tells of a failure.
    [[nodiscard]] virtual bool dropping() const noexcept = 0;
    virtual void task_failed(TaskFailure& failure) noexcept = 0;
    [[nodiscard]] virtual CallRouter* router() const noexcept = 0;

    // Lists of the scheduler and of graphs.
    Strand* ready_next = nullptr;
    Strand* ready_previous = nullptr;
    std::uint32_t ready_level = 0;
    bool listed = false;
    Strand* cores_next = nullptr;
    ValueWaiter value_waiter;
    TurnWaiter turn_waiter;

protected:
    enum class Step { done, left };
    // `sequence`: how many commands of the strand came before this one.
    Step execute(Executor& executor, Command& command, std::uint64_t sequence) noexcept;
    void drop(Command& command) noexcept;
    // Before the strand waits for a fence.
    virtual void about_to_wait() noexcept {}
    // Runs the graph for this strand, which is draining. Left: the strand waits, whoever ends the graph continues it.
    Step run_graph(Executor& executor, SoftGraph& graph, const ReplayWork* replay) noexcept;
    void stop_graph() noexcept;
    void set_replaying(SoftGraph* graph) noexcept;
    // Stands before a graph that it replays.
    [[nodiscard]] bool replays_now() const noexcept {
        return state_.load(std::memory_order_acquire) == StrandState::waiting &&
               reason_.load(std::memory_order_relaxed) == WaitReason::graph;
    }

    void complete_launch(const Command& command) noexcept;
    void report(const Command& command, const Fault& fault, std::uint32_t block, std::string_view what,
                std::string_view who = {}, std::uint32_t result = 0, const FailedStep& step = {}) noexcept;
    WaitResult take_wait_result() noexcept { return std::exchange(wait_result_, WaitResult::none); }
    [[nodiscard]] bool has_wait_result() const noexcept { return wait_result_ != WaitResult::none; }

    Scheduler& scheduler_;
    const bool counted_;
    std::atomic<std::uint32_t> priority_;

    alignas(64) std::atomic<StrandState> state_{StrandState::idle};
    std::atomic<WaitReason> reason_{WaitReason::none};
    WaitResult wait_result_ = WaitResult::none;  // handed from whoever ends a wait to the next owner by state_

    SpinLock wait_lock_;  // keeps what it waits for alive for expire and abort
    SoftFence* waiting_for_ CANOPY_GUARDED_BY(wait_lock_) = nullptr;  // of the last wait, with a reference
    SoftGraph* replaying_ CANOPY_GUARDED_BY(wait_lock_) = nullptr;    // waits for its turn with it, or replays it

private:
    Step run_launch(Executor& executor, Command& command, std::uint64_t sequence) noexcept;
    Step run_many_blocks(Executor& executor, Command& command, std::uint64_t sequence) noexcept;
    Step run_fused(Executor& executor, Command& command, std::uint64_t sequence) noexcept;
    void run_fused_alone(Executor& executor, Command& command, const SoftFusedKernel& kernel,
                         std::uint64_t sequence) noexcept;
    bool take_cores(CoreNeed need) noexcept;
    [[nodiscard]] std::uint64_t timeout_of(const LaunchWork& work) const noexcept;
    void check_memory(const Command& command) noexcept;
    Step run_cpu_kernel(Executor& executor, Command& command, std::uint64_t sequence) noexcept;
    void complete_cpu_kernel(const Command& command, const CpuOutcome& outcome) noexcept;
    Step run_wait(Command& command) noexcept;
    std::uint64_t stand_before(SoftFence* fence) noexcept;
    Step run_wait_value(Executor& executor, Command& command) noexcept;
    Step run_host_call(Command& command) noexcept;
    void run_guarded(Executor& executor, Command& command, std::uint64_t sequence, Fiber::Body body) noexcept;
    Step run_replay(Executor& executor, Command& command) noexcept;
    void drop_replay(const ReplayWork& replay) noexcept;
    void count_runnable(int change) noexcept;
    [[nodiscard]] bool counts_wait() const noexcept;
    FenceWaiter waiter_;
    std::atomic<std::uint64_t> wait_serial_{0};  // one step when a wait begins, one when it has ended
    Launch launch_;
    std::atomic<CpuLaunch*> cpu_launch_{nullptr};  // made by the first that needs it, kept
};

}  // namespace canopy
