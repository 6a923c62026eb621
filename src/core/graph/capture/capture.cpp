// SPDX-License-Identifier: Apache-2.0
// Begins and ends captures.
#include "core/graph/capture/capture.h"

#include <algorithm>

#include "base/error_text.h"
#include "base/process_state.h"
#include "core/base/error_codes.h"
#include "core/graph/graph_end.h"
#include "core/graph/graph_prepare.h"

namespace canopy {

// ---- the list ------------------------------------------------------------------------------------------------------

namespace {

struct CaptureList {
    Mutex mutex;
    std::vector<std::shared_ptr<Capture>> all CANOPY_GUARDED_BY(mutex);
    std::uint64_t next_id CANOPY_GUARDED_BY(mutex) = 1;
};
CaptureList& list() { return process_state<CaptureList>(); }

void enlist(const std::shared_ptr<Capture>& capture) {
    CaptureList& captures = list();
    MutexLock lock(captures.mutex);
    capture->id = captures.next_id++;
    captures.all.push_back(capture);
    captures_under_way.fetch_add(1, std::memory_order_relaxed);
}

void take_off(const std::shared_ptr<Capture>& capture) noexcept {
    CaptureList& captures = list();
    MutexLock lock(captures.mutex);
    if (std::erase(captures.all, capture) != 0) captures_under_way.fetch_sub(1, std::memory_order_relaxed);
}

}  // namespace

std::vector<std::shared_ptr<Capture>> all_captures() {
    CaptureList& captures = list();
    MutexLock lock(captures.mutex);
    return captures.all;
}

std::shared_ptr<Capture> find_capture(std::uint64_t id) {
    if (id == 0) return nullptr;
    CaptureList& captures = list();
    MutexLock lock(captures.mutex);
    for (const auto& capture : captures.all)
        if (capture->id == id) return capture;
    return nullptr;
}

// ---- the object ----------------------------------------------------------------------------------------------------

Status Capture::check_active() const {
    if (status == CaptureStatus::active) [[likely]]
        return {};
    return fail(code::capture_invalidated, "the capture of stream {} was invalidated by {}", origin_id, invalidated_by);
}

CaptureMember& Capture::add(Stream& stream) {
    RecordedLane& lane = graph->lanes.emplace_back();
    lane.stream = stream.self;
    lane.stream_id = stream.id;
    const auto number = static_cast<std::uint32_t>(graph->lanes.size() - 1);
    CaptureMember& added = members.emplace_back(*this, number, stream);
    stream.set_recorder(&added.recorder);
    return added;
}

void Capture::invalidate(std::string why) {
    if (status != CaptureStatus::active) return;
    status = CaptureStatus::invalidated;
    invalidated_by = std::move(why);
}

// ---- begin ---------------------------------------------------------------------------------------------------------

namespace {

Status check_mode(CaptureMode mode) {
    if (mode == CaptureMode::global || mode == CaptureMode::thread_local_ || mode == CaptureMode::relaxed) return {};
    return fail(code::param_invalid, "mode {} is not a capture mode", static_cast<int>(mode));
}

Status check_stream(const Stream& stream) CANOPY_REQUIRES(stream.lock) {
    if (stream.is_default)
        return fail(code::capture_implicit, "stream {} is a default stream, which cannot be captured", stream.id);
    if (!stream.recorder) return {};
    switch (stream.recorder->kind()) {
        case RecorderKind::capture:
            return fail(code::stream_captured, "stream {} is already being captured", stream.id);
        case RecorderKind::build:
            return fail(code::stream_model, "stream {} is persistent: its tasks belong to the graph it is bound to",
                        stream.id);
        case RecorderKind::update:
            break;
    }
    return fail(code::task_group_status, "stream {} collects an update of a task group", stream.id);
}

// New tasks run after everything already in the graph.
Status follow_earlier_tasks(Graph& graph, std::uint32_t lane) CANOPY_REQUIRES(*graph.mutex) {
    Result<GraphTask*> head = append_task(graph, lane, Command(Opcode::nothing));
    if (!head.ok()) return head.status();
    for (std::uint32_t before = 0; before < lane; ++before) {
        const std::size_t count = graph.lanes[before].tasks.size();
        if (count != 0) graph.edges.push_back({{before, static_cast<std::uint32_t>(count - 1)}, {lane, 0}});
    }
    return {};
}

Status check_state(const Graph& graph, GraphState expected) CANOPY_REQUIRES(*graph.mutex) {
    if (graph.state == expected) return {};
    return fail(code::param_invalid, "{} has changed in the meantime", label_of(graph));
}

// Claims the graph for the capture.
void enter_graph(Capture& capture) CANOPY_REQUIRES(*capture.graph->mutex) {
    capture.before = extent_of(*capture.graph);
    capture.first_lane = static_cast<std::uint32_t>(capture.before.lanes);
    capture.graph->state = GraphState::capturing;
    SpinGuard guard(capture.graph->replay_lock);
    capture.earlier = std::exchange(capture.graph->executable, nullptr);
}

Status begin(const void* handle, CaptureMode mode, Pin<Graph> graph, GraphState expected) {
    auto capture = std::make_shared<Capture>();
    capture->mode = mode;
    capture->thread = this_thread_number();
    capture->graph = std::move(graph);
    capture->body = capture->graph->parent != 0;
    capture->appends = expected == GraphState::ready || expected == GraphState::filled;
    return with_stream(handle, [&](LockedStream& stream) CANOPY_REQUIRES(stream->lock) -> Status {
        CANOPY_TRY(check_stream(*stream));
        capture->origin = stream->self;
        capture->origin_id = stream->id;
        MutexLock lock(*capture->graph->mutex);
        CANOPY_TRY(check_state(*capture->graph, expected));
        enter_graph(*capture);
        enlist(capture);
        capture->add(*stream);
        return capture->appends ? follow_earlier_tasks(*capture->graph, capture->first_lane) : Status();
    });
}

Status check_target(const Graph& graph) CANOPY_REQUIRES(*graph.mutex) {
    switch (graph.state) {
        case GraphState::empty:
        case GraphState::filled:
            return {};
        case GraphState::ready:
            if (graph.parent != 0)
                return fail(code::param_invalid, "{} is the body of a condition of a graph that is complete",
                            label_of(graph));
            if (graph.flow)
                return fail(code::not_supported,
                            "{} was built from persistent streams: nothing can be captured into it", label_of(graph));
            return {};
        case GraphState::capturing:
            return fail(code::model_captured, "{} is already being captured", label_of(graph));
        case GraphState::building:
            return fail(code::param_invalid, "{} is being built from persistent streams", label_of(graph));
        case GraphState::failed:
        case GraphState::ended:
            break;
    }
    return fail(code::param_invalid, "{} was not completed, or its context has ended", label_of(graph));
}

}  // namespace

Status begin_capture(const void* stream, CaptureMode mode) {
    CANOPY_TRY(check_mode(mode));
    Result<Handle> handle = create_graph(GraphState::empty);
    if (!handle.ok()) return handle.status();
    Pin<Graph> graph = Runtime::instance().graphs.pin(*handle);
    const Status status = begin(stream, mode, Runtime::instance().graphs.pin(*handle), GraphState::empty);
    if (!status.ok()) end_graph(*graph);
    return status;
}

Status begin_capture_into(const void* stream, const void* opaque, CaptureMode mode) {
    CANOPY_TRY(check_mode(mode));
    Result<Pin<Graph>> graph = find_graph(opaque, true);
    if (!graph.ok()) return graph.status();
    GraphState state = GraphState::failed;
    {
        MutexLock lock(*(*graph)->mutex);
        CANOPY_TRY(check_target(**graph));
        state = (*graph)->state;
    }
    return begin(stream, mode, std::move(*graph), state);
}

// ---- end -----------------------------------------------------------------------------------------------------------

namespace {

// The capture of a stream; nullptr if it has none.
std::shared_ptr<Capture> capture_of(const Stream& stream) CANOPY_REQUIRES(stream.lock) {
    if (!stream.recorder || stream.recorder->kind() != RecorderKind::capture) return nullptr;
    return static_cast<CaptureLane*>(stream.recorder)->capture().shared_from_this();
}

// The number of a member's tasks that the origin does not wait for. Records without a wait have no effect and are not
// counted.
std::size_t tasks_not_waited_for(const Capture& capture, std::size_t index, std::uint32_t covered)
    CANOPY_REQUIRES(*capture.graph->mutex) {
    const auto& tasks = capture.graph->lanes[capture.first_lane + index].tasks;
    std::size_t count = 0;
    for (std::size_t position = std::max(covered, 1u); position < tasks.size(); ++position)
        if (tasks[position].role != EventRole::edge || tasks[position].type != TaskType::event_record) ++count;
    return count;
}

// Checks that every stream that joined is joined back: the origin waits for its tasks, directly or indirectly.
Status check_joined(const Capture& capture) CANOPY_REQUIRES(*capture.graph->mutex) {
    std::string text;
    const LaneClock& reached = capture.members.front().clock;
    for (std::size_t index = 1; index < capture.members.size(); ++index) {
        const std::uint32_t covered = index < reached.size() ? reached[index] : 0;
        const std::size_t left = tasks_not_waited_for(capture, index, covered);
        if (covered != 0 && left == 0) continue;
        const CaptureMember& member = capture.members[index];
        const std::int32_t from = capture.members[member.from_lane - capture.first_lane].stream_id;
        text += fmt::format(
            "{}stream {} was not joined: it joined the capture when it waited for event {}, recorded on stream {}, and "
            "{} of its tasks after that {} not waited for by stream {}, on which the capture began",
            text.empty() ? "" : "; ", member.stream_id, slot_of(member.event), from, left, left == 1 ? "is" : "are",
            capture.origin_id);
    }
    if (text.empty()) return {};
    return fail(code::stream_unjoined, "{}", text);
}

Status check_groups(const Capture& capture) CANOPY_REQUIRES(*capture.graph->mutex) {
    for (std::size_t index = 0; index < capture.members.size(); ++index)
        if (capture.graph->lanes[capture.first_lane + index].open_group != no_group)
            return fail(code::task_group_status, "a task group of stream {} was begun and not ended",
                        capture.members[index].stream_id);
    return {};
}

// Checks that the capture may become a graph.
Status validate(const Capture& capture) CANOPY_REQUIRES(*capture.graph->mutex) {
    if (capture.mode != CaptureMode::relaxed && capture.thread != this_thread_number())
        return fail(code::capture_wrong_thread,
                    "the capture of stream {} was begun by thread {} and ended by thread {}, which only mode RELAXED "
                    "allows; it is dropped",
                    capture.origin_id, capture.thread, this_thread_number());
    CANOPY_TRY(capture.check_active());
    CANOPY_TRY(check_joined(capture));
    CANOPY_TRY(check_groups(capture));
    return check_bodies(*capture.graph);
}

Status complete(Capture& capture) CANOPY_REQUIRES(*capture.graph->mutex) {
    capture.graph->bound.store(!capture.graph->bindings.empty(), std::memory_order_release);
    if (!capture.body) return prepare_graph(*capture.graph);
    capture.graph->state = GraphState::filled;
    return {};
}

// nullptr past the last member. Members do not move, and a capture that is over gets no new ones.
CaptureMember* member_at(Capture& capture, std::size_t index) noexcept {
    MutexLock lock(*capture.graph->mutex);
    return index < capture.members.size() ? &capture.members[index] : nullptr;
}

// The streams execute commands again. Streams are locked before graphs, so one member at a time.
void release_streams(Capture& capture) noexcept {
    std::size_t index = 0;
    while (CaptureMember* const member = member_at(capture, index++)) {
        Stream* const stream = Runtime::instance().streams.peek(member->stream);
        SpinGuard guard(stream->lock);
        if (stream->recorder == &member->recorder) stream->set_recorder(nullptr);
    }
}

// Restores a graph that existed before; ends a new one.
void undo(Capture& capture) {
    Graph& graph = *capture.graph;
    if (!capture.appends && !capture.body) return end_graph(graph);
    cut_graph(graph, capture.before);
    MutexLock lock(*graph.mutex);
    if (graph.state != GraphState::capturing) return;  // the graph or its context has ended meanwhile
    graph.bound.store(!graph.bindings.empty(), std::memory_order_release);
    graph.state = !capture.appends ? GraphState::empty : capture.body ? GraphState::filled : GraphState::ready;
    SpinGuard replays(graph.replay_lock);
    graph.executable = std::exchange(capture.earlier, nullptr);
}

void finish(const std::shared_ptr<Capture>& capture, bool complete) {
    release_streams(*capture);
    take_off(capture);
    if (!complete) undo(*capture);
    Executable* const earlier = std::exchange(capture->earlier, nullptr);
    if (!earlier) return;
    MutexLock lock(*capture->graph->mutex);
    if (capture->graph->state == GraphState::ended)
        earlier->release();
    else
        capture->graph->earlier.push_back(earlier);
}

Status not_captured(const Stream& stream) {
    return fail(code::stream_not_captured, "stream {} is not being captured", stream.id);
}

}  // namespace

Result<Handle> end_capture(const void* handle) {
    std::shared_ptr<Capture> capture;
    CANOPY_TRY(with_stream(handle, [&](LockedStream& stream) CANOPY_REQUIRES(stream->lock) -> Status {
        capture = capture_of(*stream);
        if (!capture) return not_captured(*stream);
        if (capture->origin != stream->self)
            return fail(code::capture_unmatched, "stream {} joined a capture that began on stream {}, where it ends",
                        stream->id, capture->origin_id);
        return {};
    }));
    Status status;
    {
        MutexLock lock(*capture->graph->mutex);
        if (capture->status == CaptureStatus::none)
            return fail(code::stream_not_captured, "stream {} is not being captured", capture->origin_id);
        status = validate(*capture);
        if (status.ok()) status = complete(*capture);
        capture->status = CaptureStatus::none;
    }
    const Handle graph = capture->graph->self;
    finish(capture, status.ok());
    if (!status.ok()) return status;
    return graph;
}

Result<CaptureInfo> capture_info(const void* opaque) {
    Result<Pin<Stream>> stream = find_stream(opaque, true);
    if (!stream.ok()) return stream.status();
    std::shared_ptr<Capture> capture;
    {
        SpinGuard guard((*stream)->lock);
        capture = capture_of(**stream);
    }
    if (!capture) return CaptureInfo{};
    MutexLock lock(*capture->graph->mutex);
    if (capture->status == CaptureStatus::none) return CaptureInfo{};
    return CaptureInfo{capture->status, capture->graph->self};
}

void free_ownerless_captures() noexcept {
    try {
        for (const auto& capture : all_captures()) {
            if (!capture->ownerless.load(std::memory_order_acquire)) continue;
            {
                MutexLock lock(*capture->graph->mutex);
                if (capture->status == CaptureStatus::none) continue;
                capture->status = CaptureStatus::none;
            }
            finish(capture, false);
        }
    } catch (const std::bad_alloc&) {  // they stay in the list for the next stream that ends
    }
}

}  // namespace canopy
