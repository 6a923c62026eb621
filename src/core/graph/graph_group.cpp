// SPDX-License-Identifier: Apache-2.0
#include "core/graph/graph_group.h"

#include <atomic>
#include <cstring>
#include <new>
#include <vector>

#include "base/error_text.h"
#include "core/base/error_codes.h"
#include "core/graph/capture/capture.h"
#include "core/graph/graph_edit.h"
#include "core/memory/copy.h"
#include "core/stream/stream.h"

namespace canopy {
namespace {

std::atomic<std::uint32_t> updates_under_way{0};

}  // namespace

// ---- groups --------------------------------------------------------------------------------------------------------

namespace {

// Calls body(Graph&, number of the lane) for the lane of a stream that is being captured.
template <class Body>
Status with_captured_lane(const void* opaque, Body&& body) CANOPY_NO_THREAD_SAFETY_ANALYSIS {
    Result<LockedStream> stream = LockedStream::acquire(opaque);
    if (!stream.ok()) return stream.status();
    const Recorder* const recorder = (*stream)->recorder;
    if (!recorder || recorder->kind() != RecorderKind::capture)
        return fail(code::task_group_status, "stream {} is not being captured: it has no task groups", (*stream)->id);
    Result<CapturedLane> captured = captured_lane(**stream);
    if (!captured.ok()) return captured.status();
    std::lock_guard guard(captured->graph->mutex);
    return body(*captured->graph, captured->lane);
}

}  // namespace

Status begin_task_group(const void* stream) {
    return with_captured_lane(stream, [](Graph& graph, std::uint32_t index) -> Status {
        RecordedLane& lane = graph.lanes[index];
        if (lane.open_group != no_group)
            return fail(code::task_group_status, "stream {} already has an open task group", lane.stream_id);
        TaskGroup group;
        group.lane = index;
        group.first = static_cast<std::uint32_t>(lane.tasks.size());
        group.open = true;
        graph.groups.push_back(group);
        lane.open_group = static_cast<std::uint32_t>(graph.groups.size() - 1);
        return {};
    });
}

Result<Handle> end_task_group(const void* stream) {
    Handle handle = 0;
    CANOPY_TRY(with_captured_lane(stream, [&](Graph& graph, std::uint32_t index) -> Status {
        RecordedLane& lane = graph.lanes[index];
        if (lane.open_group == no_group)
            return fail(code::task_group_status, "stream {} has no open task group", lane.stream_id);
        const std::uint32_t number = lane.open_group;
        handle = Runtime::instance().task_groups.open([&](GraphPart& part, Handle self) {
            part.self = self;
            part.graph = graph.self;
            part.index = number;
        });
        if (handle == 0) return fail(code::resource_alloc, "too many task groups are alive");
        graph.groups[number].handle = handle;
        graph.groups[number].open = false;
        lane.open_group = no_group;
        return {};
    }));
    return handle;
}

// ---- collecting an update ------------------------------------------------------------------------------------------

// The new tasks of a group: the recorder of the update's stream first, then the argument of a command in it.
class TaskUpdate final : public Recorder {
public:
    TaskUpdate() = default;
    void begin(const Graph& graph, std::uint32_t number, Handle stream);

    [[nodiscard]] RecorderKind kind() const noexcept override { return RecorderKind::update; }
    Result<std::uint64_t> record(Stream& stream, std::span<Command> commands) noexcept override;
    Status record_event(Stream&, Event&, std::uint32_t) noexcept override { return no_events(); }
    Status wait_for_event(Stream&, Event&, std::uint32_t, Nanoseconds) noexcept override { return no_events(); }
    Status reset_event(Stream&, Event&) noexcept override { return no_events(); }
    void launch_refused(Stream&, int code, const std::string& text) noexcept override { refused_.note(code, text); }
    void stream_ended(Stream& stream) noexcept override;

    // Whether the tasks are those of the group, and pointers for offsets. The caller holds the graph's mutex.
    Status complete(const Graph& graph);
    // Changes the executable and the tasks.
    void apply() noexcept;
    void forget_calls() noexcept;

    Handle graph = 0;
    std::uint32_t number = 0;  // of the group

    [[nodiscard]] bool empty() const noexcept { return changes_.empty() && refused_.code == 0; }

private:
    static Status no_events() {
        return fail(code::update_not_supported, "events cannot be part of the update of a task group");
    }
    Status add(const Command& command);
    // Bytes are kept one behind the other; a command has their offset until they lie where they stay.
    template <class T>
    void keep(const T*& pointer, std::size_t size);
    template <class T>
    void place(const T*& pointer, std::size_t size) noexcept;
    void apply_to(Graph& target);

    Handle stream_ = 0;
    GraphPlace first_{};
    std::uint32_t count_ = 0;
    std::vector<GraphChange> changes_;
    std::vector<std::byte> bytes_;
    RefusedLaunch refused_;
};

void TaskUpdate::begin(const Graph& target, std::uint32_t group_number, Handle stream) {
    const TaskGroup& group = target.groups[group_number];
    graph = target.self;
    number = group_number;
    stream_ = stream;
    first_ = {group.lane, group.first};
    count_ = group.count;
    changes_.clear();
    changes_.reserve(count_);
    bytes_.clear();
    refused_ = {};
}

template <class T>
void TaskUpdate::keep(const T*& pointer, std::size_t size) {
    if (size == 0) return;
    constexpr std::size_t alignment = 16;
    const std::size_t offset = (bytes_.size() + alignment - 1) / alignment * alignment;
    bytes_.resize(offset + size);
    std::memcpy(bytes_.data() + offset, pointer, size);
    pointer = reinterpret_cast<const T*>(offset);
}

template <class T>
void TaskUpdate::place(const T*& pointer, std::size_t size) noexcept {
    if (size != 0) pointer = reinterpret_cast<const T*>(bytes_.data() + reinterpret_cast<std::uintptr_t>(pointer));
}

Status TaskUpdate::add(const Command& command) {
    if (changes_.size() == count_)
        return fail(code::task_group_interrupted, "the task group has {} tasks; its update has more", count_);
    GraphChange& change = changes_.emplace_back();
    change.place = {first_.lane, first_.position + static_cast<std::uint32_t>(changes_.size() - 1)};
    change.command = command;
    if (command.opcode == Opcode::launch || command.opcode == Opcode::cpu_kernel) {
        LaunchWork& work = change.command.launch;
        keep(work.placeholders, work.placeholder_count * sizeof(Placeholder));
        if (!work.arguments_in_place) keep(work.arguments, work.arguments_size);
    } else if (command.opcode == Opcode::copy && command.snapshot) {
        keep(change.command.copy.source, command.copy.width * command.copy.height);
    }
    return {};
}

Result<std::uint64_t> TaskUpdate::record(Stream& stream,
                                         std::span<Command> commands) noexcept CANOPY_NO_THREAD_SAFETY_ANALYSIS {
    const std::size_t before = changes_.size();
    try {
        for (const Command& command : commands) {
            switch (command.opcode) {
                case Opcode::launch:
                case Opcode::cpu_kernel:
                case Opcode::copy:
                case Opcode::fill:
                case Opcode::reduce:
                case Opcode::write_value:
                case Opcode::wait_value:
                case Opcode::host_call:
                case Opcode::inline_call:
                    break;
                default:
                    return fail(code::update_not_supported, "this kind of task cannot be part of a task group");
            }
            if (const Status status = add(command); !status.ok()) {
                changes_.resize(before);
                return status;
            }
        }
        return stream.last_sequence;
    } catch (...) {
        changes_.resize(before);
        return fail(code::bad_alloc, "out of host memory");
    }
}

void TaskUpdate::forget_calls() noexcept {
    for (const GraphChange& change : changes_) {
        const Command& command = change.command;
        if ((command.opcode == Opcode::host_call || command.opcode == Opcode::inline_call) && command.call.dispose)
            command.call.dispose(command.call.argument);
    }
    changes_.clear();
}

Status TaskUpdate::complete(const Graph& target) {
    if (refused_.code != 0) return fail(refused_.code, "{}", refused_.text);
    if (changes_.size() != count_)
        return fail(code::task_group_interrupted, "the task group has {} tasks, its update {}", count_,
                    changes_.size());
    const std::deque<GraphTask>& tasks = target.lanes[first_.lane].tasks;
    for (GraphChange& change : changes_) {
        Command& command = change.command;
        if (tasks[change.place.position].command.opcode != command.opcode)
            return fail(code::task_group_interrupted, "task {} of the update has another kind than that of the group",
                        change.place.position - first_.position);
        if (command.opcode == Opcode::launch || command.opcode == Opcode::cpu_kernel) {
            place(command.launch.placeholders, command.launch.placeholder_count);
            if (!command.launch.arguments_in_place) place(command.launch.arguments, command.launch.arguments_size);
        } else if (command.opcode == Opcode::copy && command.snapshot) {
            place(command.copy.source, command.copy.width);
        }
    }
    return {};
}

// ---- applying it ---------------------------------------------------------------------------------------------------

void TaskUpdate::apply_to(Graph& target) {
    std::lock_guard guard(target.mutex);
    Executable* const executable = retain_executable(target);
    if (!executable) return forget_calls();  // its context has ended
    GraphEdits& edits = edits_of(target);
    std::deque<GraphTask>& tasks = target.lanes[first_.lane].tasks;
    bool disabled = false;
    for (const GraphChange& change : changes_) disabled = disabled || tasks[change.place.position].disabled;
    Status status;
    if (!disabled) {
        status = executable->change(changes_, ChangeTime::untouched);
    } else {  // disabled tasks stay so
        std::vector<GraphChange> visible = changes_;
        for (GraphChange& change : visible)
            if (tasks[change.place.position].disabled) change.command.opcode = Opcode::nothing;
        status = executable->change(visible, ChangeTime::untouched);
    }
    executable->release();
    if (!status.ok()) {
        fail_stream(stream_, code::task_group_interrupted, "the update of a task group does not fit its graph");
        return forget_calls();
    }
    for (const GraphChange& change : changes_) {
        GraphTask& task = tasks[change.place.position];
        const Opcode opcode = task.command.opcode;
        if ((opcode == Opcode::host_call || opcode == Opcode::inline_call) && task.command.call.dispose)
            edits.replaced.push_back(task.command.call);
        task.command = change.command;
        if (opcode == Opcode::launch || opcode == Opcode::cpu_kernel)
            task.function = handle_of(change.command.launch.kernel->user);
    }
    edits.groups[number].latest = this;
}

void TaskUpdate::apply() noexcept {
    try {
        if (const Pin<Graph> target = Runtime::instance().graphs.pin(graph))
            apply_to(*target);
        else
            forget_calls();
    } catch (...) {
        fail_stream(stream_, code::bad_alloc, "out of host memory in the update of a task group");
    }
}

GroupUpdates::GroupUpdates() noexcept = default;
GroupUpdates::GroupUpdates(GroupUpdates&&) noexcept = default;
GroupUpdates& GroupUpdates::operator=(GroupUpdates&&) noexcept = default;
GroupUpdates::~GroupUpdates() = default;

namespace {

// The update's command has left its queue, or it never came to one.
void retire(std::unique_ptr<TaskUpdate> update) noexcept {
    updates_under_way.fetch_sub(1, std::memory_order_relaxed);
    const Pin<Graph> graph = Runtime::instance().graphs.pin(update->graph);
    if (!graph) return;
    std::lock_guard guard(graph->mutex);
    if (!graph->edits || update->number >= graph->edits->groups.size()) return;
    GroupUpdates& group = graph->edits->groups[update->number];
    if (group.latest == update.get()) update.swap(group.current);
    if (update && !group.spare) group.spare = std::move(update);
}

void run_update(void* argument) { static_cast<TaskUpdate*>(argument)->apply(); }
void skip_update(void* argument) { static_cast<TaskUpdate*>(argument)->forget_calls(); }
void dispose_update(void* argument) { retire(std::unique_ptr<TaskUpdate>(static_cast<TaskUpdate*>(argument))); }

Result<std::unique_ptr<TaskUpdate>> take_update(Graph& graph, std::uint32_t number, const Stream& stream) {
    std::lock_guard guard(graph.mutex);
    if (graph.state == GraphState::ended) return fail(code::invalid_handle, "{} was destroyed", label_of(graph));
    if (graph.state != GraphState::ready)
        return fail(code::task_group_status, "{} is not complete: its task groups cannot be updated", label_of(graph));
    if (graph.device != stream.device)
        return fail(code::param_invalid, "{} belongs to a different device than stream {}", label_of(graph), stream.id);
    GraphEdits& edits = edits_of(graph);
    if (edits.groups.size() < graph.groups.size()) edits.groups.resize(graph.groups.size());
    std::unique_ptr<TaskUpdate> update = std::move(edits.groups[number].spare);
    if (!update) update = std::make_unique<TaskUpdate>();
    update->begin(graph, number, stream.self);
    return update;
}

Status refuse_update(const Stream& stream, const Recorder& recorder) {
    switch (recorder.kind()) {
        case RecorderKind::capture:
            return fail(code::task_group_status, "stream {} is being captured: use another stream for the update",
                        stream.id);
        case RecorderKind::build:
            return fail(code::task_group_status, "stream {} is persistent: use an ordinary stream for the update",
                        stream.id);
        default:
            return fail(code::task_group_status, "stream {} already has an update in progress", stream.id);
    }
}

}  // namespace

Status begin_task_update(const void* opaque, const void* group) CANOPY_NO_THREAD_SAFETY_ANALYSIS {
    const Pin<GraphPart> part = Runtime::instance().task_groups.pin(handle_of(group));
    if (!part) return fail(code::invalid_handle, "handle {} is not a live task group", as_address(group));
    Result<Pin<Graph>> graph = find_graph(opaque_of(part->graph), false);
    if (!graph.ok()) return graph.status();
    Result<LockedStream> stream = LockedStream::acquire(opaque);
    if (!stream.ok()) return stream.status();
    if (const Recorder* recorder = (*stream)->recorder) return refuse_update(**stream, *recorder);
    if (updates_under_way.load(std::memory_order_relaxed) >= max_updates)
        return fail(code::resource_alloc, "too many updates of task groups are in progress: {}", max_updates);
    Result<std::unique_ptr<TaskUpdate>> update = take_update(**graph, part->index, **stream);
    if (!update.ok()) return update.status();
    updates_under_way.fetch_add(1, std::memory_order_relaxed);
    (*stream)->set_recorder(update->release());
    return {};
}

namespace {

Status complete(TaskUpdate& update) {
    Result<Pin<Graph>> graph = find_graph(opaque_of(update.graph), false);
    if (!graph.ok()) return graph.status();
    std::lock_guard guard((*graph)->mutex);
    if ((*graph)->state == GraphState::ended)
        return fail(code::invalid_handle, "{} was destroyed before the update was complete", label_of(**graph));
    if ((*graph)->state != GraphState::ready)
        return fail(code::task_group_status, "{} cannot be updated: its context has ended", label_of(**graph));
    return update.complete(**graph);
}

}  // namespace

Status end_task_update(const void* opaque) CANOPY_NO_THREAD_SAFETY_ANALYSIS {
    std::unique_ptr<TaskUpdate> update;
    Status status;
    {
        Result<LockedStream> stream = LockedStream::acquire(opaque);
        if (!stream.ok()) return stream.status();
        Recorder* const recorder = (*stream)->recorder;
        if (!recorder || recorder->kind() != RecorderKind::update)
            return fail(code::task_group_status, "stream {} has no update in progress", (*stream)->id);
        (*stream)->set_recorder(nullptr);
        update.reset(static_cast<TaskUpdate*>(recorder));
        if (!update->empty()) {
            status = complete(*update);
            if (status.ok()) {
                Command command(Opcode::inline_call);
                command.call = {&run_update, update.get(), &skip_update, &dispose_update};
                status = stream->submit(command);
                if (status.ok()) update.release();
            }
        }
    }
    if (!update) return {};
    update->forget_calls();
    retire(std::move(update));
    return status;
}

void TaskUpdate::stream_ended(Stream&) noexcept {
    forget_calls();
    retire(std::unique_ptr<TaskUpdate>(this));
}

}  // namespace canopy
