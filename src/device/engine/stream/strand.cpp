// SPDX-License-Identifier: Apache-2.0
// Ownership and waiting of strands; the commands themselves are in strand_commands.cpp.
#include "device/engine/stream/strand.h"

#include "device/engine/stream/replayable.h"
#include "device/engine/stream/scheduler.h"
#include "device/engine/stream/shared_copy.h"

namespace canopy {

Strand::~Strand() {
    if (waiting_for_) waiting_for_->release();
    delete copy_.load(std::memory_order_relaxed);
}

void Strand::cancel(std::uint64_t limit, FaultKind why) noexcept { scheduler_.cancel_running(*this, limit, why); }

void Strand::stop_copy(std::uint64_t limit) noexcept {
    if (StrandCopy* copy = copy_.load(std::memory_order_acquire)) copy->stop_below(limit);
}

// A launch begins by itself and a replayed graph keeps running, so in these waits the strand counts as runnable.
bool Strand::counts_wait() const noexcept {
    const WaitReason reason = reason_.load(std::memory_order_relaxed);
    return counted_ && reason != WaitReason::launch && reason != WaitReason::graph;
}

void Strand::count_runnable(int change) noexcept {
    Worker* worker = worker_here();
    if (!worker || !worker->hand_over.count_runnable(change)) scheduler_.count_runnable(change);
}

[[gnu::cold]] void Strand::begin_record(const Command& command) noexcept {
    if (notes_.began != 0 && (has_wait_result() || notes_.met)) return;
    notes_ = {};
    notes_.link = record_link(command);
    notes_.began = ticks();
}

// The calling thread's worker, if it runs work of the same device.
Worker* Strand::worker_here() const noexcept {
    Worker* worker = Worker::existing();
    return worker && worker->executor.works_for.load(std::memory_order_relaxed) == &scheduler_ ? worker : nullptr;
}

void Strand::begin_wait() noexcept {
    if (counts_wait()) count_runnable(-1);
    state_.store(RunState::waiting, std::memory_order_release);
}

void Strand::cancel_wait() noexcept {
    if (counts_wait()) count_runnable(1);
    state_.store(RunState::draining, std::memory_order_release);
}

void Strand::continue_after_wait(WaitResult result) noexcept {
    if (counts_wait()) count_runnable(1);
    wait_result_ = result;
    if (Worker* worker = worker_here(); worker && worker->hand_over.accepts()) {
        state_.store(RunState::draining, std::memory_order_release);
        worker->hand_over.put(*this);
        return;
    }
    scheduler_.enqueue(*this);
}

// The strand has stayed in state draining.
void Strand::continue_after_launch() noexcept {
    note_launch_end();
    scheduler_.enqueue(*this);
}

bool Strand::expire_wait(std::uint64_t serial) noexcept {
    EngineFence* fence = nullptr;
    {
        SpinGuard guard(wait_lock_);
        if (wait_serial_.load(std::memory_order_relaxed) != serial) return true;
        fence = waiting_for_;
        fence->retain();
    }
    // False if not among the waiters: a signal was faster, or the owner has not registered yet.
    const bool ended = fence->withdraw(waiter_);
    if (ended) continue_after_wait(WaitResult::timed_out);
    fence->release();
    return ended;
}

void Strand::withdraw_wait() noexcept {
    stop_graph();
    if (state_.load(std::memory_order_acquire) != RunState::waiting) return;
    switch (reason_.load(std::memory_order_relaxed)) {
        case WaitReason::value:
            if (scheduler_.withdraw_value_wait(*this)) continue_after_wait(WaitResult::satisfied);
            return;
        case WaitReason::launch:
            if (slot()->withdraw()) continue_after_wait(WaitResult::timed_out);
            return;
        case WaitReason::turn:
        case WaitReason::graph:
            return;
        default:
            break;
    }
    EngineFence* fence = nullptr;
    {
        SpinGuard guard(wait_lock_);
        fence = waiting_for_;
        if (fence) fence->retain();
    }
    if (!fence) return;
    if (fence->withdraw(waiter_)) continue_after_wait(WaitResult::satisfied);
    fence->release();
}

// A CPU kernel of it waits for a queue.
bool Strand::kernel_asleep() const noexcept { return scheduler_.cpu_cores().asleep(*this, cpu_launch()); }

bool Strand::blocked() const noexcept {
    const RunState state = state_.load(std::memory_order_acquire);
    if (state != RunState::waiting) return state == RunState::draining && kernel_asleep();
    // A launch begins by itself; everything else needs something outside the strand, including a callback's thread.
    switch (reason_.load(std::memory_order_relaxed)) {
        case WaitReason::launch:
            return kernel_asleep();
        case WaitReason::graph: {
            auto* self = const_cast<Strand*>(this);
            SpinGuard guard(self->wait_lock_);
            return !self->replaying_ || self->replaying_->blocked();
        }
        default:
            return true;
    }
}

// ---- graphs --------------------------------------------------------------------------------------------------------

void Strand::set_replaying(Replayable* graph) noexcept {
    SpinGuard guard(wait_lock_);
    replaying_ = graph;
}

// Ends the graph this strand replays, or its wait for the turn to do so.
void Strand::stop_graph() noexcept {
    Replayable* graph = nullptr;
    {
        SpinGuard guard(wait_lock_);
        graph = replaying_;
        if (graph) graph->retain();
    }
    if (!graph) return;
    if (graph->withdraw_turn(*this))
        continue_after_wait(WaitResult::timed_out);
    else
        graph->abort_replay_of(*this);
    graph->release();
}

Step Strand::run_graph(Worker& worker, Replayable& graph, const ReplayWork* replay) noexcept {
    if (take_wait_result() == WaitResult::none) {
        reason_.store(WaitReason::graph, std::memory_order_relaxed);
        if (!graph.start(worker, *this, replay)) return Step::left;
    }
    graph.end();
    return Step::done;
}

// The command has two waits: for the turn, and for the end of the replay.
Step Strand::run_replay(Worker& worker, Command& command) noexcept {
    auto& graph = static_cast<Replayable&>(*command.replay.executable);
    const bool resumed = has_wait_result();
    if (!resumed || reason_.load(std::memory_order_relaxed) == WaitReason::turn) {
        if (take_wait_result() == WaitResult::timed_out) {  // stopped before its turn
            graph.give_up_turn(command.replay.ticket);
            set_replaying(nullptr);
            report(command, {.kind = FaultKind::aborted}, 0, "the replay was aborted");
            return Step::done;
        }
        if (!resumed) {
            set_replaying(&graph);
            reason_.store(WaitReason::turn, std::memory_order_relaxed);
            if (!graph.take_turn(*this, command.replay.ticket)) return Step::left;
        }
    }
    if (run_graph(worker, graph, &command.replay) == Step::left) return Step::left;
    set_replaying(nullptr);
    graph.give_turn();
    return Step::done;
}

void Strand::drop_replay(const ReplayWork& replay) noexcept {
    auto& graph = static_cast<Replayable&>(*replay.executable);
    const bool for_turn = reason_.load(std::memory_order_relaxed) == WaitReason::turn;
    switch (take_wait_result()) {
        case WaitResult::none:  // it had not begun
            graph.give_up_turn(replay.ticket);
            return;
        case WaitResult::timed_out:  // withdrawn from the line
            graph.give_up_turn(replay.ticket);
            break;
        default:
            if (!for_turn) graph.end();
            graph.give_turn();
            break;
    }
    set_replaying(nullptr);
}

}  // namespace canopy
