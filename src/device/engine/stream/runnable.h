// SPDX-License-Identifier: Apache-2.0
// Runnable: the unit of work that the scheduler gives to workers, a stream or a lane of a graph. Only the thread that
// has claimed it runs it. The state word defines ownership:
//
//   idle       nothing to do                              -> ready
//   ready      work to do, listed with the scheduler      -> draining (a worker, or a host thread that waits)
//   lingering  drained; a worker watches for more         -> draining (that worker, or a host thread), idle
//   draining   a thread runs its commands                 -> lingering, idle, ready (turn over), waiting
//   waiting    parked at a wait, a call, busy cores       -> ready (by the thread that satisfies it)
//              or a graph
//
// Transitions are compare-and-swap or made by the owner; a queue has further rules for idle (queue.h).
#pragma once

#include <atomic>
#include <cstdint>

#include "device/driver.h"
#include "device/engine/cpu/cpu_launch.h"
#include "device/execution/task_owner.h"

namespace canopy {

class Runnable;
class Worker;

enum class RunState : std::uint32_t { idle, ready, lingering, draining, waiting };
enum class WaitResult : std::uint8_t { none, satisfied, timed_out, faulted };

// Entry in the list of waits for words in memory; guarded by the scheduler's value lock.
struct ValueWaiter {
    ValueWork wait{};
    Runnable* next = nullptr;
    bool linked = false;
};

// Entry in the line of runnables that wait to replay a graph; guarded by the graph's lock.
struct TurnWaiter {
    std::uint64_t ticket = 0;
    Runnable* next = nullptr;
};

// Entry in a list of KeptRunnables; guarded by that list's lock.
struct KeptPlace {
    Runnable* next = nullptr;
    Nanoseconds weight = 0;
    const void* group = nullptr;
};

class Runnable : public TaskOwner {
public:
    explicit Runnable(std::uint32_t priority) noexcept : priority_(priority & 7u) {}
    virtual ~Runnable() {
        delete cpu_launch();
        delete slot();
    }
    Runnable(const Runnable&) = delete;
    Runnable& operator=(const Runnable&) = delete;

    [[nodiscard]] std::uint32_t priority() const noexcept { return priority_.load(std::memory_order_relaxed); }
    // ready -> draining; false if another thread was faster.
    bool claim() noexcept {
        RunState expected = RunState::ready;
        return state_.compare_exchange_strong(expected, RunState::draining, std::memory_order_acq_rel);
    }
    // Sets the state to ready; called by the scheduler when it lists the runnable.
    void become_ready() noexcept { state_.store(RunState::ready, std::memory_order_release); }

    // Runs its commands, then those of the runnables they released. The caller has claimed it; it may be gone
    // afterwards.
    virtual void drain(Worker& worker) noexcept = 0;
    // Runs only its own commands, and only some of them unless the thread may linger.
    virtual void drain_part(Worker& worker, bool linger) noexcept = 0;
    // Its launch has ended on this thread: completes the launch and drains.
    virtual void drain_after_launch(Worker& worker) noexcept = 0;

    virtual void begin_wait() noexcept = 0;
    virtual void continue_after_wait(WaitResult result) noexcept = 0;
    // The time limit of a wait has passed; ignored unless it is still in that same wait. False: try again later.
    virtual bool expire_wait(std::uint64_t serial) noexcept = 0;

    // Ends a copy shared by several threads, if it is one of its first `limit` commands; any thread.
    virtual void stop_copy(std::uint64_t) noexcept {}

    // nullptr before its first launch.
    [[nodiscard]] LaunchSlot* slot() const noexcept { return slot_.load(std::memory_order_acquire); }
    // nullptr before its first launch on CPU cores.
    [[nodiscard]] CpuLaunch* cpu_launch() const noexcept { return cpu_launch_.load(std::memory_order_acquire); }

    // Lists of the scheduler and of graphs.
    Runnable* ready_next = nullptr;
    Runnable* ready_previous = nullptr;
    std::uint32_t ready_level = 0;
    bool listed = false;
    ValueWaiter value_waiter;
    TurnWaiter turn_waiter;
    KeptPlace kept;

protected:
    std::atomic<std::uint32_t> priority_;
    // Made by the first command that needs them, then reused.
    std::atomic<LaunchSlot*> slot_{nullptr};
    std::atomic<CpuLaunch*> cpu_launch_{nullptr};
    // Last, so that the wait of a derived class shares its cache line.
    alignas(64) std::atomic<RunState> state_{RunState::idle};
};

}  // namespace canopy
