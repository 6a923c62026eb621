// SPDX-License-Identifier: Apache-2.0
// Replays: beginning, sharing and ending them, and changing what they run.
#include "device/engine/graph/graph.h"

#include <algorithm>
#include <cstring>
#include <new>
#include <utility>

#include "base/error_text.h"
#include "device/engine/memory/remote.h"
#include "device/engine/stream/payload.h"
#include "device/engine/stream/scheduler.h"
#include "device/execution/tuning.h"
#include "device/opaque_pointer.h"

namespace canopy {

EngineGraph::EngineGraph(Scheduler& scheduler, const GraphPlan& plan)
    : Replayable(scheduler),
      scheduler_(scheduler),
      straight_runs_(scheduler.checks() ? nullptr : scheduler.abilities().straight_runs),
      flow_(plan.flow),
      cleared_(plan.cleared.begin(), plan.cleared.end()),
      presets_(plan.presets.begin(), plan.presets.end()),
      label_(plan.label),
      kept_(plan.kept) {
    for (Fence* fence : cleared_) fence->retain();
}

Result<Executable*> EngineGraph::create(Scheduler& scheduler, const GraphPlan& plan) {
    std::unique_ptr<EngineGraph> graph(new EngineGraph(scheduler, plan));
    CANOPY_TRY(graph->prepare(plan));
    return static_cast<Executable*>(graph.release());
}

EngineGraph::~EngineGraph() {
    for (Fence* fence : cleared_) fence->release();
}

void EngineGraph::make_lanes(const GraphPlan& plan) {
    for (std::uint32_t lane = 0; lane < plan.lanes.size(); ++lane)
        lanes_.push_back(std::make_unique<Lane>(*this, scheduler_, lane, plan.lanes[lane].stream));
}

void EngineGraph::set_label(std::string label) {
    SpinGuard guard(lock_);
    label_.swap(label);
}

// ---- a replay ------------------------------------------------------------------------------------------------------

void EngineGraph::begin(Worker& worker, Strand& parent, const ReplayWork* replay) noexcept {
    {
        SpinGuard guard(lock_);
        running_ = true;
        // An abort also stops lanes that had nothing left to run; this must not stop their next launch.
        if (std::exchange(aborted_, false))
            for (const auto& lane : lanes_) lane->forget_stop();
        ++number_;
        parent_ = &parent;
        // Under the lock: an abort that finds the replay running must not be undone.
        dropping_.store(false, std::memory_order_relaxed);
        ending_.store(false, std::memory_order_relaxed);
        if (!pending_.empty()) [[unlikely]]
            apply_pending(replay ? replay->ticket : UINT64_MAX);
    }
    bindings_ = replay ? replay->bindings : nullptr;
    measuring_ = number_ == tuning::first_measured_replay || number_ % tuning::replays_per_measurement == 0;
    for (Fence* fence : cleared_) fence->signal(SignalMode::set, 0);
    for (const WordPreset& preset : presets_) store_word(preset.address, preset.value);
    if (const std::uint32_t priority = parent.priority(); !lanes_.empty() && lanes_[0]->priority() != priority)
        for (const auto& lane : lanes_) lane->set_priority(priority);
    parts_.store((flow_ ? static_cast<std::uint32_t>(roots_.size()) : ends_) + 1, std::memory_order_relaxed);
    for (const std::uint32_t root : roots_) {
        if (flow_) {
            lanes_[root]->place_at(no_segment, 0, static_cast<std::uint32_t>(commands_.lane(root).size()));
            push_kept(worker, *lanes_[root]);
        } else {
            Segment& segment = segments_[root];
            lanes_[segment.lane]->place_at(root, segment.first, segment.end);
            push_kept(worker, *lanes_[segment.lane]);
        }
    }
}

bool EngineGraph::start(Worker& worker, Strand& parent, const ReplayWork* replay) noexcept {
    begin(worker, parent, replay);
    while (Runnable* lane = worker.kept.take(this)) Lane::run(worker, static_cast<Lane*>(lane));
    scheduler_.withdraw_offer(worker);
    if (parts_.load(std::memory_order_acquire) == 1) return true;
    parent.begin_wait();
    if (parts_.fetch_sub(1, std::memory_order_acq_rel) != 1) return false;
    parent.cancel_wait();
    return true;
}

void EngineGraph::part_ended(Worker& worker) noexcept {
    if (parts_.fetch_sub(1, std::memory_order_acq_rel) != 1) return;
    const HandOver::Collecting collecting(worker.hand_over);
    parent_->continue_after_wait(WaitResult::satisfied);
}

void EngineGraph::end() noexcept {
    bool aborted = false;
    {
        SpinGuard guard(lock_);
        running_ = false;
        aborted = aborted_;
        if (!pending_.empty()) [[unlikely]]
            apply_pending(turn_taken_ ? turn_ + 1 : 0);
    }
    const bool unfinished_flow = flow_ && !ending() && !dropping();
    if (!aborted && !unfinished_flow) [[likely]]
        return;
    if (aborted && parent_->dropping()) return;  // the caller of abort knows
    TaskFailure failure;
    failure.kind = aborted ? FaultKind::aborted : FaultKind::exception;
    failure.opcode = Opcode::replay;
    failure.what =
        aborted ? "the replay was aborted" : "its streams ended and none of them passed the end task of the model";
    task_failed(failure, {});
}

void EngineGraph::task_failed(TaskFailure& failure, GraphPlace place) noexcept {
    dropping_.store(true, std::memory_order_release);
    std::string label;
    try {
        SpinGuard guard(lock_);
        label = label_;
    } catch (...) {
    }
    const FailedGraphTask task = {label, place, lanes_.empty() ? 0 : lanes_[place.lane]->stream()};
    if (!failure.graph) failure.graph = &task;
    parent_->task_failed(failure);
    if (failure.graph == &task) failure.graph = nullptr;
}

// ---- segments ------------------------------------------------------------------------------------------------------

// True if no other segment has to end before it; the caller then runs it.
bool EngineGraph::start_segment(Segment& segment) noexcept {
    if (segment.before != 1) {
        if (segment.missing.fetch_sub(1, std::memory_order_acq_rel) != 1) return false;
        segment.missing.store(segment.before, std::memory_order_relaxed);  // for the next replay
    }
    lanes_[segment.lane]->place_at(static_cast<std::uint32_t>(&segment - segments_.get()), segment.first, segment.end);
    return true;
}

// Once this thread has counted the segment as done for the last successor, other threads may end the replay and destroy
// the graph. After that it must not read anything of either except the lanes it has been given to run.
Lane* EngineGraph::leave_segment(Worker& worker, Segment& segment) noexcept {
    const std::uint32_t* successors = successors_.data() + segment.successors;
    const std::uint32_t count = segment.successor_count, following = segment.following;
    Lane* const own = lanes_[segment.lane].get();
    Lane* next = nullptr;
    for (std::uint32_t i = 0; i < count; ++i) {
        Segment& successor = segments_[successors[i]];
        Lane* const lane = lanes_[successor.lane].get();
        if (!start_segment(successor)) continue;
        if (next) keep(worker, *next);
        next = lane;
    }
    if (following != no_segment) {
        if (!start_segment(segments_[following])) return next;
        if (next) keep(worker, *next);
        return own;
    }
    if (count == 0) part_ended(worker);
    return next;
}

void EngineGraph::push_kept(Worker& worker, Lane& lane) noexcept { worker.kept.push(lane, lane.expected_time(), this); }

// Keeps the lane for this thread, and offers it to others if that is worthwhile.
void EngineGraph::keep(Worker& worker, Lane& lane) noexcept {
    push_kept(worker, lane);
    if (worker.kept.time() >= tuning::time_worth_sharing) scheduler_.offer_kept(worker);
}

void EngineGraph::drain_kept(Worker& worker) noexcept {
    for (;;) {
        if (Runnable* lane = worker.kept.take(nullptr))
            Lane::run(worker, static_cast<Lane*>(lane));
        else if (Runnable* released = worker.hand_over.take())
            released->drain(worker);
        else
            return;
    }
}

// ---- lanes that start each other -----------------------------------------------------------------------------------

void EngineGraph::start_lane(Worker& worker, std::uint32_t index, std::uint32_t position) noexcept {
    Lane& lane = *lanes_[index];
    parts_.fetch_add(1, std::memory_order_acq_rel);
    if (lane.wake(position, static_cast<std::uint32_t>(commands_.lane(index).size()))) {
        scheduler_.enqueue(lane);
        return;
    }
    part_ended(worker);
    TaskFailure failure;
    failure.kind = FaultKind::exception;
    failure.opcode = Opcode::replay;
    failure.what = "a stream of the model was activated that is already running";
    task_failed(failure, {index, position});
}

void EngineGraph::end_flow(const Lane& by) noexcept {
    ending_.store(true, std::memory_order_release);
    SpinGuard guard(lock_);
    for (const auto& lane : lanes_)
        if (lane.get() != &by) lane->withdraw_wait();
}

// ---- aborting ------------------------------------------------------------------------------------------------------

void EngineGraph::stop_lanes() noexcept {
    dropping_.store(true, std::memory_order_release);
    aborted_ = true;
    for (const auto& lane : lanes_) lane->stop();
}

// The lock keeps the next replay from beginning, so nothing of it is stopped by mistake.
void EngineGraph::abort_replay_of(const Strand& parent) noexcept {
    SpinGuard guard(lock_);
    if (running_ && parent_ == &parent) stop_lanes();
}

void EngineGraph::abort() noexcept {
    SpinGuard guard(lock_);
    if (running_) stop_lanes();
}

bool EngineGraph::blocked() const noexcept {
    bool waits = false;
    for (const auto& lane : lanes_) {
        if (lane->at_rest()) continue;
        if (!lane->blocked()) return false;
        waits = true;
    }
    return waits;
}

// ---- changes -------------------------------------------------------------------------------------------------------

const Segment& EngineGraph::segment_at(GraphPlace place) const noexcept {
    std::uint32_t low = first_segment_[place.lane], high = first_segment_[place.lane + 1];
    while (high - low > 1) {
        const std::uint32_t middle = low + (high - low) / 2;
        (segments_[middle].first <= place.position ? low : high) = middle;
    }
    return segments_[low];
}

void EngineGraph::enter_guarded(Segment& segment) noexcept {
    SpinGuard guard(lock_);
    segment.begun_in = number_;
}

void EngineGraph::enter_guarded(GraphPlace place) noexcept {
    SpinGuard guard(lock_);
    begun_[place.lane][place.position] = number_;
}

bool EngineGraph::begun(const PendingChange& change) const noexcept {
    const Segment* segment = nullptr;
    for (const GraphChange& one : change.changes) {
        const GraphPlace place = one.place;
        if (flow_) {
            if (begun_[place.lane][place.position] == number_) return true;
            continue;
        }
        if (segment && segment->lane == place.lane && place.position >= segment->first && place.position < segment->end)
            continue;
        segment = &segment_at(place);
        // Not recorded for segments that are not guarded, so assume they have begun.
        if (!segment->guarded || segment->begun_in == number_) return true;
    }
    return false;
}

void EngineGraph::apply(PendingChange& change) noexcept {
    for (std::size_t i = 0; i < change.changes.size(); ++i)
        commands_.replace(change.changes[i].place, change.changes[i].command, std::move(change.payloads[i]));
}

// Earlier changes of the same places must not undo it when their replays begin.
void EngineGraph::withdraw_pending(const PendingChange& newer) noexcept {
    const auto replaced = [&](GraphPlace place) {
        return std::any_of(newer.changes.begin(), newer.changes.end(), [&](const GraphChange& change) {
            return change.place.lane == place.lane && change.place.position == place.position;
        });
    };
    for (PendingChange& older : pending_) {
        std::size_t kept = 0;
        for (std::size_t i = 0; i < older.changes.size(); ++i) {
            if (replaced(older.changes[i].place)) continue;
            if (kept != i) {
                older.changes[kept] = older.changes[i];
                older.payloads[kept] = std::move(older.payloads[i]);
            }
            ++kept;
        }
        older.changes.resize(kept);
        older.payloads.resize(kept);
    }
}

void EngineGraph::apply_pending(std::uint64_t ticket) noexcept {
    std::size_t kept = 0;
    for (PendingChange& change : pending_) {
        if (change.from <= ticket)
            apply(change);
        else if (PendingChange* to = &pending_[kept++]; to != &change)
            *to = std::move(change);
    }
    pending_.resize(kept);
}

namespace {

// A copy of everything the command points at, with the placeholders after the payload.
std::unique_ptr<char[]> own_payload(Command& command) {
    const std::size_t size = GraphCommands::payload_size(command);
    if (size == 0) return nullptr;
    const bool launch = is_kernel(command.opcode);
    const std::size_t holders = launch ? command.launch.placeholder_count * sizeof(Placeholder) : 0;
    const std::size_t behind = (size + 15) / 16 * 16;
    std::unique_ptr<char[]> memory(new char[behind + holders]);
    if (launch) {
        std::memcpy(memory.get(), command.launch.host_arguments(), size);
        if (holders != 0) std::memcpy(memory.get() + behind, command.launch.placeholders, holders);
        command.launch.set_arguments(memory.get());
        command.launch.placeholders = reinterpret_cast<const Placeholder*>(memory.get() + behind);
    } else if (command.opcode == Opcode::copy) {
        std::memcpy(memory.get(), opaque_pointer(command.copy.source), size);
        command.copy.source = device_address(memory.get());
    }
    return memory;
}

}  // namespace

Status EngineGraph::change(std::span<const GraphChange> changes, ChangeTime time) noexcept try {
    PendingChange pending{0, {changes.begin(), changes.end()}, {}};
    pending.payloads.reserve(changes.size());
    for (GraphChange& change : pending.changes) {
        if (!commands_.contains(change.place)) return fail(107000, "the graph has no such task");
        CANOPY_TRY(check_command(change.command));
        const Opcode opcode = change.command.opcode;
        if (opcode == Opcode::condition || opcode == Opcode::jump || opcode == Opcode::replay)
            return fail(107000, "a task of this kind cannot replace another");
        pending.payloads.push_back(own_payload(change.command));
    }
    SpinGuard guard(lock_);
    bool now = false;
    if (time == ChangeTime::next_replay) {
        pending.from = tickets();
        now = !running_ && pending.from == turn_ && pending_.empty();
    } else {
        now = !running_ || !begun(pending);
        withdraw_pending(pending);
    }
    if (now)
        apply(pending);
    else
        pending_.push_back(std::move(pending));
    return {};
} catch (...) {
    return fail(207001, "out of host memory for a change of a graph");
}

}  // namespace canopy
