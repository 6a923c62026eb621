// SPDX-License-Identifier: Apache-2.0
// Lane: the strand of a graph that is replayed. It stands at one command of one segment; whoever starts the segment
// claims the lane with it.
#pragma once

#include <atomic>
#include <cstdint>
#include <span>

#include "device/soft/stream/strand.h"

namespace canopy {

struct StraightRun;

class Lane final : public Strand {
public:
    Lane(SoftGraph& graph, Scheduler& scheduler, std::uint32_t index, std::int32_t stream) noexcept
        : Strand(scheduler, 0, false), graph_(graph), index_(index), stream_(stream) {}
    ~Lane() override;

    // Ready to run from there, claimed by the caller.
    void place_at(std::uint32_t segment, std::uint32_t position, std::uint32_t end) noexcept {
        segment_ = segment;
        position_ = position;
        end_ = end;
        state_.store(StrandState::ready, std::memory_order_release);
    }
    [[nodiscard]] bool at_rest() const noexcept { return state_.load(std::memory_order_acquire) == StrandState::idle; }
    // Flow: idle -> ready, for one caller.
    bool wake(std::uint32_t position, std::uint32_t end) noexcept;
    // Runs, and goes on with the lanes its segments start, as long as this thread can.
    static void run(Executor& executor, Lane* lane) noexcept;
    [[nodiscard]] SoftGraph& graph() const noexcept { return graph_; }
    [[nodiscard]] std::int32_t stream() const noexcept { return stream_; }
    [[nodiscard]] Nanoseconds expected_time() const noexcept;
    void set_priority(std::uint32_t priority) noexcept { priority_.store(priority, std::memory_order_relaxed); }
    // Ends what it waits for and what it runs; the graph is dropping its commands.
    void stop() noexcept;

    void go_on(Executor& executor) noexcept override;
    void run_some(Executor& executor, bool linger) noexcept override;
    void continue_after_launch(Executor& executor) noexcept override;
    [[nodiscard]] bool dropping() const noexcept override;
    void task_failed(TaskFailure& failure) noexcept override;
    [[nodiscard]] CallRouter* router() const noexcept override;

    Lane* kept_next = nullptr;

private:
    friend class SoftGraph;
    // Begins the segment it stands at, unless it comes back to it.
    void enter(Executor& executor) noexcept;
    // The segment is done. The lane this thread goes on with, which has entered its own; nullptr: there is none.
    Lane* leave(Executor& executor) noexcept;
    // A straight run from where it stands, through all segments it leads to. Where it ended; nullptr: nothing is left.
    Lane* run_straight_part(Executor& executor) noexcept;
    static bool refill(StraightRun& run) noexcept;
    void aim(StraightRun& run) noexcept;
    void pass(std::size_t commands) noexcept;
    Step run_one(Executor& executor, const Command& command) noexcept;
    void hold(const Command& command) noexcept;
    Step run_condition(Executor& executor) noexcept;
    SoftGraph* chosen_body() const noexcept;
    void drop_held() noexcept;
    void rest() noexcept { state_.store(StrandState::idle, std::memory_order_release); }

    // Flow.
    enum class Flow { next, elsewhere, left, stop };
    void run_flow(Executor& executor) noexcept;
    Flow flow_command(Executor& executor, Command& command) noexcept;
    Flow run_jump(Executor& executor, const Command& command) noexcept;
    Flow run_switch(Executor& executor, const Command& command) noexcept;
    bool read_words(Executor& executor, const Command& command, const void* from, void* to, std::size_t size) noexcept;

    SoftGraph& graph_;
    const std::uint32_t index_;
    const std::int32_t stream_;  // that recorded it
    std::uint32_t segment_ = 0;
    std::uint32_t position_ = 0;
    std::uint32_t end_ = 0;
    Nanoseconds began_ = 0;                   // of the segment, while times are taken; 0: not taken
    std::atomic<std::uint64_t> executed_{0};  // commands, over all replays
    Command held_;                            // the command it runs or waits in, with what it refers to
};

}  // namespace canopy
