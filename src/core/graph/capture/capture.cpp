// SPDX-License-Identifier: Apache-2.0
// Beginning and ending captures.
#include "core/graph/capture/capture.h"

#include <algorithm>
#include <mutex>

#include "base/error_text.h"
#include "core/base/error_codes.h"
#include "core/graph/graph_conditions.h"

namespace canopy {

// ---- the list ------------------------------------------------------------------------------------------------------

namespace {

struct CaptureList {
    std::mutex mutex;
    std::vector<std::shared_ptr<Capture>> all;
    std::uint64_t next_id = 1;
};
CaptureList& list() {
    static CaptureList* instance = new CaptureList;
    return *instance;
}

void enlist(const std::shared_ptr<Capture>& capture) {
    std::lock_guard guard(list().mutex);
    capture->id = list().next_id++;
    list().all.push_back(capture);
    captures_under_way.fetch_add(1, std::memory_order_relaxed);
}

void take_off(const std::shared_ptr<Capture>& capture) noexcept {
    std::lock_guard guard(list().mutex);
    if (std::erase(list().all, capture) != 0) captures_under_way.fetch_sub(1, std::memory_order_relaxed);
}

}  // namespace

std::vector<std::shared_ptr<Capture>> all_captures() {
    std::lock_guard guard(list().mutex);
    return list().all;
}

std::shared_ptr<Capture> find_capture(std::uint64_t id) {
    if (id == 0) return nullptr;
    std::lock_guard guard(list().mutex);
    for (const auto& capture : list().all)
        if (capture->id == id) return capture;
    return nullptr;
}

// ---- the object ----------------------------------------------------------------------------------------------------

Status Capture::check_active() const {
    if (status == CaptureStatus::active) [[likely]]
        return {};
    return fail(code::capture_invalidated, "the capture of stream {} was invalidated by {}", origin_id, spoilt);
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
    spoilt = std::move(why);
}

// ---- begin ---------------------------------------------------------------------------------------------------------

namespace {

Status check_mode(CaptureMode mode) {
    if (mode == CaptureMode::global || mode == CaptureMode::thread_local_ || mode == CaptureMode::relaxed) return {};
    return fail(code::param_invalid, "mode {} is not a capture mode", static_cast<int>(mode));
}

Status check_stream(const Stream& stream) CANOPY_NO_THREAD_SAFETY_ANALYSIS {
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

// The tasks that come run after everything that is in the graph already.
Status follow_earlier_tasks(Capture& capture) {
    Graph& graph = *capture.graph;
    const std::uint32_t lane = capture.first_lane;
    Result<GraphTask*> head = append_task(graph, lane, Command(Opcode::nothing));
    if (!head.ok()) return head.status();
    for (std::uint32_t before = 0; before < lane; ++before) {
        const std::size_t count = graph.lanes[before].tasks.size();
        if (count != 0) graph.edges.push_back({{before, static_cast<std::uint32_t>(count - 1)}, {lane, 0}});
    }
    return {};
}

// Takes the graph into the capture; the caller holds its mutex.
Status enter_graph(Capture& capture, GraphState expected) {
    Graph& graph = *capture.graph;
    if (graph.state != expected) return fail(code::param_invalid, "{} has changed in the meantime", label_of(graph));
    capture.before = {graph.lanes.size(),    graph.edges.size(),       graph.groups.size(), graph.conditions.size(),
                      graph.bindings.size(), graph.pool_blocks.size(), graph.next_sequence};
    capture.first_lane = static_cast<std::uint32_t>(graph.lanes.size());
    graph.state = GraphState::capturing;
    SpinGuard guard(graph.replay_lock);
    capture.earlier = std::exchange(graph.executable, nullptr);
    return {};
}

Status begin(const void* opaque, CaptureMode mode, Pin<Graph> graph,
             GraphState expected) CANOPY_NO_THREAD_SAFETY_ANALYSIS {
    auto capture = std::make_shared<Capture>();
    capture->mode = mode;
    capture->thread = this_thread_number();
    capture->graph = std::move(graph);
    capture->body = capture->graph->parent != 0;
    capture->appends = expected == GraphState::ready || expected == GraphState::filled;
    Result<LockedStream> stream = LockedStream::acquire(opaque);
    if (!stream.ok()) return stream.status();
    CANOPY_TRY(check_stream(**stream));
    capture->origin = (*stream)->self;
    capture->origin_id = (*stream)->id;
    std::lock_guard guard(capture->graph->mutex);
    CANOPY_TRY(enter_graph(*capture, expected));
    enlist(capture);
    capture->add(**stream);
    return capture->appends ? follow_earlier_tasks(*capture) : Status();
}

Status check_target(const Graph& graph) {
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
        std::lock_guard guard((*graph)->mutex);
        CANOPY_TRY(check_target(**graph));
        state = (*graph)->state;
    }
    return begin(stream, mode, std::move(*graph), state);
}

// ---- end -----------------------------------------------------------------------------------------------------------

namespace {

// The capture a stream is part of; nullptr when it is part of none.
std::shared_ptr<Capture> capture_of(const Stream& stream) CANOPY_NO_THREAD_SAFETY_ANALYSIS {
    if (!stream.recorder || stream.recorder->kind() != RecorderKind::capture) return nullptr;
    return static_cast<CaptureLane*>(stream.recorder)->capture().shared_from_this();
}

// Tasks of a member that nothing of the origin comes after. Records that nobody waited for have no effect.
std::size_t tasks_not_waited_for(const Capture& capture, std::size_t index, std::uint32_t covered) {
    const auto& tasks = capture.graph->lanes[capture.first_lane + index].tasks;
    std::size_t count = 0;
    for (std::size_t position = std::max(covered, 1u); position < tasks.size(); ++position)
        if (tasks[position].role != EventRole::edge || tasks[position].type != TaskType::event_record) ++count;
    return count;
}

// Every stream that came in has come back: what it recorded is waited for by the first one, directly or not.
Status check_joined(const Capture& capture) {
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

Status check_groups(const Capture& capture) {
    for (std::size_t index = 0; index < capture.members.size(); ++index)
        if (capture.graph->lanes[capture.first_lane + index].open_group != no_group)
            return fail(code::task_group_status, "a task group of stream {} was begun and not ended",
                        capture.members[index].stream_id);
    return {};
}

// Whether the capture may become a graph.
Status judge(const Capture& capture) {
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

Status complete(Capture& capture) {
    Graph& graph = *capture.graph;
    graph.bound.store(!graph.bindings.empty(), std::memory_order_release);
    if (capture.body) {
        graph.state = GraphState::filled;
        return {};
    }
    return prepare_graph(graph);
}

// The streams run their commands again.
void release_streams(Capture& capture) noexcept CANOPY_NO_THREAD_SAFETY_ANALYSIS {
    for (CaptureMember& member : capture.members) {
        Stream* const stream = Runtime::instance().streams.peek(member.stream);
        SpinGuard guard(stream->lock);
        if (stream->recorder == &member.recorder) stream->set_recorder(nullptr);
    }
}

// A graph that there was before is as it was; a new one ends.
void undo(Capture& capture) {
    Graph& graph = *capture.graph;
    if (!capture.appends && !capture.body) return end_graph(graph);
    cut_graph(graph, capture.before);
    std::lock_guard guard(graph.mutex);
    if (graph.state != GraphState::capturing) return;  // ended meanwhile, or its context
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
    std::lock_guard guard(capture->graph->mutex);
    if (capture->graph->state == GraphState::ended)
        earlier->release();
    else
        capture->graph->earlier.push_back(earlier);
}

Status not_captured(const Stream& stream) {
    return fail(code::stream_not_captured, "stream {} is not being captured", stream.id);
}

}  // namespace

Result<Handle> end_capture(const void* opaque) {
    std::shared_ptr<Capture> capture;
    {
        Result<LockedStream> stream = LockedStream::acquire(opaque);
        if (!stream.ok()) return stream.status();
        capture = capture_of(**stream);
        if (!capture) return not_captured(**stream);
        if (capture->origin != (*stream)->self)
            return fail(code::capture_unmatched, "stream {} joined a capture that began on stream {}, where it ends",
                        (*stream)->id, capture->origin_id);
    }
    Status status;
    {
        std::lock_guard guard(capture->graph->mutex);
        if (capture->status == CaptureStatus::none)
            return fail(code::stream_not_captured, "stream {} is not being captured", capture->origin_id);
        status = judge(*capture);
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
    std::lock_guard guard(capture->graph->mutex);
    if (capture->status == CaptureStatus::none) return CaptureInfo{};
    return CaptureInfo{capture->status, capture->graph->self};
}

void free_ownerless_captures() noexcept {
    try {
        for (const auto& capture : all_captures()) {
            if (!capture->ownerless.load(std::memory_order_acquire)) continue;
            {
                std::lock_guard guard(capture->graph->mutex);
                if (capture->status == CaptureStatus::none) continue;
                capture->status = CaptureStatus::none;
            }
            finish(capture, false);
        }
    } catch (const std::bad_alloc&) {  // they stay in the list, where the next end of a stream finds them
    }
}

}  // namespace canopy
