// SPDX-License-Identifier: Apache-2.0
// How a lane of a graph runs its commands.
#include "device/engine/graph/graph.h"

#include <algorithm>
#include <cstring>

#include "base/error_text.h"
#include "device/engine/memory/remote.h"
#include "device/engine/stream/scheduler.h"
#include "device/execution/tuning.h"
#include "device/opaque_pointer.h"

namespace canopy {

Lane::~Lane() { scheduler_.forget(*this); }

// A replay that measures runs short segments on one thread: on another one they take several times as long, and would
// seem worth sharing forever.
Nanoseconds Lane::expected_time() const noexcept {
    if (segment_ == no_segment) return tuning::time_worth_sharing;
    const Nanoseconds time = graph_.segment(segment_).time.load(std::memory_order_relaxed);
    if (graph_.measuring() && (time == unknown_time || time < tuning::time_surely_long)) return 0;
    return time;
}

bool Lane::dropping() const noexcept { return graph_.dropping(); }
CallRouter* Lane::router() const noexcept { return graph_.router(); }

void Lane::task_failed(TaskFailure& failure) noexcept { graph_.task_failed(failure, {index_, position_}); }

void Lane::stop() noexcept {
    withdraw_wait();
    scheduler_.cancel_running(*this, executed_.load(std::memory_order_relaxed) + 1, FaultKind::aborted);
}

// ---- recording ------------------------------------------------------------------------------------------------------

std::uint64_t Lane::record_link(const Command&) const noexcept { return graph_.recorded_link(); }

CommandPlace Lane::place_of(const Command& command) const noexcept {
    return {static_cast<std::uint32_t>(stream_), command.task, &graph_, {index_, position_}};
}

void Lane::end_record(const Command& command, std::uint32_t position) noexcept {
    if (record::wants(record::nodes)) write_node(command, notes_, ticks(), scheduler_.device(), {index_, position});
    notes_ = {};
}

// ---- running -------------------------------------------------------------------------------------------------------

void Lane::run(Worker& worker, Lane* lane) noexcept {
    worker.executor.works_for.store(&lane->scheduler_, std::memory_order_relaxed);
    if (lane->graph_.flow()) {
        lane->state_.store(RunState::draining, std::memory_order_relaxed);
        return lane->run_flow(worker);
    }
    lane->enter(worker);
    while (lane) {
        if (lane->position_ == lane->end_) {
            lane = lane->leave(worker);
            continue;
        }
        Command& command = lane->graph_.commands(lane->index_)[lane->position_];
        if (recorded()) [[unlikely]]
            lane->begin_record(command);
        if (lane->graph_.dropping()) [[unlikely]] {
            lane->notes_.flags |= profile::task_dropped;
            lane->hold(command);
            lane->drop_held();
        } else if (StraightRuns* runs = lane->graph_.straight_runs();
                   runs && !lane->has_wait_result() && runs->takes(command)) {
            lane = lane->run_straight_part(worker);
            continue;
        } else {
            lane->began_ = 0;  // waits are not measured
            if (command.opcode == Opcode::launch || command.opcode == Opcode::condition)
                lane->scheduler_.share_kept(worker);
            if (lane->run_one(worker, command) == Step::left) return;
        }
        if (lane->notes_.began != 0) [[unlikely]]
            lane->end_record(command, lane->position_);
        lane->pass(1);
    }
}

void Lane::enter(Worker& worker) noexcept {
    state_.store(RunState::draining, std::memory_order_relaxed);
    Segment& segment = graph_.segment(segment_);
    if (position_ != segment.first || has_wait_result()) return;
    if (segment.guarded) graph_.enter_guarded(segment);
    began_ = graph_.measuring() ? now() : 0;
    // The lanes this thread keeps must not wait for long.
    if (expected_time() >= tuning::time_worth_waking) scheduler_.share_kept(worker);
}

Lane* Lane::leave(Worker& worker) noexcept {
    Segment& segment = graph_.segment(segment_);
    if (began_ != 0) segment.time.store(now() - began_, std::memory_order_relaxed);
    rest();
    Lane* next = graph_.leave_segment(worker, segment);
    if (next) next->enter(worker);
    return next;
}

void Lane::pass(std::size_t commands) noexcept {
    position_ += static_cast<std::uint32_t>(commands);
    executed_.store(executed_.load(std::memory_order_relaxed) + commands, std::memory_order_relaxed);
}

// A straight run, with its current lane and its worker.
struct Lane::Run : StraightRun {
    Worker& worker;
    Lane* lane = nullptr;
    std::uint32_t recorded = 0;  // commands that were run one by one
    explicit Run(Worker& own) noexcept : worker(own) {}
};

void Lane::aim(Run& run) noexcept {
    run.task_owner = this;
    run.lane = this;
    run.sequence = executed_.load(std::memory_order_relaxed);
    // One at a time while it is recorded.
    const std::uint32_t most = notes_.began != 0 ? 1 : tuning::tasks_per_turn;
    const std::uint32_t count = std::min(end_ - position_, most);
    run.commands = graph_.commands(index_).subspan(position_, count);
}

bool Lane::refill(StraightRun& straight) noexcept {
    Run& run = static_cast<Run&>(straight);
    Lane* lane = run.lane;
    if (lane->notes_.began != 0) [[unlikely]]
        return refill_recorded(run);
    lane->pass(std::exchange(run.commands, {}).size());
    if (lane->position_ != lane->end_) return false;  // a long segment: lets others have a turn
    lane = lane->leave(run.worker);
    run.lane = lane;
    if (!lane || lane->position_ == lane->end_ || lane->graph_.dropping()) return false;
    lane->aim(run);
    return true;
}

// The same, with a record for each command.
bool Lane::refill_recorded(Run& run) noexcept {
    Lane* lane = run.lane;
    lane->end_record(std::exchange(run.commands, {}).front(), lane->position_);
    lane->pass(1);
    if (lane->position_ == lane->end_) {
        lane = lane->leave(run.worker);
        run.lane = lane;
        if (!lane || lane->position_ == lane->end_) return false;
    } else if (++run.recorded >= tuning::tasks_per_turn) {
        return false;
    }
    if (lane->graph_.dropping()) return false;
    if (recorded()) lane->begin_record(lane->graph_.commands(lane->index_)[lane->position_]);
    lane->aim(run);
    return true;
}

Lane* Lane::run_straight_part(Worker& worker) noexcept {
    Run run(worker);
    run.default_timeout = scheduler_.kernel_timeout();
    run.refill = &refill;
    aim(run);
    Fault fault;
    const std::size_t done = graph_.straight_runs()->run(worker.executor, run, fault);
    Lane* lane = run.lane;
    if (!lane) return nullptr;
    if (done != 0 && lane->notes_.began != 0) [[unlikely]]
        lane->end_record(run.commands.front(), lane->position_);
    lane->pass(done);
    if (fault.kind != FaultKind::none) [[unlikely]] {
        const Command& failed = run.commands[done];
        const bool one_block = failed.opcode == Opcode::launch && !failed.launch.kernel->fused;
        lane->report(failed, fault, one_block ? failed.launch.block_offset : run.failed_block,
                     fault.text ? fault.text : "", {}, 0, run.failed);
        if (lane->notes_.began != 0) lane->end_record(failed, lane->position_);
        lane->pass(1);
    }
    if (lane->position_ != lane->end_ && lane->scheduler_.should_yield(lane->priority(), tuning::tasks_per_turn)) {
        lane->began_ = 0;
        lane->scheduler_.enqueue(*lane);
        return nullptr;
    }
    return lane;
}

// Copies the command to held_, with its own references, unless the lane resumes it after a wait.
void Lane::hold(const Command& command) noexcept {
    if (has_wait_result()) return;
    held_ = command;
    if (held_.opcode == Opcode::signal) {
        if (!held_.signal.fence) {
            const FenceBinding& binding = graph_.bindings()[held_.signal.value];
            held_.signal.fence = binding.fence;
            held_.signal.value = binding.value;
        }
        held_.signal.fence->retain();
    } else if (held_.opcode == Opcode::wait) {
        if (!held_.wait.fence) {
            const FenceBinding& binding = graph_.bindings()[held_.wait.value];
            held_.wait.fence = binding.fence;
            held_.wait.value = binding.value;
        }
        held_.wait.fence->retain();
    }
}

Step Lane::run_one(Worker& worker, const Command& command) noexcept {
    hold(command);
    switch (held_.opcode) {
        case Opcode::signal:
            note_signal(held_);
            held_.signal.fence->signal(held_.signal.mode, held_.signal.value);
            held_.signal.fence->release();
            return Step::done;
        case Opcode::condition:
            return run_condition(worker);
        default:
            return execute(worker, held_, executed_.load(std::memory_order_relaxed));
    }
}

void Lane::drop_held() noexcept {
    if (held_.opcode != Opcode::condition) return drop(held_);
    if (take_wait_result() == WaitResult::none) return;
    Replayable* body = nullptr;
    {
        SpinGuard guard(wait_lock_);
        body = std::exchange(replaying_, nullptr);
    }
    if (body) body->end();
}

Replayable* Lane::chosen_body() const noexcept {
    const ConditionWork& work = held_.condition;
    const std::uint64_t selector = load_word(work.selector);
    std::uint64_t index = selector;
    if (work.kind == ConditionKind::branch) index = selector != 0 ? 0 : 1;
    if (work.kind == ConditionKind::loop) index = selector != 0 ? 0 : work.count;
    return index < work.count ? static_cast<Replayable*>(work.bodies[index]) : nullptr;
}

Step Lane::run_condition(Worker& worker) noexcept {
    for (;;) {
        Replayable* body = nullptr;
        if (has_wait_result()) {
            SpinGuard guard(wait_lock_);
            body = replaying_;
        } else {
            body = chosen_body();
            if (!body) return Step::done;
            set_replaying(body);
        }
        if (run_graph(worker, *body, nullptr) == Step::left) return Step::left;
        set_replaying(nullptr);
        if (held_.condition.kind != ConditionKind::loop || graph_.dropping()) return Step::done;
        if (scheduler_.should_yield(priority(), tuning::tasks_per_turn)) {
            scheduler_.enqueue(*this);
            return Step::left;
        }
    }
}

// ---- called by the scheduler ---------------------------------------------------------------------------------------

void Lane::drain(Worker& worker) noexcept {
    Scheduler& scheduler = scheduler_;
    run(worker, this);
    EngineGraph::drain_kept(worker);
    scheduler.withdraw_offer(worker);
}

void Lane::drain_part(Worker& worker, bool linger) noexcept {
    Scheduler& scheduler = scheduler_;
    run(worker, this);
    if (!linger) scheduler.share_kept(worker);
    while (Runnable* lane = worker.kept.take(nullptr)) run(worker, static_cast<Lane*>(lane));
    scheduler.withdraw_offer(worker);
}

void Lane::drain_after_launch(Worker& worker) noexcept {
    note_launch_end();
    drain(worker);
}

// ---- lanes that start each other -----------------------------------------------------------------------------------

bool Lane::wake(std::uint32_t position, std::uint32_t end) noexcept {
    RunState idle = RunState::idle;
    if (!state_.compare_exchange_strong(idle, RunState::draining, std::memory_order_acq_rel)) return false;
    segment_ = no_segment;
    position_ = position;
    end_ = end;
    return true;
}

void Lane::run_flow(Worker& worker) noexcept {
    const std::span<Command> commands = graph_.commands(index_);
    std::uint32_t turn = 0;
    while (position_ != end_) {
        // A launch that was waiting for its device has not begun.
        const bool waited = reason_.load(std::memory_order_relaxed) == WaitReason::launch;
        const bool begun = has_wait_result() && (commands[position_].opcode != Opcode::launch || !waited);
        if (graph_.dropping() || (graph_.ending() && !begun)) {
            if (has_wait_result()) drop_held();
            break;
        }
        if (!has_wait_result()) graph_.enter_guarded(GraphPlace{index_, position_});
        Command& command = commands[position_];
        if (recorded()) [[unlikely]]
            begin_record(command);
        const std::uint32_t at = position_;
        const Flow how = flow_command(worker, command);
        if (how == Flow::left) return;
        if (notes_.began != 0) [[unlikely]]
            end_record(command, at);
        if (how == Flow::stop) break;
        executed_.store(executed_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
        if (how == Flow::next) ++position_;
        if (scheduler_.should_yield(priority(), ++turn)) return scheduler_.enqueue(*this);
    }
    rest();
    graph_.part_ended(worker);
}

Lane::Flow Lane::flow_command(Worker& worker, Command& command) noexcept {
    switch (command.opcode) {
        case Opcode::jump:
            return run_jump(worker, command);
        case Opcode::switch_lane:
            return run_switch(worker, command);
        case Opcode::start_lane:
            graph_.start_lane(worker, command.start.lane, 0);
            return Flow::next;
        case Opcode::end_graph:
            graph_.end_flow(*this);
            return Flow::stop;
        default:
            return run_one(worker, command) == Step::left ? Flow::left : Flow::next;
    }
}

namespace {

struct Reading {
    const void* from;
    void* to;
    std::size_t size;
};

template <class T>
bool compares(const void* left_bytes, const void* right_bytes, Comparison comparison) noexcept {
    T left{}, right{};
    std::memcpy(&left, left_bytes, sizeof left);
    std::memcpy(&right, right_bytes, sizeof right);
    switch (comparison) {
        case Comparison::equal:
            return left == right;
        case Comparison::not_equal:
            return left != right;
        case Comparison::greater:
            return left > right;
        case Comparison::greater_or_equal:
            return left >= right;
        case Comparison::less:
            return left < right;
        case Comparison::less_or_equal:
            return left <= right;
    }
    return false;
}

}  // namespace

bool Lane::read_words(Worker& worker, const Command& command, DeviceAddress from, void* to, std::size_t size) noexcept {
    Fault fault;
    if (any_remote() && remote_owner(from)) {
        if (read_device(to, from, size).ok()) return true;
        report(command, {.kind = FaultKind::memory}, 0, newest_error_text());
        return false;
    }
    Reading reading = {opaque_pointer(from), to, size};
    worker.executor.begin_task(this, executed_.load(std::memory_order_relaxed), 0);
    const Fiber::Exit how = worker.executor.run(
        nullptr,
        [](void* data) {
            const auto* work = static_cast<const Reading*>(data);
            std::memcpy(work->to, work->from, work->size);
        },
        &reading, nullptr, fault);
    worker.executor.end_task();
    if (how == Fiber::Exit::finished) return true;
    fault.kind = FaultKind::memory;
    report(command, fault, 0, "the word that decides how the model continues is not readable memory");
    return false;
}

Lane::Flow Lane::run_jump(Worker& worker, const Command& command) noexcept {
    std::uint32_t index = 0;
    if (!read_words(worker, command, command.jump.index, &index, sizeof index)) return Flow::next;
    const GraphPlace target = command.jump.targets[std::min(index, command.jump.count - 1)];
    if (target.lane == index_) {
        position_ = target.position;
        return Flow::elsewhere;
    }
    graph_.start_lane(worker, target.lane, target.position);
    return Flow::stop;
}

Lane::Flow Lane::run_switch(Worker& worker, const Command& command) noexcept {
    const SwitchWork& work = command.switch_lane;
    const std::size_t size = work.wide ? 8 : 4;
    char left[8] = {}, right[8] = {};
    if (!read_words(worker, command, work.left, left, size) || !read_words(worker, command, work.right, right, size))
        return Flow::next;
    const bool holds = work.wide ? compares<std::int64_t>(left, right, work.comparison)
                                 : compares<std::int32_t>(left, right, work.comparison);
    if (!holds) return Flow::next;
    graph_.start_lane(worker, work.lane, 0);
    return Flow::stop;
}

}  // namespace canopy
