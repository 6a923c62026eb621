// SPDX-License-Identifier: Apache-2.0
// HandOver: lets a thread take over the stream that its own signal has released. Waking another thread for it would
// take longer than most streams run before they wait again. Rules:
//
//   1. Used only by its own thread; each thread that runs streams has one (worker.h).
//   2. Streams are taken over while a HandOver::Collecting is alive, around a signal or the end of a graph. The first
//      is taken over, already claimed; the others go to the scheduler.
//   3. The stream taken over runs when the current one stops. It goes to the scheduler instead before a command that
//      may take long, and when the thread has what it waited for: it must not wait behind work it does not need.
//   4. While the thread drains, changes to the number of runnable streams are summed here: a stream that stops and
//      the one that continues in its place cancel out. The scheduler is told before the next real task and at the end.
#pragma once

#include <cstdint>
#include <utility>

namespace canopy {

class Runnable;

class HandOver {
public:
    class Collecting {
    public:
        explicit Collecting(HandOver& hand_over) noexcept : hand_over_(hand_over) { hand_over_.collects_ = true; }
        ~Collecting() { hand_over_.collects_ = false; }
        Collecting(const Collecting&) = delete;
        Collecting& operator=(const Collecting&) = delete;

    private:
        HandOver& hand_over_;
    };

    // True if a stream released now would be taken over.
    [[nodiscard]] bool accepts() const noexcept { return collects_ && !next_; }
    void put(Runnable& claimed) noexcept { next_ = &claimed; }
    [[nodiscard]] bool empty() const noexcept { return next_ == nullptr; }
    Runnable* take() noexcept { return next_ ? std::exchange(next_, nullptr) : nullptr; }

    void begin_draining() noexcept { draining_ = true; }
    void end_draining() noexcept { draining_ = false; }
    // False: the thread is not draining, so the scheduler must be told at once.
    bool count_runnable(int change) noexcept {
        if (!draining_) return false;
        change_ += change;
        return true;
    }
    // Returns and clears the change that the scheduler has not been told yet.
    int take_change() noexcept { return change_ == 0 ? 0 : std::exchange(change_, 0); }

private:
    Runnable* next_ = nullptr;
    bool collects_ = false;
    bool draining_ = false;
    std::int32_t change_ = 0;
};

}  // namespace canopy
