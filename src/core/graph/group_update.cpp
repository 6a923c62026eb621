// SPDX-License-Identifier: Apache-2.0
#include "core/graph/group_update.h"

#include <atomic>
#include <cstring>
#include <memory>
#include <new>
#include <vector>

#include "base/error_text.h"
#include "core/base/error_codes.h"
#include "core/check/host_check.h"
#include "core/graph/graph.h"
#include "core/graph/graph_edit.h"
#include "core/memory/copy.h"
#include "core/stream/recorder.h"
#include "core/stream/stream.h"

namespace canopy {
namespace {

std::atomic<std::uint32_t> updates_under_way{0};

}  // namespace

// ---- collecting an update ------------------------------------------------------------------------------------------

// The new tasks of a group: first the recorder of the update's stream, then the argument of a command in it.
class TaskUpdate final : public Recorder {
public:
    TaskUpdate() = default;
    void begin(const Graph& target, std::uint32_t group_number, Handle stream) CANOPY_REQUIRES(*target.mutex);

    [[nodiscard]] RecorderKind kind() const noexcept override { return RecorderKind::update; }
    Result<std::uint64_t> record(Stream& stream, std::span<Command> commands) noexcept override
        CANOPY_REQUIRES(stream.lock);
    Status record_event(Stream&, const EventCall&) noexcept override {
        return fail(code::update_not_supported, "events cannot be part of the update of a task group");
    }
    void launch_refused(Stream&, int code, const std::string& text) noexcept override { refused_.note(code, text); }
    void stream_ended(Stream& stream) noexcept override;

    // Checks that the tasks match the group, and turns offsets into pointers.
    Status complete(const Graph& target) CANOPY_REQUIRES(*target.mutex);
    // Changes the executable and the tasks.
    void apply() noexcept;
    void forget_calls() noexcept;

    Handle graph = 0;
    std::uint32_t number = 0;  // index of the group

    [[nodiscard]] bool empty() const noexcept { return changes_.empty() && refused_.code == 0; }

private:
    Status add(const Command& command);
    // Bytes are stored one after another; a command holds their offset until their final address is known.
    Result<std::size_t> keep(DeviceAddress from, std::size_t size);
    Status keep_launch(LaunchWork& work);
    void place_launch(LaunchWork& work) noexcept;
    void apply_to(Graph& target);

    Handle stream_ = 0;
    GraphPlace first_{};
    std::uint32_t count_ = 0;
    std::vector<GraphChange> changes_;
    std::vector<std::byte> bytes_;
    RefusedLaunch refused_;
};

namespace {

struct GroupState {
    const TaskUpdate* latest = nullptr;   // tasks of the group point into its memory
    std::unique_ptr<TaskUpdate> current;  // the latest, once its command has left the queue
    std::unique_ptr<TaskUpdate> spare;    // for the next one
};

}  // namespace

// Updates of a graph's groups; guarded by the graph's mutex.
class GroupUpdates {
public:
    std::vector<GroupState> groups;  // by group index
};

namespace {

GroupUpdates& updates_of(Graph& graph) CANOPY_REQUIRES(*graph.mutex) {
    if (!graph.updates) graph.updates = std::make_shared<GroupUpdates>();
    return *graph.updates;
}

}  // namespace

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

Result<std::size_t> TaskUpdate::keep(DeviceAddress from, std::size_t size) {
    constexpr std::size_t alignment = 16;
    const std::size_t offset = (bytes_.size() + alignment - 1) / alignment * alignment;
    bytes_.resize(offset + size);
    if (size != 0) CANOPY_TRY(read_device(bytes_.data() + offset, from, size));
    return offset;
}

Status TaskUpdate::keep_launch(LaunchWork& work) {
    Result<std::size_t> offset = keep(device_address(work.placeholders), work.placeholder_count * sizeof(Placeholder));
    if (!offset.ok()) return offset.status();
    work.placeholders = reinterpret_cast<const Placeholder*>(*offset);
    if (work.arguments_in_place()) return {};
    offset = keep(work.arguments(), work.arguments_size);
    if (!offset.ok()) return offset.status();
    work.set_arguments(reinterpret_cast<const void*>(*offset));
    return {};
}

void TaskUpdate::place_launch(LaunchWork& work) noexcept {
    work.placeholders =
        reinterpret_cast<const Placeholder*>(bytes_.data() + reinterpret_cast<std::uintptr_t>(work.placeholders));
    if (!work.arguments_in_place()) work.set_arguments(bytes_.data() + work.arguments().value());
}

Status TaskUpdate::add(const Command& command) {
    if (changes_.size() == count_)
        return fail(code::task_group_interrupted, "the task group has {} tasks; its update has more", count_);
    GraphChange& change = changes_.emplace_back();
    change.place = {first_.lane, first_.position + static_cast<std::uint32_t>(changes_.size() - 1)};
    change.command = command;
    if (is_kernel(command.opcode)) return keep_launch(change.command.launch);
    if (command.opcode != Opcode::copy || !command.snapshot) return {};
    Result<std::size_t> offset = keep(command.copy.source, command.copy.width * command.copy.height);
    if (!offset.ok()) return offset.status();
    change.command.copy.source = DeviceAddress(*offset);
    return {};
}

Result<std::uint64_t> TaskUpdate::record(Stream& stream, std::span<Command> commands) noexcept {
    const std::size_t before = changes_.size();
    try {
        for (const Command& command : commands) {
            switch (command.opcode) {
                case Opcode::launch:
                case Opcode::cpu_kernel:
                case Opcode::copy:
                case Opcode::fill:
                case Opcode::write_value:
                case Opcode::wait_value:
                case Opcode::host_call:
                case Opcode::inline_call:
                    break;
                default:
                    changes_.resize(before);
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
        if (!same_kind(tasks[change.place.position].command, command))
            return fail(code::task_group_interrupted, "task {} of the update has another kind than that of the group",
                        change.place.position - first_.position);
        if (is_kernel(command.opcode))
            place_launch(command.launch);
        else if (command.opcode == Opcode::copy && command.snapshot)
            command.copy.source = device_address(bytes_.data()) + command.copy.source.value();
    }
    return {};
}

// ---- applying it ---------------------------------------------------------------------------------------------------

void TaskUpdate::apply_to(Graph& target) {
    MutexLock lock(*target.mutex);
    Executable* const executable = retain_executable(target);
    if (!executable) return forget_calls();  // the context has ended
    GraphEdits& edits = edits_of(target);
    std::deque<GraphTask>& tasks = target.lanes[first_.lane].tasks;
    bool disabled = false;
    for (const GraphChange& change : changes_) disabled = disabled || tasks[change.place.position].disabled;
    Status status;
    if (!disabled) {
        status = change_commands(*executable, changes_, ChangeTime::untouched);
    } else {  // disabled tasks stay disabled
        std::vector<GraphChange> visible = changes_;
        for (GraphChange& change : visible)
            if (tasks[change.place.position].disabled) change.command.opcode = Opcode::nothing;
        status = change_commands(*executable, visible, ChangeTime::untouched);
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
    updates_of(target).groups[number].latest = this;
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

namespace {

// Called when the update's command has left its queue, or was never submitted.
void retire(std::unique_ptr<TaskUpdate> update) noexcept {
    updates_under_way.fetch_sub(1, std::memory_order_relaxed);
    const Pin<Graph> graph = Runtime::instance().graphs.pin(update->graph);
    if (!graph) return;
    MutexLock lock(*graph->mutex);
    if (!graph->updates || update->number >= graph->updates->groups.size()) return;
    GroupState& group = graph->updates->groups[update->number];
    if (group.latest == update.get()) update.swap(group.current);
    if (update && !group.spare) group.spare = std::move(update);
}

void run_update(void* argument) { static_cast<TaskUpdate*>(argument)->apply(); }
void skip_update(void* argument) { static_cast<TaskUpdate*>(argument)->forget_calls(); }
void dispose_update(void* argument) { retire(std::unique_ptr<TaskUpdate>(static_cast<TaskUpdate*>(argument))); }

Result<std::unique_ptr<TaskUpdate>> take_update(Graph& graph, std::uint32_t number, const Stream& stream) {
    MutexLock lock(*graph.mutex);
    if (graph.state == GraphState::ended) return fail(code::invalid_handle, "{} was destroyed", label_of(graph));
    if (graph.state != GraphState::ready)
        return fail(code::task_group_status, "{} is not complete: its task groups cannot be updated", label_of(graph));
    if (graph.device != stream.device)
        return fail(code::param_invalid, "{} belongs to a different device than stream {}", label_of(graph), stream.id);
    std::vector<GroupState>& groups = updates_of(graph).groups;
    if (groups.size() < graph.groups.size()) groups.resize(graph.groups.size());
    std::unique_ptr<TaskUpdate> update = std::move(groups[number].spare);
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

Status begin_task_update(const void* handle, const void* group) {
    const Pin<GraphPart> part = Runtime::instance().task_groups.pin(handle_of(group));
    if (!part) return fail(code::invalid_handle, "handle {} is not a live task group", as_address(group));
    Result<Pin<Graph>> graph = find_graph(opaque_of(part->graph), false);
    if (!graph.ok()) return graph.status();
    return with_stream(handle, [&](LockedStream& stream) CANOPY_REQUIRES(stream->lock) -> Status {
        if (const Recorder* recorder = stream->recorder) return refuse_update(*stream, *recorder);
        if (updates_under_way.load(std::memory_order_relaxed) >= max_updates)
            return fail(code::resource_alloc, "too many updates of task groups are in progress: {}", max_updates);
        Result<std::unique_ptr<TaskUpdate>> update = take_update(**graph, part->index, *stream);
        if (!update.ok()) return update.status();
        updates_under_way.fetch_add(1, std::memory_order_relaxed);
        stream->set_recorder(update->release());
        return {};
    });
}

namespace {

Status complete(TaskUpdate& update) {
    Result<Pin<Graph>> pinned = find_graph(opaque_of(update.graph), false);
    if (!pinned.ok()) return pinned.status();
    Graph& graph = **pinned;
    MutexLock lock(*graph.mutex);
    if (graph.state == GraphState::ended)
        return fail(code::invalid_handle, "{} was destroyed before the update was complete", label_of(graph));
    if (graph.state != GraphState::ready)
        return fail(code::task_group_status, "{} cannot be updated: its context has ended", label_of(graph));
    return update.complete(graph);
}

// Detaches the update from its stream and submits it; `update` holds it afterwards if it was not submitted.
Status submit_update(LockedStream& stream, std::unique_ptr<TaskUpdate>& update) CANOPY_REQUIRES(stream->lock) {
    Recorder* const recorder = stream->recorder;
    if (!recorder || recorder->kind() != RecorderKind::update)
        return fail(code::task_group_status, "stream {} has no update in progress", stream->id);
    stream->set_recorder(nullptr);
    update.reset(static_cast<TaskUpdate*>(recorder));
    if (update->empty()) return {};
    CANOPY_TRY(complete(*update));
    Command command(Opcode::inline_call);
    command.call = {&run_update, update.get(), &skip_update, &dispose_update};
    CANOPY_TRY(stream.submit(command));
    update.release();
    return {};
}

}  // namespace

Status end_task_update(const void* handle) {
    std::unique_ptr<TaskUpdate> update;
    const Status status = with_stream(
        handle, [&](LockedStream& stream) CANOPY_REQUIRES(stream->lock) { return submit_update(stream, update); });
    if (!update) return status;
    update->forget_calls();
    retire(std::move(update));
    return status;
}

void TaskUpdate::stream_ended(Stream&) noexcept {
    forget_calls();
    retire(std::unique_ptr<TaskUpdate>(this));
}

}  // namespace canopy
