// SPDX-License-Identifier: Apache-2.0
// Replayable: a prepared graph as streams see it. Replays of one graph run one at a time, in the order of the tickets
// taken when they were submitted.
//
// Threads: any.
#pragma once

#include <atomic>
#include <cstdint>
#include <vector>

#include "base/spin_lock.h"
#include "device/device.h"

namespace canopy {

class Runnable;
class Scheduler;
class Strand;
class Worker;

class Replayable : public Executable {
public:
    explicit Replayable(const Scheduler& scheduler) noexcept : made_for_(&scheduler) {}
    // True if it was prepared for a device of the same kind as that scheduler's.
    [[nodiscard]] bool made_for(const Scheduler& scheduler) const noexcept {
        return made_for_ == &scheduler || same_kind(*made_for_, scheduler);
    }
    [[nodiscard]] std::uint64_t unfinished() const noexcept final {
        return submitted_.load(std::memory_order_acquire) - finished_.load(std::memory_order_acquire);
    }

    std::uint64_t take_ticket() noexcept { return submitted_.fetch_add(1, std::memory_order_acq_rel); }
    // True if it is the ticket's turn; otherwise the runnable waits in line and continues when its turn comes.
    bool take_turn(Runnable& runnable, std::uint64_t ticket) noexcept;
    bool withdraw_turn(Runnable& runnable) noexcept;
    void give_turn() noexcept;
    void give_up_turn(std::uint64_t ticket) noexcept;

    // Begins a replay for `parent`, which has the turn and is draining, and runs what this thread can. True: the replay
    // has ended. False: the parent waits and will be continued. Either way the parent calls `end` afterwards.
    virtual bool start(Worker& worker, Strand& parent, const ReplayWork* replay) noexcept = 0;
    virtual void end() noexcept = 0;
    virtual void abort_replay_of(const Strand& parent) noexcept = 0;
    // True if every lane that has begun is in a wait.
    [[nodiscard]] virtual bool blocked() const noexcept = 0;

protected:
    // On a separate cache line: submitting threads read the kind, above, while another thread takes turns.
    alignas(64) mutable SpinLock lock_;
    std::uint64_t turn_ CANOPY_GUARDED_BY(lock_) = 0;
    bool turn_taken_ CANOPY_GUARDED_BY(lock_) = false;
    // Replays submitted.
    [[nodiscard]] std::uint64_t tickets() const noexcept { return submitted_.load(std::memory_order_acquire); }

private:
    Runnable* next_in_line() noexcept CANOPY_REQUIRES(lock_);
    static bool same_kind(const Scheduler& one, const Scheduler& other) noexcept;

    const Scheduler* const made_for_;
    Runnable* line_ CANOPY_GUARDED_BY(lock_) = nullptr;
    std::vector<std::uint64_t> given_up_ CANOPY_GUARDED_BY(lock_);  // tickets of replays that were dropped
    alignas(64) std::atomic<std::uint64_t> submitted_{0};
    std::atomic<std::uint64_t> finished_{0};
};

}  // namespace canopy
