// SPDX-License-Identifier: Apache-2.0
#include "device/engine/stream/shared_copy.h"

#include <algorithm>

#include "device/engine/memory/memory_work.h"
#include "device/engine/stream/runnable.h"
#include "device/engine/stream/scheduler.h"
#include "device/execution/tuning.h"

namespace canopy {

// ---- every shared copy ---------------------------------------------------------------------------------------------

void SharedCopy::begin(const Command& command) noexcept {
    pieces_ = MemoryPieces(command);
    stopped_.store(false, std::memory_order_relaxed);
    next_.store(0, std::memory_order_relaxed);
}

std::uint32_t SharedCopy::hands_wanted() const noexcept {
    return std::min(pieces_.count(), tuning::most_copy_threads) - 1;
}

bool SharedCopy::lets_go() const noexcept { return scheduler_.should_yield(priority(), tuning::tasks_per_turn); }

bool SharedCopy::claim(std::uint32_t& piece) noexcept {
    if (!has_work()) return false;
    piece = next_.fetch_add(1, std::memory_order_acq_rel);
    return piece < pieces_.count();
}

bool SharedCopy::run_guarded(Executor& executor, std::uint32_t piece, Fault& fault) const noexcept {
    struct Piece {
        const MemoryPieces& all;
        std::uint32_t number;
    };
    Piece work = {pieces_, piece};
    const Fiber::Exit how = executor.run(
        nullptr,
        [](void* data) {
            const auto* one = static_cast<const Piece*>(data);
            one->all.run(one->number);
        },
        &work, nullptr, fault);
    return how == Fiber::Exit::finished;
}

// ---- copies of strands ---------------------------------------------------------------------------------------------

void StrandCopy::begin(const Command& command, std::uint64_t sequence) noexcept {
    SharedCopy::begin(command);
    sequence_ = sequence;
    SpinGuard guard(lock_);
    fault_ = {};
    failed_ = UINT32_MAX;
}

void StrandCopy::take_part(Executor& executor) noexcept {
    // A thread that waits for the copy has nothing better to do.
    const Worker* worker = Worker::of(executor);
    const bool stays = worker && worker->awaited;
    executor.begin_task(&owner_, sequence_, 0);
    for (std::uint32_t piece = 0; claim(piece);) {
        Fault fault;
        if (!run_guarded(executor, piece, fault)) [[unlikely]]
            record(piece, fault);
        if (sequence_ < stop_below_.load(std::memory_order_relaxed)) [[unlikely]]
            stop();
        if (!stays && lets_go()) break;
    }
    executor.end_task();
}

// Pieces before a failed one have been claimed, so the lowest number does not depend on the threads.
void StrandCopy::record(std::uint32_t piece, const Fault& fault) noexcept {
    {
        SpinGuard guard(lock_);
        if (piece < failed_) {
            failed_ = piece;
            fault_ = fault;
        }
    }
    stop();
}

void StrandCopy::stop_below(std::uint64_t limit) noexcept {
    std::uint64_t old = stop_below_.load(std::memory_order_relaxed);
    while (old < limit && !stop_below_.compare_exchange_weak(old, limit, std::memory_order_relaxed)) {
    }
}

bool StrandCopy::end(Fault& fault) noexcept {
    SpinGuard guard(lock_);
    if (failed_ != UINT32_MAX) {
        fault = fault_;
        if (fault.kind == FaultKind::exception) fault.kind = FaultKind::memory;
        return false;
    }
    if (all_claimed()) return true;
    fault = {.kind = FaultKind::aborted};
    return false;
}

void StrandCopy::conclude(Worker& worker) noexcept { owner_.drain_after_launch(worker); }

std::uint32_t StrandCopy::priority() const noexcept { return owner_.priority(); }

// ---- blocking copies -----------------------------------------------------------------------------------------------

namespace {

// The calling thread is not guarded: a bad address is the program's own fault, and its handlers must see it there.
class BlockingCopy final : public SharedCopy {
public:
    BlockingCopy(Scheduler& scheduler, ParkingLot& ended, const Executor& caller, const Command& command) noexcept
        : SharedCopy(scheduler), ended_(ended), caller_(caller) {
        begin(command);
    }

    // Helpers leave the piece they failed in, and all that follow, to the caller.
    void take_part(Executor& executor) noexcept override {
        const bool helps = &executor != &caller_;
        for (std::uint32_t piece = 0; claim(piece);) {
            Fault fault;
            if (!helps)
                pieces_.run(piece);
            else if (!run_guarded(executor, piece, fault))
                stop();
            if (helps && lets_go()) break;
        }
    }
    // The caller may be gone as soon as it sees the flag; the lot belongs to the device.
    void conclude(Worker&) noexcept override {
        ParkingLot& lot = ended_;
        over_.store(true, std::memory_order_seq_cst);
        lot.wake_all();
    }
    [[nodiscard]] std::uint32_t priority() const noexcept override { return 7; }  // kernels first

    void wait() noexcept {
        const Nanoseconds end = scheduler_.may_spin() ? now() + tuning::host_spin_time : 0;
        while (!over_.load(std::memory_order_seq_cst) && now() < end) cpu_relax();
        while (!over_.load(std::memory_order_seq_cst)) {
            const ParkingLot::Epoch epoch = ended_.prepare();
            if (over_.load(std::memory_order_seq_cst))
                ended_.cancel();
            else
                ended_.park(epoch, Deadline::never());
        }
    }
    [[nodiscard]] bool failed() const noexcept { return stopped(); }

private:
    ParkingLot& ended_;
    const Executor& caller_;
    std::atomic<bool> over_{false};
};

}  // namespace

Status BlockingCopies::run(const Command& command) noexcept {
    const bool shared = is_large(command) && !is_remote(command) && MemoryPieces::divides(command);
    Worker* const worker = shared ? Worker::current() : nullptr;
    // Guarded code may be ended in the middle of the call, and nobody must be using this frame then.
    if (!worker || Executor::inside(worker->executor.step())) return run_by_transfer(command);
    BlockingCopy copy(scheduler_, ended_, worker->executor, command);
    scheduler_.start();
    scheduler_.publish(copy);
    if (!scheduler_.work_on(copy, *worker)) copy.wait();
    return copy.failed() ? run_by_transfer(command) : Status{};
}

}  // namespace canopy
