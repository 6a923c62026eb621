// SPDX-License-Identifier: Apache-2.0
// Binds streams to graphs, records on them, and ends the build.
#include "core/graph/graph_build.h"

#include <algorithm>

#include "base/error_text.h"
#include "core/base/error_codes.h"
#include "core/base/thread_state.h"
#include "core/graph/graph_end.h"
#include "core/graph/graph_prepare.h"
#include "core/process/context.h"
#include "core/stream/event.h"
#include "core/stream/stream.h"

namespace canopy {
namespace {

BuildRecorder* build_recorder(const Stream& stream) CANOPY_REQUIRES(stream.lock) {
    if (!stream.recorder || stream.recorder->kind() != RecorderKind::build) return nullptr;
    return static_cast<BuildRecorder*>(stream.recorder);
}

bool captured(const Stream& stream) CANOPY_REQUIRES(stream.lock) {
    return stream.recorder && stream.recorder->kind() == RecorderKind::capture;
}

// Disposes of tasks that will not run any more.
void drop_tasks(RecordedLane& lane) noexcept {
    for (const GraphTask& task : lane.tasks) {
        const Opcode opcode = task.command.opcode;
        if ((opcode == Opcode::host_call || opcode == Opcode::inline_call) && task.command.call.dispose)
            task.command.call.dispose(task.command.call.argument);
        if (task.handle != 0) Runtime::instance().tasks.close(task.handle);
    }
    lane.tasks.clear();
    lane.refused = {};
}

void end_own_graph(Handle handle) noexcept {
    if (handle == 0) return;
    try {
        if (Pin<Graph> graph = Runtime::instance().graphs.pin(handle)) end_graph(*graph);
    } catch (...) {  // out of memory: leaks until the process ends
    }
}

}  // namespace

// ---- recording -----------------------------------------------------------------------------------------------------

void BuildRecorder::bind(Handle graph, std::uint32_t lane) noexcept {
    target_ = {graph, lane};
    bound_ = true;
}

Handle BuildRecorder::release() noexcept {
    const Handle own = bound_ ? 0 : target_.graph;
    target_ = {};
    bound_ = false;
    return own;
}

Result<Pin<Graph>> BuildRecorder::graph_for_tasks(Stream& stream) {
    if (target_.graph == 0) {
        Result<Handle> own = create_graph(GraphState::building);
        if (!own.ok()) return own.status();
        target_ = {*own, 0};
        Pin<Graph> graph = Runtime::instance().graphs.pin(*own);
        MutexLock lock(*graph->mutex);
        RecordedLane& lane = graph->lanes.emplace_back();
        lane.stream = stream.self;
        lane.stream_id = stream.id;
    }
    return find_graph(opaque_of(target_.graph), false);
}

namespace {

Status may_record(const Graph& graph, const Stream& stream) CANOPY_REQUIRES(*graph.mutex) {
    if (graph.state == GraphState::building) return {};
    if (graph.state == GraphState::ended) return fail(code::invalid_handle, "graph {} was destroyed", graph.id);
    return fail(code::stream_model, "stream {} belongs to {}, which is complete: no task can be added", stream.id,
                label_of(graph));
}

}  // namespace

template <class Finish>
Status BuildRecorder::append(Stream& stream, Command command, Finish&& finish) {
    Result<Pin<Graph>> pinned = graph_for_tasks(stream);
    if (!pinned.ok()) return pinned.status();
    Graph& graph = **pinned;
    MutexLock lock(*graph.mutex);
    CANOPY_TRY(may_record(graph, stream));
    stream.number(command);
    Result<GraphTask*> task = append_task(graph, target_.lane, command);
    if (!task.ok()) return task.status();
    const std::size_t count = graph.lanes[target_.lane].tasks.size();
    finish.operator()(graph, GraphPlace{target_.lane, static_cast<std::uint32_t>(count - 1)});
    return {};
}

Result<std::uint64_t> BuildRecorder::record(Stream& stream, std::span<Command> commands) noexcept {
    try {
        Result<Pin<Graph>> pinned = graph_for_tasks(stream);
        if (!pinned.ok()) return pinned.status();
        Graph& graph = **pinned;
        MutexLock lock(*graph.mutex);
        CANOPY_TRY(may_record(graph, stream));
        std::deque<GraphTask>& tasks = graph.lanes[target_.lane].tasks;
        const std::size_t before = tasks.size();
        for (const Command& command : commands) {
            Result<GraphTask*> task = append_task(graph, target_.lane, command);
            if (task.ok()) continue;
            while (tasks.size() > before) tasks.pop_back();
            return task.status();
        }
        return stream.last_sequence;
    } catch (...) {
        return fail(code::bad_alloc, "out of host memory");
    }
}

void BuildRecorder::launch_refused(Stream& stream, int code, const std::string& text) noexcept {
    try {
        const Result<Pin<Graph>> pinned = graph_for_tasks(stream);
        if (!pinned.ok()) return;
        Graph& graph = *pinned.value();
        MutexLock lock(*graph.mutex);
        if (graph.state == GraphState::building) graph.lanes[target_.lane].refused.note(code, text);
    } catch (...) {  // out of memory for a graph
    }
}

// The flag of an event recorded by a graph must be clear when a replay begins, or waits would see the last replay's
// record.
Status BuildRecorder::append_event(Stream& stream, const EventCall& call) {
    Result<Command> command = flag_command(call, *call.event.record->opened());
    if (!command.ok()) return command.status();
    return append(stream, *command, [&](Graph& graph, GraphPlace place) CANOPY_REQUIRES(*graph.mutex) {
        GraphTask& task = graph.lanes[place.lane].tasks[place.position];
        task.type = type_of(call.action);
        task.role = EventRole::flagged;
        task.event = call.event.self;
        if (call.action != EventAction::record) return;
        Fence* const flag = task.command.signal.fence;
        if (std::find(graph.cleared.begin(), graph.cleared.end(), flag) == graph.cleared.end())
            graph.cleared.push_back(flag);
    });
}

Status BuildRecorder::record_event(Stream& stream, const EventCall& call) noexcept {
    if (call.flag != 0) return fail(code::param_invalid, "the external flag is for streams that are being captured");
    try {
        return append_event(stream, call);
    } catch (...) {
        return fail(code::bad_alloc, "out of host memory");
    }
}

Recorder* first_recorder(std::uint32_t stream_flags) {
    return (stream_flags & stream_persistent) != 0 ? new BuildRecorder : nullptr;
}

// Tasks recorded before the stream was bound end with it.
void BuildRecorder::stream_ended(Stream&) noexcept {
    end_own_graph(release());
    delete this;
}

// ---- binding -------------------------------------------------------------------------------------------------------

namespace {

// Runs before a graph ends: frees its streams for other graphs.
void release_streams(Graph& graph) noexcept {
    std::vector<Handle> streams;
    {
        MutexLock lock(*graph.mutex);
        for (const RecordedLane& lane : graph.lanes)
            if (lane.stream != 0) streams.push_back(lane.stream);
    }
    for (const Handle handle : streams) {
        const Pin<Stream> stream = Runtime::instance().streams.pin(handle);
        if (!stream) continue;
        SpinGuard guard(stream->lock);
        BuildRecorder* const recorder = build_recorder(*stream);
        if (recorder && recorder->bound_to(graph)) recorder->release();
    }
}

Result<BuildRecorder*> persistent_only(const Stream& stream) CANOPY_REQUIRES(stream.lock) {
    if (captured(stream)) return fail(code::stream_captured, "stream {} is being captured", stream.id);
    if (BuildRecorder* recorder = build_recorder(stream)) return recorder;
    return fail(code::param_invalid, "stream {} was not created with ACL_STREAM_PERSISTENT", stream.id);
}

// Moves the tasks that a stream recorded before it was bound. Nobody else knows the graph they are in.
Status move_tasks(Graph& from, Graph& to, std::uint32_t lane) CANOPY_REQUIRES(*to.mutex) {
    MutexLock lock(*from.mutex);
    std::deque<GraphTask>& tasks = from.lanes.front().tasks;
    for (const GraphTask& task : tasks) {
        Result<GraphTask*> moved = append_task(to, lane, task.command);
        if (!moved.ok()) return moved.status();
        (*moved)->type = task.type;
        (*moved)->role = task.role;
        (*moved)->event = task.event;
        (*moved)->operator_info_size = task.operator_info_size;
        if (task.operator_info_size != 0)
            (*moved)->operator_info = to.memory.copy(task.operator_info, task.operator_info_size);
        if (!task.extended_info.empty())
            if (const void* text = to.memory.copy(task.extended_info.data(), task.extended_info.size()))
                (*moved)->extended_info = {static_cast<const char*>(text), task.extended_info.size()};
    }
    to.lanes[lane].refused = std::move(from.lanes.front().refused);
    to.cleared.insert(to.cleared.end(), from.cleared.begin(), from.cleared.end());
    to.pool_blocks.insert(to.pool_blocks.end(), from.pool_blocks.begin(), from.pool_blocks.end());
    from.pool_blocks.clear();
    for (GraphTask& task : tasks) {
        if (task.handle != 0) Runtime::instance().tasks.close(task.handle);
        task.handle = 0;
        task.command.opcode = Opcode::nothing;  // the other graph owns its argument now
    }
    return {};
}

Status bind_locked(Graph& graph, const Stream& stream, bool starts, Handle& before) CANOPY_REQUIRES(stream.lock) {
    Result<BuildRecorder*> recorder = persistent_only(stream);
    if (!recorder.ok()) return recorder.status();
    if ((*recorder)->bound()) return fail(code::stream_model, "stream {} is bound to a graph", stream.id);
    MutexLock lock(*graph.mutex);
    if (graph.state == GraphState::ended) return fail(code::invalid_handle, "graph {} was destroyed", graph.id);
    if (graph.state != GraphState::building)
        return fail(code::param_invalid, "{} is not being built: no stream can be bound to it", label_of(graph));
    const auto lane = static_cast<std::uint32_t>(graph.lanes.size());
    RecordedLane& fresh = graph.lanes.emplace_back();
    fresh.stream = stream.self;
    fresh.stream_id = stream.id;
    fresh.starts = starts;
    if (const Pin<Graph> own = Runtime::instance().graphs.pin((*recorder)->target().graph)) {
        if (const Status moved = move_tasks(*own, graph, lane); !moved.ok()) {
            graph.lanes.pop_back();
            return moved;
        }
    }
    before = (*recorder)->release();
    (*recorder)->bind(graph.self, lane);
    return {};
}

}  // namespace

Result<Handle> begin_build() {
    Result<Handle> handle = create_graph(GraphState::building);
    if (!handle.ok()) return handle;
    const Pin<Graph> graph = Runtime::instance().graphs.pin(*handle);
    MutexLock lock(*graph->mutex);
    graph->flow = true;
    graph->at_end = &release_streams;
    return handle;
}

Status bind_stream(Graph& graph, const void* handle, bool starts) {
    Handle before = 0;
    const Status status = with_stream(handle, [&](LockedStream& stream) CANOPY_REQUIRES(stream->lock) {
        return bind_locked(graph, *stream, starts, before);
    });
    end_own_graph(before);
    return status;
}

namespace {

// The recorder of a stream bound to the graph.
Result<BuildRecorder*> bound_recorder(const Graph& graph, const Stream& stream)
    CANOPY_REQUIRES(*graph.mutex, stream.lock) {
    if (captured(stream)) return fail(code::stream_captured, "stream {} is being captured", stream.id);
    BuildRecorder* const recorder = build_recorder(stream);
    if (recorder && recorder->bound_to(graph)) return recorder;
    return fail(code::stream_model, "stream {} is not bound to {}", stream.id, label_of(graph));
}

}  // namespace

Status unbind_stream(Graph& graph, const void* handle) {
    return with_stream(handle, [&](LockedStream& stream) CANOPY_REQUIRES(stream->lock) -> Status {
        MutexLock lock(*graph.mutex);
        Result<BuildRecorder*> bound = bound_recorder(graph, *stream);
        if (!bound.ok()) return bound.status();
        BuildRecorder* const recorder = *bound;
        RecordedLane& lane = graph.lanes[recorder->target().lane];
        lane.stream = 0;
        if (graph.state == GraphState::building) {
            drop_tasks(lane);
            lane.starts = false;
        }
        recorder->release();
        return {};
    });
}

Result<Handle> create_lane_stream(const Graph& graph, std::uint32_t lane) {
    const Pin<Context> context = Runtime::instance().contexts.pin(graph.context);
    if (!context) return fail(code::context_null, "the context of graph {} has ended", graph.id);
    StreamOptions options;
    options.flags = stream_persistent;
    Result<Handle> handle = create_stream(*context, options);
    if (!handle.ok()) return handle;
    const Pin<Stream> stream = Runtime::instance().streams.pin(*handle);
    SpinGuard guard(stream->lock);
    if (BuildRecorder* recorder = build_recorder(*stream)) recorder->bind(graph.self, lane);
    return handle;
}

Status clear_recorded(const void* handle) {
    Handle own = 0;
    CANOPY_TRY(with_stream(handle, [&](LockedStream& stream) CANOPY_REQUIRES(stream->lock) -> Status {
        BuildRecorder* const recorder = build_recorder(*stream);
        if (!recorder) return fail(code::not_supported, "stream {} is not a persistent stream", stream->id);
        if (!recorder->bound()) {
            own = recorder->release();
            return {};
        }
        Result<Pin<Graph>> pinned = find_graph(opaque_of(recorder->target().graph), false);
        if (!pinned.ok()) return pinned.status();
        Graph& graph = **pinned;
        MutexLock lock(*graph.mutex);
        CANOPY_TRY(may_record(graph, *stream));
        drop_tasks(graph.lanes[recorder->target().lane]);
        return {};
    }));
    end_own_graph(own);
    return {};
}

// ---- flow ----------------------------------------------------------------------------------------------------------

namespace {

Result<BuildRecorder*> bound_only(const Stream& stream) CANOPY_REQUIRES(stream.lock) {
    BuildRecorder* const recorder = build_recorder(stream);
    if (recorder && recorder->bound()) return recorder;
    return fail(code::stream_model, "stream {} is not bound to a graph", stream.id);
}

// The graph and lane of a stream that another stream's task starts.
Result<RecorderTarget> find_lane(const void* handle) {
    return with_stream(handle, [](LockedStream& stream) CANOPY_REQUIRES(stream->lock) -> Result<RecorderTarget> {
        Result<BuildRecorder*> recorder = bound_only(*stream);
        if (!recorder.ok()) return recorder.status();
        return (*recorder)->target();
    });
}

// Appends a task that needs no completion.
Status append_plain(BuildRecorder& recorder, Stream& stream, const Command& command) CANOPY_REQUIRES(stream.lock) {
    return recorder.append(stream, command, [](Graph&, GraphPlace) {});
}

// Appends a task that starts the lane of `target`; make(lane) returns the command.
template <class Make>
Status record_for_lane(const void* target, const void* handle, Make&& make) {
    Result<RecorderTarget> lane = find_lane(target);
    if (!lane.ok()) return lane.status();
    return with_stream(handle, [&](LockedStream& stream) CANOPY_REQUIRES(stream->lock) -> Status {
        Result<BuildRecorder*> recorder = bound_only(*stream);
        if (!recorder.ok()) return recorder.status();
        if ((*recorder)->target().graph != lane->graph)
            return fail(code::stream_model, "the streams are bound to different graphs");
        return append_plain(**recorder, *stream, make(lane->lane));
    });
}

// Until the build ends, a jump stores label handles in place of targets.
static_assert(sizeof(GraphPlace) == sizeof(Handle));
GraphPlace place_of(Handle label) noexcept {
    return {static_cast<std::uint32_t>(label >> 32), static_cast<std::uint32_t>(label)};
}
Handle label_at(GraphPlace place) noexcept { return static_cast<Handle>(place.lane) << 32 | place.position; }

}  // namespace

Status record_start(const void* target, const void* stream) {
    return record_for_lane(target, stream, [](std::uint32_t lane) {
        Command command(Opcode::start_lane);
        command.start = {lane};
        return command;
    });
}

Status record_switch(const SwitchWork& work, const void* target, const void* stream) {
    return record_for_lane(target, stream, [&](std::uint32_t lane) {
        Command command(Opcode::switch_lane);
        command.switch_lane = work;
        command.switch_lane.lane = lane;
        return command;
    });
}

namespace {

// The recorder for the end task of a graph that has none yet.
Result<BuildRecorder*> recorder_of_end(Graph& graph, const Stream& stream) CANOPY_REQUIRES(stream.lock) {
    MutexLock lock(*graph.mutex);
    Result<BuildRecorder*> bound = bound_recorder(graph, stream);
    if (!bound.ok()) return bound.status();
    for (const RecordedLane& lane : graph.lanes)
        for (const GraphTask& task : lane.tasks)
            if (task.command.opcode == Opcode::end_graph)
                return fail(code::param_invalid, "{} already has its end, on stream {}", label_of(graph),
                            lane.stream_id);
    return bound;
}

}  // namespace

Status record_end(Graph& graph, const void* handle) {
    return with_stream(handle, [&](LockedStream& stream) CANOPY_REQUIRES(stream->lock) -> Status {
        Result<BuildRecorder*> recorder = recorder_of_end(graph, *stream);
        if (!recorder.ok()) return recorder.status();
        return append_plain(**recorder, *stream, Command(Opcode::end_graph));
    });
}

Status place_label(Label& label, const void* handle) {
    return with_stream(handle, [&](LockedStream& stream) CANOPY_REQUIRES(stream->lock) -> Status {
        BuildRecorder* const recorder = build_recorder(*stream);
        if (!recorder || !recorder->bound())
            return fail(code::not_supported,
                        "stream {} is not bound to a graph: labels are placed in such streams only", stream->id);
        {
            SpinGuard guard(label.lock);
            if (label.stream != 0) return fail(code::param_invalid, "the label is already placed");
            label.stream = stream->self;
        }
        std::uint32_t position = 0;
        const Status status = recorder->append(*stream, Command(Opcode::nothing),
                                               [&](Graph&, GraphPlace place) { position = place.position; });
        SpinGuard guard(label.lock);
        label.position = position;
        if (!status.ok()) label.stream = 0;
        return status;
    });
}

Status record_jump(DeviceAddress index, std::uint32_t count, const LabelList& list, const void* handle) {
    if (count == 0 || count > list.labels.size())
        return fail(code::param_invalid, "maxValue {} is not between 1 and {}, the number of labels in the list", count,
                    list.labels.size());
    std::vector<GraphPlace> targets;
    for (const Handle label : std::span(list.labels).first(count)) targets.push_back(place_of(label));
    return with_stream(handle, [&](LockedStream& stream) CANOPY_REQUIRES(stream->lock) -> Status {
        Result<BuildRecorder*> recorder = bound_only(*stream);
        if (!recorder.ok()) return recorder.status();
        Command command(Opcode::jump);
        command.jump = {index, targets.data(), count};
        return append_plain(**recorder, *stream, command);
    });
}

// ---- ending the build ----------------------------------------------------------------------------------------------

namespace {

Result<GraphPlace> resolve_label(const Graph& graph, Handle handle) CANOPY_REQUIRES(*graph.mutex) {
    const Pin<Label> label = Runtime::instance().labels.pin(handle);
    if (!label) return fail(code::invalid_handle, "a label that {} jumps to was destroyed", label_of(graph));
    Handle stream = 0;
    GraphPlace place{};
    {
        SpinGuard guard(label->lock);
        stream = label->stream;
        place.position = label->position;
    }
    for (; stream != 0 && place.lane < graph.lanes.size(); ++place.lane) {
        const RecordedLane& lane = graph.lanes[place.lane];
        if (lane.stream == stream && place.position < lane.tasks.size()) return place;
    }
    return fail(code::param_invalid, "a label that {} jumps to is not placed in any of its streams", label_of(graph));
}

Status resolve_jump(Graph& graph, Command& command) CANOPY_REQUIRES(*graph.mutex) {
    std::vector<GraphPlace> places;
    for (std::uint32_t index = 0; index < command.jump.count; ++index) {
        Result<GraphPlace> place = resolve_label(graph, label_at(command.jump.targets[index]));
        if (!place.ok()) return place.status();
        places.push_back(*place);
    }
    const void* kept = graph.memory.copy(places.data(), places.size() * sizeof(GraphPlace));
    if (!kept) return fail(code::bad_alloc, "out of host memory");
    command.jump.targets = static_cast<const GraphPlace*>(kept);
    return {};
}

Status check_target(const Graph& graph, std::uint32_t lane) CANOPY_REQUIRES(*graph.mutex) {
    if (graph.lanes[lane].stream != 0) return {};
    return fail(code::stream_model, "a stream that {} starts was unbound from it", label_of(graph));
}

struct Resolved {
    GraphTask* task;
    Command command;
};

Status resolve_task(Graph& graph, GraphTask& task, std::vector<Resolved>& resolved, std::size_t& ends)
    CANOPY_REQUIRES(*graph.mutex) {
    Command command = task.command;
    switch (command.opcode) {
        case Opcode::jump:
            CANOPY_TRY(resolve_jump(graph, command));
            resolved.push_back({&task, command});
            return {};
        case Opcode::start_lane:
            return check_target(graph, command.start.lane);
        case Opcode::switch_lane:
            return check_target(graph, command.switch_lane.lane);
        case Opcode::end_graph:
            ++ends;
            return {};
        default:
            return {};
    }
}

}  // namespace

Status end_build(Graph& graph) {
    MutexLock lock(*graph.mutex);
    if (graph.state == GraphState::ended) return fail(code::invalid_handle, "graph {} was destroyed", graph.id);
    if (graph.state != GraphState::building)
        return fail(code::runtime_internal, "{} is not being built", label_of(graph));
    std::vector<Resolved> resolved;
    std::size_t ends = 0;
    bool starts = false;
    for (RecordedLane& lane : graph.lanes) {
        if (lane.refused.code != 0)
            return fail(lane.refused.code, "{}, stream {}: {}", label_of(graph), lane.stream_id, lane.refused.text);
        starts = starts || (lane.starts && !lane.tasks.empty());
        for (GraphTask& task : lane.tasks) CANOPY_TRY(resolve_task(graph, task, resolved, ends));
    }
    if (!starts)
        return fail(code::runtime_internal, "{} has no tasks on a stream that starts with it", label_of(graph));
    if (ends != 1) return fail(code::runtime_internal, "{} has no end: call aclmdlRIEndTask", label_of(graph));
    // Only now: if the build fails, the graph keeps its labels.
    std::vector<const GraphPlace*> before;
    for (Resolved& one : resolved) {
        before.push_back(one.task->command.jump.targets);
        one.task->command = one.command;
    }
    const Status status = prepare_graph(graph);
    if (status.ok()) return {};
    for (std::size_t index = 0; index < resolved.size(); ++index)
        resolved[index].task->command.jump.targets = before[index];
    return status;
}

}  // namespace canopy
