// SPDX-License-Identifier: Apache-2.0
// Records the streams of a capture: commands become tasks, event records and waits become edges.
#include "core/graph/capture/capture.h"

#include <algorithm>
#include <new>

#include "base/error_text.h"
#include "core/base/error_codes.h"
#include "core/base/thread_state.h"

namespace canopy {
namespace {

// Removes the tasks of a batch that could not be recorded completely.
void take_back(Graph& graph, std::uint32_t lane_index, std::size_t count) noexcept CANOPY_REQUIRES(*graph.mutex) {
    RecordedLane& lane = graph.lanes[lane_index];
    while (lane.tasks.size() > count) {
        if (lane.tasks.back().group != no_group) --graph.groups[lane.tasks.back().group].count;
        lane.tasks.pop_back();
    }
}

// Everything done before `from` is also done before the next task.
void merge(LaneClock& clock, const LaneClock& from) {
    if (clock.size() < from.size()) clock.resize(from.size());
    for (std::size_t index = 0; index < from.size(); ++index) clock[index] = std::max(clock[index], from[index]);
}

// Appends an event task; its command is `nothing` if it only marks a place. Returns its position in the lane.
Result<std::uint32_t> append_event(Capture& capture, std::uint32_t lane, Stream& stream, const EventCall& call,
                                   Command command, EventRole role)
    CANOPY_REQUIRES(stream.lock, *capture.graph->mutex) {
    CANOPY_TRY(capture.check_active());
    stream.number(command);
    Result<GraphTask*> task = append_task(*capture.graph, lane, command);
    if (!task.ok()) return task.status();
    (*task)->role = role;
    (*task)->type = type_of(call.action);
    (*task)->event = call.event.self;
    (*task)->event_flag = call.flag;
    return static_cast<std::uint32_t>(capture.graph->lanes[lane].tasks.size() - 1);
}

}  // namespace

RecorderTarget CaptureLane::target() const noexcept { return {capture_.graph->self, lane_}; }

Result<std::uint64_t> CaptureLane::record(Stream& stream, std::span<Command> commands) noexcept {
    {
        MutexLock lock(*capture_.graph->mutex);
        if (capture_.status == CaptureStatus::active) [[likely]] {
            const std::size_t before = capture_.graph->lanes[lane_].tasks.size();
            for (const Command& command : commands) {
                Result<GraphTask*> task = append_task(*capture_.graph, lane_, command);
                if (task.ok()) [[likely]]
                    continue;
                take_back(*capture_.graph, lane_, before);
                return task.status();
            }
            return stream.last_sequence;
        }
        if (capture_.status == CaptureStatus::invalidated) return capture_.check_active();
    }
    // The capture has ended and is about to release its streams: this one executes commands again.
    stream.set_recorder(nullptr);
    return stream.submit(commands);
}

// ---- events --------------------------------------------------------------------------------------------------------

Status CaptureLane::record_event(Stream& stream, const EventCall& call) noexcept {
    try {
        return add_event(stream, call);
    } catch (const std::bad_alloc&) {
        return Status(code::bad_alloc);  // no memory for a message either
    }
}

Status CaptureLane::add_event(Stream& stream, const EventCall& call) {
    if ((call.event.flags & event_external) != 0) return add_flagged(stream, call);
    if (call.flag == 1) return add_bound(stream, call);
    switch (call.action) {
        case EventAction::record:
            return add_record(stream, call);
        case EventAction::wait:
            return add_wait(stream, call);
        case EventAction::reset:
            break;
    }
    return add_reset(stream, call);
}

// A task that sets, awaits or clears the event's flag at run time.
Status CaptureLane::add_flagged(Stream& stream, const EventCall& call) {
    Result<Command> command = flag_command(call, *stream.device);
    if (!command.ok()) return command.status();
    MutexLock lock(*capture_.graph->mutex);
    return append_event(capture_, lane_, stream, call, *command, EventRole::flagged).status();
}

// A task that each replay binds to a fence of the event. The command's value is the index of its binding.
Status CaptureLane::add_bound(Stream& stream, const EventCall& call) {
    if (capture_.body)
        return fail(code::not_supported,
                    "the external flag has no meaning in the body of a condition, which may run any "
                    "number of times in an execution");
    const bool record = call.action == EventAction::record;
    MutexLock lock(*capture_.graph->mutex);
    const std::uint64_t number = capture_.graph->bindings.size();
    Command command(record ? Opcode::signal : Opcode::wait);
    if (record)
        command.signal = {nullptr, number, SignalMode::raise};
    else
        command.wait = {nullptr, number, static_cast<std::uint64_t>(call.timeout), WaitMode::at_least, false};
    CANOPY_TRY(append_event(capture_, lane_, stream, call, command, EventRole::bound).status());
    capture_.graph->bindings.push_back({call.event.self, record, false});
    return {};
}

Status CaptureLane::add_record(Stream& stream, const EventCall& call) {
    Event& event = call.event;
    SpinGuard locked(event.lock);
    if (event.capture != capture_.id) {
        if (const std::shared_ptr<Capture> other = find_capture(event.capture)) {
            const std::string why =
                fmt::format("event {} is part of another capture, of stream {}", slot_of(event.self), other->origin_id);
            invalidate(capture_, &stream, why);
            invalidate(*other, &stream, why);
            return fail(code::capture_conflict, "{}: {}", thread_state.function, why);
        }
    }
    CANOPY_TRY(forget_record(event, *stream.device));
    MutexLock lock(*capture_.graph->mutex);
    Result<std::uint32_t> position =
        append_event(capture_, lane_, stream, call, Command(Opcode::nothing), EventRole::edge);
    if (!position.ok()) return position.status();
    capture_.records[{lane_, *position}] = capture_.member(lane_).clock;
    event.capture = capture_.id;
    event.place = {lane_, *position};
    return {};
}

Status CaptureLane::add_wait(Stream& stream, const EventCall& call) {
    Event& event = call.event;
    SpinGuard locked(event.lock);
    if (event.capture != capture_.id) {
        const std::shared_ptr<Capture> other = find_capture(event.capture);
        const std::string why = other ? fmt::format("event {} was recorded in another capture, of stream {}",
                                                    slot_of(event.self), other->origin_id)
                                      : fmt::format("event {} was not recorded in this capture", slot_of(event.self));
        invalidate(capture_, &stream, why);
        if (other) invalidate(*other, &stream, why);
        return fail(other ? code::capture_conflict : code::capture_dependency, "{}: stream {} is captured, but {}",
                    thread_state.function, stream.id, why);
    }
    MutexLock lock(*capture_.graph->mutex);
    Result<std::uint32_t> position =
        append_event(capture_, lane_, stream, call, Command(Opcode::nothing), EventRole::edge);
    if (!position.ok()) return position.status();
    if (event.place.lane == lane_) return {};  // tasks of a lane run in order anyway
    LaneClock& clock = capture_.member(lane_).clock;
    const std::size_t from = event.place.lane - capture_.first_lane;
    if (clock.size() <= from) clock.resize(from + 1);
    if (clock[from] > event.place.position) return {};  // the lane already waits for a task after the record
    capture_.graph->edges.push_back({event.place, {lane_, *position}});
    merge(clock, capture_.records[{event.place.lane, event.place.position}]);
    clock[from] = event.place.position + 1;
    return {};
}

// Waits become edges when they are called: from now on there is no record to wait for.
Status CaptureLane::add_reset(Stream& stream, const EventCall& call) {
    Event& event = call.event;
    SpinGuard locked(event.lock);
    MutexLock lock(*capture_.graph->mutex);
    CANOPY_TRY(append_event(capture_, lane_, stream, call, Command(Opcode::nothing), EventRole::edge).status());
    if (event.capture == capture_.id) event.capture = 0;
    return {};
}

void CaptureLane::launch_refused(Stream& stream, int code, const std::string& text) noexcept {
    try {
        invalidate(capture_, &stream, fmt::format("{} (code {})", text, code));
    } catch (const std::bad_alloc&) {
    }
}

void CaptureLane::stream_ended(Stream& stream) noexcept {
    if (stream.self == capture_.origin) capture_.ownerless.store(true, std::memory_order_release);
    try {
        invalidate(capture_, &stream, "the stream has ended");
    } catch (const std::bad_alloc&) {
    }
}

}  // namespace canopy
