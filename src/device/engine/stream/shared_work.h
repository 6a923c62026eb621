// SPDX-License-Identifier: Apache-2.0
// SharedWork: work of one stream that several workers take part in, like the blocks of a kernel. The scheduler lists it
// for idle workers as long as it has something to do for them.
#pragma once

#include <atomic>
#include <cstdint>

namespace canopy {

class Executor;
class Worker;

class SharedWork {
public:
    // True if another thread could do something right now.
    [[nodiscard]] virtual bool has_work() const noexcept = 0;
    // Works until nothing is left for this thread, which is already counted as a participant.
    virtual void take_part(Executor& executor) noexcept = 0;
    // True if a thread may leave although something is left, because it is needed elsewhere. The last one stays.
    [[nodiscard]] virtual bool lets_go() const noexcept { return false; }
    // No thread takes part any more. If the work is not done, it never will be: it must fail.
    virtual void nobody_left() noexcept = 0;
    // Called by the last thread to leave: completes the work and runs what comes after it in its stream.
    virtual void conclude(Worker& worker) noexcept = 0;
    // How many sleeping threads are worth waking when it begins.
    [[nodiscard]] virtual std::uint32_t hands_wanted() const noexcept = 0;
    // Lists it after all: it runs longer than predicted.
    virtual void list() noexcept = 0;
    [[nodiscard]] virtual std::uint32_t priority() const noexcept = 0;

    // Too short to share: not listed for other threads.
    [[nodiscard]] bool unlisted() const noexcept { return unlisted_.load(std::memory_order_relaxed); }

    // The scheduler's bookkeeping; guarded by its lock.
    struct Place {
        std::uint32_t participants = 0;
        std::uint32_t limit =
            0;  // of participants: as many as the device has workers, or more if blocks poll for each other
        std::uint32_t to_wake = 0;  // sleeping threads that those who join still have to wake
        bool listed = false;
        SharedWork* next = nullptr;
        SharedWork* previous = nullptr;
        SharedWork* running_next = nullptr;
        SharedWork* running_previous = nullptr;
        std::uint32_t beats = 0;  // monitor beats while it is unlisted
    };
    Place place;

protected:
    ~SharedWork() = default;
    std::atomic<bool> unlisted_{false};
};

}  // namespace canopy
