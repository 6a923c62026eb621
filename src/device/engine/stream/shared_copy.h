// SPDX-License-Identifier: Apache-2.0
// Large copies and fills that several threads make: those of a strand, and blocking ones that a host thread makes with
// the help of a device's workers. Threads claim pieces with an atomic counter.
#pragma once

#include <atomic>
#include <cstdint>

#include "base/parking.h"
#include "base/result.h"
#include "base/spin_lock.h"
#include "device/command.h"
#include "device/engine/memory/pieces.h"
#include "device/engine/stream/shared_work.h"
#include "device/execution/executor.h"

namespace canopy {

class Runnable;
class Scheduler;

class SharedCopy : public SharedWork {
public:
    [[nodiscard]] bool has_work() const noexcept override {
        return !stopped() && next_.load(std::memory_order_acquire) < pieces_.count();
    }
    void nobody_left() noexcept override {}
    [[nodiscard]] std::uint32_t hands_wanted() const noexcept override;
    void list() noexcept override {}
    // To streams that are ready; the rest of its threads finish the copy.
    [[nodiscard]] bool lets_go() const noexcept override;

protected:
    explicit SharedCopy(Scheduler& scheduler) noexcept : scheduler_(scheduler) {}
    ~SharedCopy() = default;
    void begin(const Command& command) noexcept;
    // False: none is left, or the copy has been stopped.
    bool claim(std::uint32_t& piece) noexcept;
    bool run_guarded(Executor& executor, std::uint32_t piece, Fault& fault) const noexcept;
    void stop() noexcept { stopped_.store(true, std::memory_order_release); }
    [[nodiscard]] bool stopped() const noexcept { return stopped_.load(std::memory_order_acquire); }
    [[nodiscard]] bool all_claimed() const noexcept { return next_.load(std::memory_order_acquire) >= pieces_.count(); }

    MemoryPieces pieces_;
    Scheduler& scheduler_;

private:
    std::atomic<bool> stopped_{false};
    alignas(64) std::atomic<std::uint32_t> next_{0};
};

// The copies and fills of one strand, one after the other.
class StrandCopy final : public SharedCopy {
public:
    StrandCopy(Scheduler& scheduler, Runnable& owner) noexcept : SharedCopy(scheduler), owner_(owner) {}

    // Sets it up before other threads can find it.
    void begin(const Command& command, std::uint64_t sequence) noexcept;
    // Called after the last participant left. False, with a fault: it has failed.
    bool end(Fault& fault) noexcept;
    // Ends a copy with fewer than `limit` commands before it after the pieces that run now; any thread, at any time.
    void stop_below(std::uint64_t limit) noexcept;

    void take_part(Executor& executor) noexcept override;
    void conclude(Worker& worker) noexcept override;
    [[nodiscard]] std::uint32_t priority() const noexcept override;

private:
    void record(std::uint32_t piece, const Fault& fault) noexcept;

    Runnable& owner_;
    std::uint64_t sequence_ = 0;
    std::atomic<std::uint64_t> stop_below_{0};
    SpinLock lock_;
    // Of the first piece that failed, as if one thread had made the copy.
    Fault fault_ CANOPY_GUARDED_BY(lock_);
    std::uint32_t failed_ CANOPY_GUARDED_BY(lock_) = 0;
};

// Blocking copies and fills of host threads.
//
// Threads: any. Must outlive the scheduler's workers.
class BlockingCopies {
public:
    explicit BlockingCopies(Scheduler& scheduler) noexcept : scheduler_(scheduler) {}
    // Like `transfer` and `fill` of device.h. The calling thread runs nothing but its own copy.
    Status run(const Command& command) noexcept;

private:
    Scheduler& scheduler_;
    ParkingLot ended_;  // of callers whose last pieces run on other threads
};

}  // namespace canopy
