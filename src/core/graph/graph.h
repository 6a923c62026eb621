// SPDX-License-Identifier: Apache-2.0
// Graphs: what programs call a model. A graph is recorded, by capturing streams (capture.h) or by building it from
// persistent streams (graph_build.h), prepared for its device, and replayed as one command of a stream. Its tasks can
// be looked at and changed afterwards (graph_edit.h, graph_print.h).
//
// Recorded tasks lie in lanes, one for each stream that took part; tasks of a lane run one after the other, edges join
// tasks of different lanes. Everything a task points at (arguments, placeholders, snapshots) lies in the graph's own
// memory. Preparing copies it all to the device's executable.
//
// Threads: everything from any thread. Lock order: Stream::lock, Event::lock, Graph::mutex, Graph::replay_lock; no
// stream's lock is taken with a graph's mutex held.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/annotations.h"
#include "base/mutex.h"
#include "base/result.h"
#include "base/spin_lock.h"
#include "core/base/handles.h"
#include "core/process/runtime.h"
#include "core/stream/recorder.h"
#include "device/backend.h"

namespace canopy {

class Fusion;
class Stream;
struct GraphEdits;
class GroupUpdates;

// The numbers of aclmdlRITaskType.
enum class TaskType : std::int32_t {
    other = 0,
    kernel = 1,
    event_record = 2,
    event_wait = 3,
    event_reset = 4,
    value_write = 5,
    value_wait = 6,
};

// How an event takes part in a task of a graph.
enum class EventRole : std::uint8_t {
    none,
    edge,     // records and waits of the capture itself: they became edges, the task itself has no effect
    bound,    // a record or wait of an external event, bound to a fence at each replay
    flagged,  // real at run time: sets, awaits or clears the event's flag
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
    std::uint32_t sequence = 0;  // in the order of recording, over all lanes
    std::uint32_t group = no_group;
    std::uint32_t scope = no_scope;  // number of its name
    std::uint32_t set = no_set;      // of tasks that run as one launch
    std::uint32_t event_flag = 0;    // that the call was given
    Handle function = 0;             // of a kernel
    Handle event = 0;
    const void* operator_info = nullptr;  // what the program attached to it, in the graph's memory
    std::size_t operator_info_size = 0;
    Handle handle = 0;  // what programs know it by; made when they ask
};

// The tasks one stream recorded.
struct RecordedLane {
    Handle stream = 0;  // that recorded them; it may be gone
    std::int32_t stream_id = 0;
    bool starts = true;  // with a replay; false: when another lane starts it
    std::deque<GraphTask> tasks;
    std::uint32_t open_group = no_group;  // tasks that come now belong to it
    std::uint32_t open_scope = no_scope;
    RefusedLaunch refused;    // of a persistent stream: the building cannot end
    Handle model_stream = 0;  // represents the lane for programs that ask for the graph's streams; made then
};

// Tasks that can be replaced together; what programs call a task group.
struct TaskGroup {
    Handle handle = 0;
    std::uint32_t lane = 0;
    std::uint32_t first = 0;
    std::uint32_t count = 0;
    bool open = false;  // its end is still to come
};

// Kernels that run as one launch.
struct FusedSet {
    std::string name;
    bool sync_all = false;
    GraphPlace place{};                // of the launch: its first member
    std::vector<GraphPlace> members;   // in the order of recording
    std::vector<GraphEdge> edges;      // that replays need beside the graph's own
    std::shared_ptr<Fusion> fusion;    // null while all members are disabled
    std::vector<std::byte> arguments;  // of all members
    std::vector<Placeholder> placeholders;
    Command launch;           // nothing when all members are disabled
    void* profile = nullptr;  // where the times of its members go; null: nowhere
};

// A selector and the sub-graphs it chooses from.
struct GraphCondition {
    Handle handle = 0;
    std::uint64_t* selector = nullptr;  // device memory, the graph's
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
    bool record = false;    // otherwise a wait
    bool disabled = false;  // its task was disabled: it is bound to nothing
};

// Memory that grows in blocks and is freed as a whole.
class GraphMemory {
public:
    // 16-byte aligned; nullptr: out of memory.
    void* take(std::size_t size) noexcept;
    void* copy(const void* bytes, std::size_t size) noexcept;
    void clear() noexcept;

private:
    std::vector<std::unique_ptr<std::byte[]>> blocks_;
    std::byte* next_ = nullptr;
    std::size_t left_ = 0;
};

enum class GraphState : std::uint8_t {
    empty,      // the body of a condition that waits to be captured
    capturing,  // tasks are being captured into it
    building,   // streams are bound and recorded
    filled,     // a body that waits for the graph around it to be complete
    ready,      // prepared
    failed,     // its capture or its preparation failed, or its context has ended; it can only be destroyed
    ended,      // destroyed; somebody still holds the object
};

// A part of a graph that has a handle: a task, a task group or a condition.
class GraphPart {
public:
    Handle self = 0;
    Handle graph = 0;
    GraphPlace place{};       // of a task
    std::uint32_t index = 0;  // of a group or a condition

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
    Handle parent = 0;  // of a sub-graph

    // Made with the graph and destroyed with it. A slot of the table that held a graph may hold a body next, which is
    // locked after the graph around it: a lock that stayed would be in both orders.
    std::unique_ptr<Mutex> mutex;
    GraphState state CANOPY_GUARDED_BY(*mutex) = GraphState::empty;
    bool flow CANOPY_GUARDED_BY(*mutex) = false;  // built: lanes start each other
    std::string name CANOPY_GUARDED_BY(*mutex);
    std::deque<RecordedLane> lanes CANOPY_GUARDED_BY(*mutex);
    std::vector<GraphEdge> edges CANOPY_GUARDED_BY(*mutex);
    std::vector<TaskGroup> groups CANOPY_GUARDED_BY(*mutex);
    std::deque<GraphCondition> conditions CANOPY_GUARDED_BY(*mutex);
    std::vector<std::string> scopes CANOPY_GUARDED_BY(*mutex);  // names
    std::uint32_t scope_count CANOPY_GUARDED_BY(*mutex) = 0;    // that were opened
    std::deque<FusedSet> sets CANOPY_GUARDED_BY(*mutex);
    // Of all sets, now and before; executables keep it.
    std::shared_ptr<std::vector<std::shared_ptr<Fusion>>> fusions CANOPY_GUARDED_BY(*mutex);
    std::uint32_t next_sequence CANOPY_GUARDED_BY(*mutex) = 0;
    GraphMemory memory CANOPY_GUARDED_BY(*mutex);
    std::vector<Fence*> fences CANOPY_GUARDED_BY(*mutex);        // referenced by tasks, with a reference each
    std::vector<Fence*> cleared CANOPY_GUARDED_BY(*mutex);       // set to 0 when a replay begins; among `fences`
    std::vector<BoundEvent> bindings CANOPY_GUARDED_BY(*mutex);  // a bound task's `value` is an index into it
    std::vector<void*> pool_blocks CANOPY_GUARDED_BY(*mutex);    // given back to their pools when the graph ends
    std::vector<std::shared_ptr<Module>> modules CANOPY_GUARDED_BY(*mutex);  // code that was unloaded since
    std::vector<std::pair<void (*)(void*), void*>> at_destroy CANOPY_GUARDED_BY(*mutex);  // callbacks of the program
    std::vector<GraphChange> staged CANOPY_GUARDED_BY(*mutex);        // changes that aclmdlRIUpdate will make
    std::shared_ptr<GraphEdits> edits CANOPY_GUARDED_BY(*mutex);      // memory of changed tasks; made at first use
    std::shared_ptr<GroupUpdates> updates CANOPY_GUARDED_BY(*mutex);  // of its task groups; made at first use
    // From before more was captured into it; replays of them may still run.
    std::vector<Executable*> earlier CANOPY_GUARDED_BY(*mutex);
    Handle own_stream CANOPY_GUARDED_BY(*mutex) = 0;  // for synchronous execution; made at first use
    void (*at_end)(Graph& graph) noexcept CANOPY_GUARDED_BY(*mutex) = nullptr;  // unbinds streams; called unlocked

    std::atomic<bool> bound{false};                                   // there are bindings
    SpinLock replay_lock;                                             // taken last
    Executable* executable CANOPY_GUARDED_BY(replay_lock) = nullptr;  // of a ready graph, null otherwise

    void recycle() noexcept;
};

// Copies what the command points at into the graph's memory, keeps its fences alive, and appends it to a lane.
// The task stays where it is until the graph ends.
Result<GraphTask*> append_task(Graph& graph, std::uint32_t lane, const Command& command) CANOPY_REQUIRES(*graph.mutex);
// The same without keeping it as a task: for commands that replace one. Fences get a reference in Graph::fences.
Status adopt_command(Graph& graph, Command& command) CANOPY_REQUIRES(*graph.mutex);
// The type by which programs know the task.
TaskType type_of(const Command& command) noexcept;
TaskType type_of(EventAction action) noexcept;

// In the thread's current context. `parent`: the graph it is a body of. 207010 when there are too many.
Result<Handle> create_graph(GraphState state, Handle parent = 0);
// 107017 when it is not a live graph; 107004 when `same_context` and it belongs to another context than the thread's
// current one.
Result<Pin<Graph>> find_graph(const void* graph, bool same_context);
// Its name in failures and messages: graph 3 "name".
std::string label_of(const Graph& graph) CANOPY_REQUIRES(*graph.mutex);
// The executable with a reference, for changes; nullptr when the graph is not ready.
Executable* retain_executable(Graph& graph) noexcept;
// Code that is unloaded while graphs may still use it: every graph of the device keeps it.
void keep_for_graphs(const DeviceRecord& record, const std::shared_ptr<Module>& module) noexcept;

}  // namespace canopy
