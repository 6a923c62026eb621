// SPDX-License-Identifier: Apache-2.0
// Graphs, called models by the public interface. A graph is recorded, by capturing streams (capture.h) or by building
// it from persistent streams (graph_build.h), prepared for its device, and replayed as one command of a stream. Its
// tasks can be inspected and changed afterwards (graph_edit.h, graph_print.h).
//
// Recorded tasks are stored in lanes, one per participating stream; tasks of a lane run in order, and edges connect
// tasks of different lanes. Everything a task points to (arguments, placeholders, snapshots) is in the graph's own
// memory. Preparing copies it all to the device's executable.
//
// Threads: everything from any thread. Lock order: Stream::lock, Event::lock, Graph::mutex, Graph::replay_lock; no
// stream lock is taken while a graph's mutex is held.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/spin_lock.h"
#include "core/base/handles.h"
#include "core/process/runtime.h"
#include "core/stream/recorder.h"
#include "device/device.h"
#include "foundation/annotations.h"
#include "foundation/mutex.h"

namespace canopy {

class Fusion;
class Stream;
struct GraphEdits;
class GroupUpdates;

// Values of aclmdlRITaskType.
enum class TaskType : std::int32_t {
    other = 0,
    kernel = 1,
    event_record = 2,
    event_wait = 3,
    event_reset = 4,
    value_write = 5,
    value_wait = 6,
};

// The role of an event in a graph task.
enum class EventRole : std::uint8_t {
    none,
    edge,     // record or wait within the capture: became an edge, the task itself does nothing
    bound,    // record or wait of an external event, bound to a fence at each replay
    flagged,  // acts at run time: sets, awaits or clears the event's flag
};

inline constexpr std::uint32_t no_group = UINT32_MAX;
inline constexpr std::uint32_t no_scope = UINT32_MAX;
inline constexpr std::uint32_t unfused_scope = UINT32_MAX - 1;  // opened without a name
inline constexpr std::uint32_t no_set = UINT32_MAX;

// One recorded task.
struct GraphTask {
    Command command;
    TaskType type = TaskType::other;
    EventRole role = EventRole::none;
    bool disabled = false;
    std::uint32_t sequence = 0;  // recording order across all lanes
    std::uint32_t group = no_group;
    std::uint32_t scope = no_scope;  // index of its name
    std::uint32_t set = no_set;      // index of its fused set
    std::uint32_t event_flag = 0;    // passed by the call
    Handle function = 0;             // kernels only
    Handle event = 0;
    const void* operator_info = nullptr;  // attached by the program, in the graph's memory
    std::size_t operator_info_size = 0;
    std::string_view extended_info;  // text attached by the program, in the graph's memory
    Handle handle = 0;               // public handle; created on request
};

// The tasks one stream recorded.
struct RecordedLane {
    Handle stream = 0;  // that recorded them; may no longer exist
    std::int32_t stream_id = 0;
    bool starts = true;  // with a replay; false: another lane starts it
    std::deque<GraphTask> tasks;
    std::uint32_t open_group = no_group;  // new tasks join it
    std::uint32_t open_scope = no_scope;
    RefusedLaunch refused;  // persistent streams: the build cannot end
    // What programs get for the lane when they ask for the graph's streams; created on request.
    Handle model_stream = 0;
};

// Tasks that can be replaced together; called a task group by the public interface.
struct TaskGroup {
    Handle handle = 0;
    std::uint32_t lane = 0;
    std::uint32_t first = 0;
    std::uint32_t count = 0;
    bool open = false;  // not ended yet
};

// Kernels that run as one launch.
struct FusedSet {
    std::string name;
    bool sync_all = false;
    GraphPlace place{};                // of the launch: that of its first member
    std::vector<GraphPlace> members;   // in recording order
    std::vector<GraphEdge> edges;      // extra edges needed by replays
    std::shared_ptr<Fusion> fusion;    // null while all members are disabled
    std::vector<std::byte> arguments;  // of all members
    std::vector<Placeholder> placeholders;
    Command launch;           // an empty command if all members are disabled
    DeviceAddress profile{};  // buffer for the times of its members, or null
};

// A selector and the sub-graphs it selects from.
struct GraphCondition {
    Handle handle = 0;
    DeviceAddress selector{};  // 64-bit word owned by the graph
    bool assign_default = false;
    std::uint64_t default_value = 0;
    bool used = false;
    ConditionKind kind = ConditionKind::branch;
    GraphPlace place{};          // of its task
    std::vector<Handle> bodies;  // graphs, owned by this one
};

// An external event that a task records or waits for.
struct BoundEvent {
    Handle event = 0;
    bool record = false;    // else a wait
    bool disabled = false;  // its task is disabled: not bound
};

// Memory that grows in blocks and is freed as a whole.
class GraphMemory {
public:
    // 16-byte aligned; nullptr if out of memory.
    void* take(std::size_t size) noexcept;
    void* copy(const void* bytes, std::size_t size) noexcept;
    void clear() noexcept;

private:
    std::vector<std::unique_ptr<std::byte[]>> blocks_;
    std::byte* next_ = nullptr;
    std::size_t left_ = 0;
};

enum class GraphState : std::uint8_t {
    empty,      // body of a condition, not captured yet
    capturing,  // tasks are being captured into it
    building,   // streams are bound and recorded
    filled,     // a body waiting for the enclosing graph to be completed
    ready,      // prepared
    failed,     // capture or preparation failed, or the context has ended; can only be destroyed
    ended,      // destroyed, but still referenced
};

// A part of a graph with a public handle: a task, a task group or a condition.
class GraphPart {
public:
    Handle self = 0;
    Handle graph = 0;
    GraphPlace place{};       // tasks only
    std::uint32_t index = 0;  // groups and conditions only

    void recycle() noexcept {
        self = graph = 0;
        place = {};
        index = 0;
    }
};

class Graph {
public:
    Handle self = 0;
    std::uint32_t id = 0;
    Handle context = 0;
    DeviceRecord* record = nullptr;
    Device* device = nullptr;
    Handle parent = 0;  // sub-graphs only

    // Created and destroyed with the graph. A table slot that held a graph may be reused for a body, which is locked
    // after its enclosing graph; a mutex that outlived the graph would appear in both lock orders.
    std::unique_ptr<Mutex> mutex;
    GraphState state CANOPY_GUARDED_BY(*mutex) = GraphState::empty;
    bool flow CANOPY_GUARDED_BY(*mutex) = false;  // built from streams: lanes start each other
    std::string name CANOPY_GUARDED_BY(*mutex);
    std::deque<RecordedLane> lanes CANOPY_GUARDED_BY(*mutex);
    std::vector<GraphEdge> edges CANOPY_GUARDED_BY(*mutex);
    std::vector<TaskGroup> groups CANOPY_GUARDED_BY(*mutex);
    std::deque<GraphCondition> conditions CANOPY_GUARDED_BY(*mutex);
    std::vector<std::string> scopes CANOPY_GUARDED_BY(*mutex);  // names
    std::uint32_t scope_count CANOPY_GUARDED_BY(*mutex) = 0;    // opened so far
    std::deque<FusedSet> sets CANOPY_GUARDED_BY(*mutex);
    // Fusions of all current and earlier sets; executables keep it.
    std::shared_ptr<std::vector<std::shared_ptr<Fusion>>> fusions CANOPY_GUARDED_BY(*mutex);
    std::uint32_t next_sequence CANOPY_GUARDED_BY(*mutex) = 0;
    GraphMemory memory CANOPY_GUARDED_BY(*mutex);
    std::vector<Fence*> fences CANOPY_GUARDED_BY(*mutex);        // used by tasks; one reference each
    std::vector<Fence*> cleared CANOPY_GUARDED_BY(*mutex);       // subset of `fences`, set to 0 when a replay begins
    std::vector<BoundEvent> bindings CANOPY_GUARDED_BY(*mutex);  // a bound task's `value` is an index into it
    std::vector<DeviceAddress> pool_blocks CANOPY_GUARDED_BY(*mutex);  // returned to their pools when the graph ends
    std::vector<std::shared_ptr<Module>> modules CANOPY_GUARDED_BY(*mutex);               // unloaded code still in use
    std::vector<std::pair<void (*)(void*), void*>> at_destroy CANOPY_GUARDED_BY(*mutex);  // program callbacks
    std::vector<GraphChange> staged CANOPY_GUARDED_BY(*mutex);        // changes to be applied by aclmdlRIUpdate
    std::shared_ptr<GraphEdits> edits CANOPY_GUARDED_BY(*mutex);      // memory of changed tasks; created on first use
    std::shared_ptr<GroupUpdates> updates CANOPY_GUARDED_BY(*mutex);  // of its task groups; created on first use
    // Executables from before more tasks were captured; their replays may still be running.
    std::vector<Executable*> earlier CANOPY_GUARDED_BY(*mutex);
    Handle own_stream CANOPY_GUARDED_BY(*mutex) = 0;  // for synchronous execution; created on first use
    void (*at_end)(Graph& graph) noexcept CANOPY_GUARDED_BY(*mutex) = nullptr;  // unbinds streams; called unlocked

    std::atomic<bool> bound{false};                                   // true if there are bindings
    SpinLock replay_lock;                                             // taken last
    Executable* executable CANOPY_GUARDED_BY(replay_lock) = nullptr;  // null unless the graph is ready

    void recycle() noexcept;
};

// Copies everything the command points to into the graph's memory, keeps its fences alive, and appends it to a lane.
// The task does not move until the graph ends.
Result<GraphTask*> append_task(Graph& graph, std::uint32_t lane, const Command& command) CANOPY_REQUIRES(*graph.mutex);
// The same without appending a task, for commands that replace one. Graph::fences holds a reference to the fences.
Status adopt_command(Graph& graph, Command& command) CANOPY_REQUIRES(*graph.mutex);
// Whether a command does the same kind of work, so that it may replace the other in a graph.
bool same_kind(const Command& left, const Command& right) noexcept;
// The task type in the public interface.
TaskType type_of(const Command& command) noexcept;
TaskType type_of(EventAction action) noexcept;

// In the thread's current context. `parent`: the graph it is a body of. 207010 if there are too many.
Result<Handle> create_graph(GraphState state, Handle parent = 0);
// 107017 if it is not a live graph; 107004 if `same_context` is set and it does not belong to the thread's current
// context.
Result<Pin<Graph>> find_graph(const void* graph, bool same_context);
// Its name in messages: graph 3 "name".
std::string label_of(const Graph& graph) CANOPY_REQUIRES(*graph.mutex);
// The executable with a reference, for changes; nullptr if the graph is not ready.
Executable* retain_executable(Graph& graph) noexcept;
// For code being unloaded that graphs may still use: every graph of the device keeps a reference.
void keep_for_graphs(const DeviceRecord& record, const std::shared_ptr<Module>& module) noexcept;

}  // namespace canopy
