// SPDX-License-Identifier: Apache-2.0
// What the streams of a capture do instead of running: commands become tasks, records and waits of events edges.
#include <algorithm>
#include <new>

#include "base/error_text.h"
#include "core/base/error_codes.h"
#include "core/base/thread_state.h"
#include "core/graph/capture/capture.h"

namespace canopy {
namespace {

// Takes back tasks of a batch that could not be recorded as a whole.
void take_back(Graph& graph, std::uint32_t lane_index, std::size_t count) noexcept {
    RecordedLane& lane = graph.lanes[lane_index];
    while (lane.tasks.size() > count) {
        if (lane.tasks.back().group != no_group) --graph.groups[lane.tasks.back().group].count;
        lane.tasks.pop_back();
    }
}

template <class Body>
Status guarded(Body&& body) noexcept {
    try {
        return body();
    } catch (const std::bad_alloc&) {
        return Status(code::bad_alloc);  // no memory for the sentence either
    }
}

// Everything that is done before `from` is done before what comes now.
void merge(LaneClock& clock, const LaneClock& from) {
    if (clock.size() < from.size()) clock.resize(from.size());
    for (std::size_t index = 0; index < from.size(); ++index) clock[index] = std::max(clock[index], from[index]);
}

}  // namespace

RecorderTarget CaptureLane::target() const noexcept { return {capture_.graph->self, lane_}; }

Result<std::uint64_t> CaptureLane::record(Stream& stream,
                                          std::span<Command> commands) noexcept CANOPY_NO_THREAD_SAFETY_ANALYSIS {
    Graph& graph = *capture_.graph;
    {
        std::lock_guard guard(graph.mutex);
        if (capture_.status == CaptureStatus::active) [[likely]] {
            const std::size_t before = graph.lanes[lane_].tasks.size();
            for (const Command& command : commands) {
                Result<GraphTask*> task = append_task(graph, lane_, command);
                if (task.ok()) [[likely]]
                    continue;
                take_back(graph, lane_, before);
                return task.status();
            }
            return stream.last_sequence;
        }
        if (capture_.status == CaptureStatus::invalidated) return capture_.check_active();
    }
    // The capture has ended and is about to let go of its streams: this one runs its commands again.
    stream.set_recorder(nullptr);
    return stream.submit(commands);
}

Status CaptureLane::append_event(Stream& stream, Event& event, Command& command, EventRole role, TaskType type,
                                 std::uint32_t flag) CANOPY_NO_THREAD_SAFETY_ANALYSIS {
    CANOPY_TRY(capture_.check_active());
    stream.number(command);
    Result<GraphTask*> task = append_task(*capture_.graph, lane_, command);
    if (!task.ok()) return task.status();
    (*task)->role = role;
    (*task)->type = type;
    (*task)->event = event.self;
    (*task)->event_flag = flag;
    return {};
}

// The command's value is the number of its binding.
Status CaptureLane::append_bound(Stream& stream, Event& event, Command& command, TaskType type) {
    if (capture_.body)
        return fail(code::not_supported,
                    "the external flag has no meaning in the body of a condition, which may run any "
                    "number of times in an execution");
    std::lock_guard guard(capture_.graph->mutex);
    std::vector<BoundEvent>& bindings = capture_.graph->bindings;
    const bool record = type == TaskType::event_record;
    (record ? command.signal.value : command.wait.value) = bindings.size();
    CANOPY_TRY(append_event(stream, event, command, EventRole::bound, type, 1));
    bindings.push_back({event.self, record, false});
    return {};
}

Status CaptureLane::record_event(Stream& stream, Event& event, std::uint32_t flag) noexcept {
    return guarded([&] { return add_record(stream, event, flag); });
}

Status CaptureLane::wait_for_event(Stream& stream, Event& event, std::uint32_t flag, Nanoseconds timeout) noexcept {
    return guarded([&] { return add_wait(stream, event, flag, timeout); });
}

Status CaptureLane::reset_event(Stream& stream, Event& event) noexcept {
    return guarded([&] { return add_reset(stream, event); });
}

Status CaptureLane::add_record(Stream& stream, Event& event, std::uint32_t flag) CANOPY_NO_THREAD_SAFETY_ANALYSIS {
    Command command(Opcode::signal);
    if ((event.flags & event_external) != 0) {
        Result<Fence*> fence = event_flag(event, *stream.device);
        if (!fence.ok()) return fence.status();
        command.signal = {*fence, 1, SignalMode::set};
        std::lock_guard guard(capture_.graph->mutex);
        return append_event(stream, event, command, EventRole::flagged, TaskType::event_record, flag);
    }
    if (flag == 1) {
        command.signal = {nullptr, 0, SignalMode::raise};
        return append_bound(stream, event, command, TaskType::event_record);
    }
    SpinGuard locked(event.lock);
    if (event.capture != capture_.id) {
        if (const std::shared_ptr<Capture> other = find_capture(event.capture)) {
            const std::string why =
                fmt::format("event {} is part of another capture, of stream {}", slot_of(event.self), other->origin_id);
            spoil(capture_, &stream, why);
            spoil(*other, &stream, why);
            return fail(code::capture_conflict, "{}: {}", thread_state.function, why);
        }
    }
    CANOPY_TRY(forget_record(event, *stream.device));
    command = Command(Opcode::nothing);
    std::lock_guard guard(capture_.graph->mutex);
    CANOPY_TRY(append_event(stream, event, command, EventRole::edge, TaskType::event_record, 0));
    const auto position = static_cast<std::uint32_t>(capture_.graph->lanes[lane_].tasks.size() - 1);
    capture_.records[{lane_, position}] = capture_.member(lane_).clock;
    event.capture = capture_.id;
    event.place = {lane_, position};
    return {};
}

Status CaptureLane::add_wait(Stream& stream, Event& event, std::uint32_t flag,
                             Nanoseconds timeout) CANOPY_NO_THREAD_SAFETY_ANALYSIS {
    Command command(Opcode::wait);
    if ((event.flags & event_external) != 0) {
        Result<Fence*> fence = event_flag(event, *stream.device);
        if (!fence.ok()) return fence.status();
        command.wait = {*fence, 1, static_cast<std::uint64_t>(timeout), WaitMode::at_least, false};
        std::lock_guard guard(capture_.graph->mutex);
        return append_event(stream, event, command, EventRole::flagged, TaskType::event_wait, flag);
    }
    if (flag == 1) {
        command.wait = {nullptr, 0, static_cast<std::uint64_t>(timeout), WaitMode::at_least, false};
        return append_bound(stream, event, command, TaskType::event_wait);
    }
    SpinGuard locked(event.lock);
    if (event.capture != capture_.id) {
        const std::shared_ptr<Capture> other = find_capture(event.capture);
        const std::string why = other ? fmt::format("event {} was recorded in another capture, of stream {}",
                                                    slot_of(event.self), other->origin_id)
                                      : fmt::format("event {} was not recorded in this capture", slot_of(event.self));
        spoil(capture_, &stream, why);
        if (other) spoil(*other, &stream, why);
        return fail(other ? code::capture_conflict : code::capture_dependency, "{}: stream {} is captured, but {}",
                    thread_state.function, stream.id, why);
    }
    command = Command(Opcode::nothing);
    std::lock_guard guard(capture_.graph->mutex);
    CANOPY_TRY(append_event(stream, event, command, EventRole::edge, TaskType::event_wait, 0));
    if (event.place.lane == lane_) return {};  // what comes later in a lane waits anyway
    LaneClock& clock = capture_.member(lane_).clock;
    const std::size_t from = event.place.lane - capture_.first_lane;
    if (clock.size() <= from) clock.resize(from + 1);
    if (clock[from] > event.place.position) return {};  // and so does what waited for something after the record
    const auto position = static_cast<std::uint32_t>(capture_.graph->lanes[lane_].tasks.size() - 1);
    capture_.graph->edges.push_back({event.place, {lane_, position}});
    merge(clock, capture_.records[{event.place.lane, event.place.position}]);
    clock[from] = event.place.position + 1;
    return {};
}

Status CaptureLane::add_reset(Stream& stream, Event& event) CANOPY_NO_THREAD_SAFETY_ANALYSIS {
    Command command(Opcode::nothing);
    if ((event.flags & event_external) != 0) {
        Result<Fence*> fence = event_flag(event, *stream.device);
        if (!fence.ok()) return fence.status();
        command = Command(Opcode::signal);
        command.signal = {*fence, 0, SignalMode::set};
        std::lock_guard guard(capture_.graph->mutex);
        return append_event(stream, event, command, EventRole::flagged, TaskType::event_reset, 0);
    }
    // Edges are made when waits are called: from now on there is no record to wait for.
    SpinGuard locked(event.lock);
    std::lock_guard guard(capture_.graph->mutex);
    CANOPY_TRY(append_event(stream, event, command, EventRole::edge, TaskType::event_reset, 0));
    if (event.capture == capture_.id) event.capture = 0;
    return {};
}

void CaptureLane::launch_refused(Stream& stream, int code, const std::string& text) noexcept {
    try {
        spoil(capture_, &stream, fmt::format("{} (code {})", text, code));
    } catch (const std::bad_alloc&) {
    }
}

void CaptureLane::stream_ended(Stream& stream) noexcept {
    if (stream.self == capture_.origin) capture_.ownerless.store(true, std::memory_order_release);
    try {
        spoil(capture_, &stream, "the stream has ended");
    } catch (const std::bad_alloc&) {
    }
}

}  // namespace canopy
