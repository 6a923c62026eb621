// SPDX-License-Identifier: Apache-2.0
// EngineGraph: a graph prepared for a device. Its lanes are cut into segments: straight runs of commands that
// have edges from and to other lanes only at their ends. A segment counts the segments it waits for, and the thread
// that ends the last of them starts it. A replay allocates nothing, and takes lock_ only when it begins, when it ends
// and when it enters a segment that may be changed. The thread that reaches the replay in its queue begins it, runs
// what it can itself, and shares the lanes that are worth sharing with other threads.
//
// Graphs whose lanes start each other and jump (plan.flow) have no segments; their lanes run command by command and
// take lock_ for each.
//
// Threads: any. Lock order: lock_, then a fence's lock, then the scheduler's.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/spin_lock.h"
#include "device/device.h"
#include "device/engine/graph/graph_commands.h"
#include "device/engine/stream/replayable.h"
#include "device/engine/stream/straight_run.h"
#include "device/engine/stream/strand.h"

namespace canopy {

class Scheduler;
class EngineGraph;

inline constexpr std::uint32_t no_segment = UINT32_MAX;
inline constexpr Nanoseconds unknown_time = INT64_MAX;

struct alignas(64) Segment {
    std::uint32_t lane = 0;
    std::uint32_t first = 0;
    std::uint32_t end = 0;                 // one past its last command
    std::uint32_t before = 0;              // number of segments it waits for
    std::uint32_t following = no_segment;  // next segment of its own lane; also a successor
    std::uint32_t successors = 0;          // in other lanes: where they begin in the graph's list
    std::uint32_t successor_count = 0;
    bool guarded = false;                   // its commands may be changed while a replay runs
    std::uint64_t begun_in = 0;             // number of the last replay that began it; only if guarded, under the lock
    std::atomic<std::uint32_t> missing{0};  // segments it still waits for
    std::atomic<Nanoseconds> time{unknown_time};  // its recent run time
};

// A strand of a replayed graph. It is at one command of one segment; the thread that starts the segment thereby claims
// the lane.
class Lane final : public Strand {
public:
    Lane(EngineGraph& graph, Scheduler& scheduler, std::uint32_t index, std::int32_t stream) noexcept
        : Strand(scheduler, 0, false), graph_(graph), index_(index), stream_(stream) {}
    ~Lane() override;

    // Makes it ready to run from there; the caller has claimed it.
    void place_at(std::uint32_t segment, std::uint32_t position, std::uint32_t end) noexcept {
        segment_ = segment;
        position_ = position;
        end_ = end;
        state_.store(RunState::ready, std::memory_order_release);
    }
    [[nodiscard]] bool at_rest() const noexcept { return state_.load(std::memory_order_acquire) == RunState::idle; }
    // Flow: idle -> draining, for one caller only.
    bool wake(std::uint32_t position, std::uint32_t end) noexcept;
    // Runs the lane, then the lanes its segments start, as long as this thread can.
    static void run(Worker& worker, Lane* lane) noexcept;
    [[nodiscard]] EngineGraph& graph() const noexcept { return graph_; }
    [[nodiscard]] std::int32_t stream() const noexcept { return stream_; }
    [[nodiscard]] Nanoseconds expected_time() const noexcept;
    // An abort stops everything numbered below the next command; this takes the next command out of its reach.
    void forget_stop() noexcept { pass_number(); }
    void set_priority(std::uint32_t priority) noexcept { priority_.store(priority, std::memory_order_relaxed); }
    // Ends its wait and cancels what it runs; the graph is dropping its commands.
    void stop() noexcept;

    void drain(Worker& worker) noexcept override;
    void drain_part(Worker& worker, bool linger) noexcept override;
    void drain_after_launch(Worker& worker) noexcept override;
    [[nodiscard]] bool dropping() const noexcept override;
    void task_failed(TaskFailure& failure) noexcept override;
    [[nodiscard]] CallRouter* router() const noexcept override;
    [[nodiscard]] std::uint64_t record_link(const Command& command) const noexcept override;
    [[nodiscard]] CommandPlace place_of(const Command& command) const noexcept override;

private:
    friend class EngineGraph;
    [[nodiscard]] static bool recorded() noexcept { return record::wants(recorded_by_strands); }
    // The command at that position is done: writes its record.
    [[gnu::noinline, gnu::cold]] void end_record(const Command& command, std::uint32_t position) noexcept;
    // Begins the segment it is at, unless it only returns to it.
    void enter(Worker& worker) noexcept;
    // The segment is done. Returns the lane this thread continues with, which has entered its segment; nullptr: none.
    Lane* leave(Worker& worker) noexcept;
    // A straight run from its position through all segments it leads to. Returns the lane where it ended; nullptr if
    // nothing is left.
    Lane* run_straight_part(Worker& worker) noexcept;
    struct Run;
    static bool refill(StraightRun& run) noexcept;
    static bool refill_recorded(Run& run) noexcept;
    void aim(Run& run) noexcept;
    void pass(std::size_t commands) noexcept;
    void pass_number() noexcept {
        executed_.store(executed_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
    }
    Step run_one(Worker& worker, const Command& command) noexcept;
    void hold(const Command& command) noexcept;
    Step run_condition(Worker& worker) noexcept;
    Replayable* chosen_body() const noexcept;
    void drop_held() noexcept;
    void rest() noexcept { state_.store(RunState::idle, std::memory_order_release); }

    // Flow.
    enum class Flow { next, elsewhere, left, stop };
    void run_flow(Worker& worker) noexcept;
    Flow flow_command(Worker& worker, Command& command) noexcept;
    Flow run_jump(Worker& worker, const Command& command) noexcept;
    Flow run_switch(Worker& worker, const Command& command) noexcept;
    bool read_words(Worker& worker, const Command& command, DeviceAddress from, void* to, std::size_t size) noexcept;

    EngineGraph& graph_;
    const std::uint32_t index_;
    const std::int32_t stream_;  // number of the stream that recorded it
    std::uint32_t segment_ = 0;
    std::uint32_t position_ = 0;
    std::uint32_t end_ = 0;
    Nanoseconds began_ = 0;                   // start of the segment; 0: not measured
    std::atomic<std::uint64_t> executed_{0};  // commands run, over all replays; numbers the next one
    Command held_;                            // copy of the command it runs or waits in, with its own references
};

class EngineGraph final : public Replayable {
public:
    static Result<Executable*> create(Scheduler& scheduler, const GraphPlan& plan);
    ~EngineGraph() override;

    Status change(std::span<const GraphChange> changes, ChangeTime time) noexcept override;
    void abort() noexcept override;
    void set_label(std::string label) override;

    bool start(Worker& worker, Strand& parent, const ReplayWork* replay) noexcept override;
    void end() noexcept override;
    void abort_replay_of(const Strand& parent) noexcept override;
    [[nodiscard]] bool blocked() const noexcept override;

    // For lanes.
    [[nodiscard]] bool flow() const noexcept { return flow_; }
    [[nodiscard]] bool dropping() const noexcept { return dropping_.load(std::memory_order_relaxed); }
    // Flow: end_graph has run.
    [[nodiscard]] bool ending() const noexcept { return ending_.load(std::memory_order_relaxed); }
    [[nodiscard]] Segment& segment(std::uint32_t index) noexcept { return segments_[index]; }
    [[nodiscard]] std::span<Command> commands(std::uint32_t lane) noexcept { return commands_.lane(lane); }
    // nullptr: commands run one by one.
    [[nodiscard]] StraightRuns* straight_runs() const noexcept { return straight_runs_; }
    [[nodiscard]] bool measuring() const noexcept { return measuring_; }
    [[nodiscard]] const FenceBinding* bindings() const noexcept { return bindings_; }
    // The task that replays it, as records name it.
    [[nodiscard]] std::uint64_t recorded_link() const noexcept { return parent_->recorded_link(); }
    [[nodiscard]] CallRouter* router() const noexcept { return parent_->router(); }
    void enter_guarded(Segment& segment) noexcept;
    void enter_guarded(GraphPlace place) noexcept;
    // The segment is done: starts those that waited for it. Returns the lane this thread continues with; the segment's
    // own lane may already be running elsewhere.
    Lane* leave_segment(Worker& worker, Segment& segment) noexcept;
    void start_lane(Worker& worker, std::uint32_t lane, std::uint32_t position) noexcept;
    // One of the parts is over; the last one continues the parent.
    void part_ended(Worker& worker) noexcept;
    void end_flow(const Lane& by) noexcept;
    void task_failed(TaskFailure& failure, GraphPlace place) noexcept;

    // Runs the lanes this thread has kept, and the strands released when they end. Called at the outermost level of a
    // thread.
    static void drain_kept(Worker& worker) noexcept;

private:
    struct PendingChange {
        std::uint64_t from;  // ticket of the first replay that may see it
        std::vector<GraphChange> changes;
        std::vector<std::unique_ptr<char[]>> payloads;
    };

    EngineGraph(Scheduler& scheduler, const GraphPlan& plan);
    Status prepare(const GraphPlan& plan);
    Status check(const GraphPlan& plan) const;
    [[nodiscard]] Status check_command(const Command& command) const;
    void make_lanes(const GraphPlan& plan);
    void begin(Worker& worker, Strand& parent, const ReplayWork* replay) noexcept;
    void push_kept(Worker& worker, Lane& lane) noexcept;
    void keep(Worker& worker, Lane& lane) noexcept;
    bool start_segment(Segment& segment) noexcept;
    void apply(PendingChange& change) noexcept CANOPY_REQUIRES(lock_);
    void withdraw_pending(const PendingChange& newer) noexcept CANOPY_REQUIRES(lock_);
    void apply_pending(std::uint64_t ticket) noexcept CANOPY_REQUIRES(lock_);
    [[nodiscard]] bool begun(const PendingChange& change) const noexcept CANOPY_REQUIRES(lock_);
    [[nodiscard]] const Segment& segment_at(GraphPlace place) const noexcept;
    void stop_lanes() noexcept CANOPY_REQUIRES(lock_);

    Scheduler& scheduler_;
    StraightRuns* const straight_runs_;
    const bool flow_;
    GraphCommands commands_;
    std::unique_ptr<Segment[]> segments_;
    std::uint32_t segment_count_ = 0;
    std::vector<std::uint32_t> successors_;
    std::vector<std::uint32_t> roots_;               // segments that wait for none; flow: lanes that start at once
    std::vector<std::uint32_t> first_segment_;       // by lane
    std::uint32_t ends_ = 0;                         // segments without successors
    std::vector<std::vector<std::uint64_t>> begun_;  // flow: by lane and command, the last replay that began it
    std::vector<std::unique_ptr<Lane>> lanes_;
    std::vector<Fence*> cleared_;
    std::vector<WordPreset> presets_;

    // Of the running replay.
    Strand* parent_ = nullptr;
    const FenceBinding* bindings_ = nullptr;
    std::uint64_t number_ = 0;  // number of replays begun
    bool measuring_ = false;
    std::atomic<bool> dropping_{false};
    std::atomic<bool> ending_{false};
    alignas(64) std::atomic<std::uint32_t> parts_{0};  // ends still to come (flow: running lanes), plus the beginner

    bool running_ CANOPY_GUARDED_BY(lock_) = false;
    bool aborted_ CANOPY_GUARDED_BY(lock_) = false;
    std::vector<PendingChange> pending_ CANOPY_GUARDED_BY(lock_);
    std::string label_ CANOPY_GUARDED_BY(lock_);
    const std::shared_ptr<const void> kept_;
};

}  // namespace canopy
