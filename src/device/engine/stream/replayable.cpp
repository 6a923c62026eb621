// SPDX-License-Identifier: Apache-2.0
#include "device/engine/stream/replayable.h"

#include <algorithm>

#include "device/engine/stream/runnable.h"
#include "device/engine/stream/scheduler.h"

namespace canopy {

bool Replayable::same_kind(const Scheduler& one, const Scheduler& other) noexcept {
    return one.driver().info().kind == other.driver().info().kind;
}

bool Replayable::take_turn(Runnable& runnable, std::uint64_t ticket) noexcept {
    SpinGuard guard(lock_);
    if (turn_ == ticket && !turn_taken_) {
        turn_taken_ = true;
        return true;
    }
    runnable.turn_waiter = {ticket, line_};
    line_ = &runnable;
    runnable.begin_wait();
    return false;
}

bool Replayable::withdraw_turn(Runnable& runnable) noexcept {
    SpinGuard guard(lock_);
    for (Runnable** link = &line_; *link; link = &(*link)->turn_waiter.next) {
        if (*link != &runnable) continue;
        *link = runnable.turn_waiter.next;
        return true;
    }
    return false;
}

// Advances to the next ticket that has not been given up. If a runnable waits in line with it, that one gets the turn.
Runnable* Replayable::next_in_line() noexcept {
    for (auto given_up = std::find(given_up_.begin(), given_up_.end(), turn_); given_up != given_up_.end();
         given_up = std::find(given_up_.begin(), given_up_.end(), turn_)) {
        *given_up = given_up_.back();
        given_up_.pop_back();
        ++turn_;
        finished_.fetch_add(1, std::memory_order_acq_rel);
    }
    for (Runnable** link = &line_; *link; link = &(*link)->turn_waiter.next) {
        Runnable* runnable = *link;
        if (runnable->turn_waiter.ticket != turn_) continue;
        *link = runnable->turn_waiter.next;
        turn_taken_ = true;
        return runnable;
    }
    return nullptr;
}

void Replayable::give_turn() noexcept {
    Runnable* next = nullptr;
    {
        SpinGuard guard(lock_);
        turn_taken_ = false;
        ++turn_;
        finished_.fetch_add(1, std::memory_order_acq_rel);
        if (line_ || !given_up_.empty()) [[unlikely]]
            next = next_in_line();
    }
    if (next) next->continue_after_wait(WaitResult::satisfied);
}

void Replayable::give_up_turn(std::uint64_t ticket) noexcept {
    Runnable* next = nullptr;
    {
        SpinGuard guard(lock_);
        try {
            given_up_.push_back(ticket);
        } catch (...) {
            return;  // the graph cannot be replayed any more: later replays wait until they are aborted
        }
        if (!turn_taken_) next = next_in_line();
    }
    if (next) next->continue_after_wait(WaitResult::satisfied);
}

}  // namespace canopy
