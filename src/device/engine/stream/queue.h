// SPDX-License-Identifier: Apache-2.0
// EngineQueue: a stream, a strand that takes its commands from a ring. Any number of host threads
// submit (one at a time, under the stream's lock), one owner drains.
//
// The queue enters and leaves idle under the submit lock, so a submitter that sees another state can rely on the owner
// noticing its command. All other transitions are compare-and-swap or made by the owner.
#pragma once

#include <atomic>
#include <cstdint>

#include "base/parking.h"
#include "base/spin_lock.h"
#include "device/device.h"
#include "device/engine/stream/ring.h"
#include "device/engine/stream/scheduler.h"
#include "device/engine/stream/strand.h"

namespace canopy {

class EngineQueue final : public Queue, public Strand, public CountedQueue {
public:
    // nullptr if there is no memory for its ring.
    static std::unique_ptr<EngineQueue> create(Scheduler& scheduler, const QueueOptions& options);
    ~EngineQueue() override;

    Result<std::uint64_t> submit(std::span<const Command> commands) noexcept override;
    [[nodiscard]] std::uint64_t completed() const noexcept override {
        return completed_.load(std::memory_order_acquire);
    }
    WaitOutcome wait(std::uint64_t sequence, Deadline deadline) noexcept override;
    void help_drain(std::uint64_t sequence) noexcept override;
    void abort() noexcept override;
    void stop_running() noexcept override;
    void set_priority(std::uint32_t priority) noexcept override {
        priority_.store(priority & 7u, std::memory_order_relaxed);
    }
    void set_router(CallRouter* router) noexcept override { router_.store(router, std::memory_order_release); }

    void drain(Worker& worker) noexcept override { drain(worker, UINT64_MAX, true); }
    void drain_part(Worker& worker, bool linger) noexcept override;
    void drain_after_launch(Worker& worker) noexcept override;
    void continue_after_launch() noexcept override;
    [[nodiscard]] std::uint64_t unfinished(std::uint64_t sequence) const noexcept override;
    [[nodiscard]] std::uint64_t submitted() const noexcept override { return ring_.tail(); }
    [[nodiscard]] watch::StreamFigures figures() const noexcept override;
    [[nodiscard]] const TaskOwner* task_owner() const noexcept override { return this; }
    [[nodiscard]] bool dropping() const noexcept override {
        return drop_until_.load(std::memory_order_acquire) > completed();
    }
    void task_failed(TaskFailure& failure) noexcept override;
    [[nodiscard]] CallRouter* router() const noexcept override { return router_.load(std::memory_order_acquire); }

private:
    EngineQueue(Scheduler& scheduler, const QueueOptions& options);
    // Runs commands until none are left, the queue must wait, its turn is over or `until` is completed. The caller has
    // claimed the queue. `linger`: watch the empty queue for a while before releasing it.
    void drain_part(Worker& worker, std::uint64_t until, bool linger) noexcept;
    // The same, then runs the streams its signals released.
    void drain(Worker& worker, std::uint64_t until, bool linger) noexcept;
    // Runs this launch and the launches behind it that the driver takes, with the signals and waits between them, up to
    // `until` or the end of the turn, and finishes them.
    void run_launches(Worker& worker, Command& first, std::uint64_t until, std::uint32_t& turn) noexcept;
    struct Launches;
    Command* next_of(Launches& launches, Command& done) noexcept;
    static bool next_launch(StraightRun& launches) noexcept;
    [[gnu::noinline]] bool next_launch_after(Launches& launches, Command* next) noexcept;
    [[nodiscard]] bool is_straight(const Command& command) const noexcept {
        return command.opcode == Opcode::launch && straight_runs_ && !has_wait_result() &&
               straight_runs_->takes(command);
    }
    bool try_help_drain(Worker* worker, std::uint64_t sequence) noexcept;
    bool place(const Command& command) noexcept;
    [[nodiscard]] std::size_t submit_natively(std::span<const Command> commands) noexcept;
    void about_to_wait() noexcept override { ring_.prefetch_front(); }  // needed as soon as the wait ends
    void finish(Command& command, bool in_guard = false) noexcept;
    bool more_after_lingering() noexcept;
    bool more_or_let_go() noexcept;
    void hand_back() noexcept;
    // The command is done: writes its record. The one behind it in the same guard begins at this moment.
    [[gnu::noinline, gnu::cold]] void end_record(const Command& command, bool in_guard) noexcept;
    [[nodiscard]] std::uint64_t record_link(const Command& command) const noexcept override {
        return profile::link_of(number_, command.task);
    }
    [[nodiscard]] CommandPlace place_of(const Command& command) const noexcept override {
        return {number_, command.task, nullptr, {}};
    }
    void notify_waiters() noexcept;
    void wake_sleepers() noexcept;

    SpinLock& submit_lock_;
    QueueObserver* const observer_;
    const bool native_;                  // the device orders some commands itself
    StraightRuns* const straight_runs_;  // nullptr: launches run one by one
    const std::uint32_t number_;         // of the stream, as the program knows it
    std::atomic<CallRouter*> router_{nullptr};
    CommandRing ring_;

    std::atomic<std::uint32_t> watchers_{0};    // workers that watch it; they stop under the lock or by claiming it
    std::atomic<std::uint64_t> drop_until_{0};  // commands up to this number are dropped

    std::uint64_t watched_from_ = 0;  // owner only: number completed when it last began to watch
    std::uint32_t watch_pauses_ = tuning::fewest_watch_pauses;

    alignas(64) std::atomic<std::uint64_t> completed_{0};
    std::atomic<std::uint64_t> wake_at_{UINT64_MAX};  // a sleeper must be woken when this number is completed
    ParkingLot sleepers_;
};

}  // namespace canopy
