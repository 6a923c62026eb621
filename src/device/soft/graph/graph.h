// SPDX-License-Identifier: Apache-2.0
// SoftGraph: a graph prepared for the software NPU. Its lanes are cut into segments, straight runs of commands without
// an edge from or to another lane but at their ends; a segment counts the segments it waits for, and whoever ends the
// last of them starts it. A replay takes no lock and allocates nothing: the thread that meets the replay in its queue
// begins it, runs what it can itself, and shares lanes with others when they are worth it.
//
// Graphs whose lanes start each other and jump (plan.flow) have no segments; their lanes run command by command.
//
// Threads: any. Lock order: lock_, then a fence's lock, then the scheduler's.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/spin_lock.h"
#include "device/backend.h"
#include "device/soft/graph/lane.h"
#include "device/soft/stream/strand.h"

namespace canopy {

class Scheduler;

inline constexpr std::uint32_t no_segment = UINT32_MAX;
inline constexpr Nanoseconds unknown_time = INT64_MAX;

struct alignas(64) Segment {
    std::uint32_t lane = 0;
    std::uint32_t first = 0;
    std::uint32_t end = 0;                 // one behind its last command
    std::uint32_t before = 0;              // segments it waits for
    std::uint32_t following = no_segment;  // of its own lane; among its successors
    std::uint32_t successors = 0;          // of other lanes: where they begin in the graph's list
    std::uint32_t successor_count = 0;
    bool guarded = false;        // its commands may be changed while a replay runs
    std::uint64_t begun_in = 0;  // number of the last replay that began it; kept for guarded ones, under the lock
    std::atomic<std::uint32_t> missing{0};        // segments it still waits for
    std::atomic<Nanoseconds> time{unknown_time};  // what it took lately
};

// Commands, kept with everything they point at.
class GraphCommands {
public:
    ~GraphCommands();
    Status add_lane(std::span<const Command> commands);
    [[nodiscard]] std::span<Command> lane(std::uint32_t index) noexcept { return lanes_[index].commands; }
    [[nodiscard]] std::uint32_t lane_count() const noexcept { return static_cast<std::uint32_t>(lanes_.size()); }
    [[nodiscard]] bool contains(GraphPlace place) const noexcept {
        return place.lane < lanes_.size() && place.position < lanes_[place.lane].commands.size();
    }
    // Puts a command in the place of another one. `own`: memory with its payload, which is kept if it is needed.
    void replace(GraphPlace place, const Command& command, std::unique_ptr<char[]> own) noexcept;
    // Bytes a command carries with it.
    static std::size_t payload_size(const Command& command) noexcept;

private:
    struct Stored {
        std::vector<Command> commands;
        std::vector<std::uint32_t> room;  // bytes of each command's payload memory
        std::unique_ptr<char[]> memory;
        std::vector<std::pair<std::uint32_t, std::unique_ptr<char[]>>> grown;  // of commands whose payload got larger
    };
    static void store_payload(Command& command, char* to) noexcept;
    static void keep(Stored& lane, std::uint32_t position, std::unique_ptr<char[]> memory) noexcept;
    static void retain(const Command& command) noexcept;
    static void release(const Command& command) noexcept;
    std::vector<Stored> lanes_;
};

class SoftGraph final : public Executable {
public:
    static Result<Executable*> create(Scheduler& scheduler, const GraphPlan& plan);
    ~SoftGraph() override;

    Status change(std::span<const GraphChange> changes, ChangeTime time) noexcept override;
    [[nodiscard]] std::uint64_t unfinished() const noexcept override {
        return submitted_.load(std::memory_order_acquire) - finished_.load(std::memory_order_acquire);
    }
    void abort() noexcept override;
    void set_label(std::string label) override;

    // Turns: replays run in the order of their tickets.
    std::uint64_t take_ticket() noexcept { return submitted_.fetch_add(1, std::memory_order_acq_rel); }
    // True when it is the ticket's turn; otherwise the strand waits in line and is continued when it is.
    bool take_turn(Strand& strand, std::uint64_t ticket) noexcept;
    bool withdraw_turn(Strand& strand) noexcept;
    void give_turn() noexcept;
    void give_up_turn(std::uint64_t ticket) noexcept;

    // One replay, for the strand whose turn it is and that is draining: begin, run, and after it has ended, end.
    void begin(Executor& executor, Strand& parent, const ReplayWork* replay) noexcept;
    // Runs what this thread can. True: the replay has ended. False: the parent waits and will be continued.
    bool run(Executor& executor, Strand& parent) noexcept;
    void end() noexcept;
    void abort_replay_of(const Strand& parent) noexcept;
    // Every lane that has begun stands before a wait.
    [[nodiscard]] bool blocked() const noexcept;

    // For lanes.
    [[nodiscard]] bool flow() const noexcept { return flow_; }
    [[nodiscard]] bool dropping() const noexcept { return dropping_.load(std::memory_order_relaxed); }
    // Flow: end_graph has run.
    [[nodiscard]] bool ending() const noexcept { return ending_.load(std::memory_order_relaxed); }
    [[nodiscard]] Segment& segment(std::uint32_t index) noexcept { return segments_[index]; }
    [[nodiscard]] std::span<Command> commands(std::uint32_t lane) noexcept { return commands_.lane(lane); }
    [[nodiscard]] bool measuring() const noexcept { return measuring_; }
    [[nodiscard]] const FenceBinding* bindings() const noexcept { return bindings_; }
    [[nodiscard]] CallRouter* router() const noexcept { return parent_->router(); }
    void enter_guarded(Segment& segment) noexcept;
    void enter_guarded(GraphPlace place) noexcept;
    // The segment is done: starts those that waited for it. Returns the lane this thread goes on with; the lane the
    // segment belongs to may be running elsewhere already.
    Lane* leave_segment(Executor& executor, Segment& segment) noexcept;
    void start_lane(Executor& executor, std::uint32_t lane, std::uint32_t position) noexcept;
    // One of the parts is over; the last one continues the parent.
    void part_ended(Executor& executor) noexcept;
    void end_flow(const Lane& by) noexcept;
    void task_failed(TaskFailure& failure, GraphPlace place) noexcept;

    // Runs the lanes this thread has kept, and what their end has set free. At the top of a thread's stack.
    static void work_off(Executor& executor) noexcept;
    // Gives the lanes this thread has kept to whoever is free.
    static void share_all(Executor& executor, Scheduler& scheduler) noexcept;

private:
    struct PendingChange {
        std::uint64_t from;  // ticket of the first replay that may see it
        std::vector<GraphChange> changes;
        std::vector<std::unique_ptr<char[]>> payloads;
    };

    SoftGraph(Scheduler& scheduler, const GraphPlan& plan);
    Status prepare(const GraphPlan& plan);
    Status check(const GraphPlan& plan) const;
    void make_lanes(const GraphPlan& plan);
    void keep(Executor& executor, Lane& lane) noexcept;
    bool start_segment(Segment& segment) noexcept;
    void apply(PendingChange& change) noexcept CANOPY_REQUIRES(lock_);
    void apply_pending(std::uint64_t ticket) noexcept CANOPY_REQUIRES(lock_);
    [[nodiscard]] bool begun(const PendingChange& change) const noexcept CANOPY_REQUIRES(lock_);
    [[nodiscard]] const Segment& segment_at(GraphPlace place) const noexcept;
    void stop_lanes() noexcept CANOPY_REQUIRES(lock_);
    Strand* next_in_line() noexcept CANOPY_REQUIRES(lock_);

    Scheduler& scheduler_;
    const bool flow_;
    GraphCommands commands_;
    std::unique_ptr<Segment[]> segments_;
    std::uint32_t segment_count_ = 0;
    std::vector<std::uint32_t> successors_;
    std::vector<std::uint32_t> roots_;               // segments that wait for none; flow: lanes that start
    std::vector<std::uint32_t> first_segment_;       // by lane
    std::uint32_t ends_ = 0;                         // segments nobody waits for
    std::vector<std::vector<std::uint64_t>> begun_;  // flow: by lane and command, the last replay that began it
    std::vector<std::unique_ptr<Lane>> lanes_;
    std::vector<Fence*> cleared_;
    std::vector<WordPreset> presets_;

    // Of the replay that runs.
    Strand* parent_ = nullptr;
    const FenceBinding* bindings_ = nullptr;
    std::uint64_t number_ = 0;  // of replays begun
    bool measuring_ = false;
    std::atomic<bool> dropping_{false};
    std::atomic<bool> ending_{false};
    alignas(64) std::atomic<std::uint32_t> parts_{0};  // ends still to come (flow: lanes that run), and the beginner

    alignas(64) std::atomic<std::uint64_t> submitted_{0};
    std::atomic<std::uint64_t> finished_{0};
    mutable SpinLock lock_;
    bool running_ CANOPY_GUARDED_BY(lock_) = false;
    bool aborted_ CANOPY_GUARDED_BY(lock_) = false;
    std::uint64_t turn_ CANOPY_GUARDED_BY(lock_) = 0;
    bool turn_taken_ CANOPY_GUARDED_BY(lock_) = false;
    Strand* line_ CANOPY_GUARDED_BY(lock_) = nullptr;               // strands that wait for their turn
    std::vector<std::uint64_t> given_up_ CANOPY_GUARDED_BY(lock_);  // tickets nobody will come with
    std::vector<PendingChange> pending_ CANOPY_GUARDED_BY(lock_);
    std::string label_ CANOPY_GUARDED_BY(lock_);
    const std::shared_ptr<const void> kept_;
};

}  // namespace canopy
