// SPDX-License-Identifier: Apache-2.0
// Launch: one kernel with many blocks while it runs. Blocks are taken by an atomic counter; any number of threads take
// part; the last one to leave continues the stream. Blocks run on fibers, so a block that waits for the others in
// SyncAll gives its thread to the next block.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>

#include "base/fiber.h"
#include "base/spin_lock.h"
#include "canopy/kernel_abi.h"
#include "device/backend.h"
#include "device/soft/executor.h"

namespace canopy {

class SoftQueue;
struct SoftKernel;

// A fiber and the block it runs.
struct BlockFiber {
    explicit BlockFiber(std::size_t stack_size) : fiber(stack_size) {}
    Fiber fiber;
    CanopyBlock block{};
    BlockFiber* next = nullptr;
};

// Fibers of blocks that have ended, kept for the next ones. Any thread.
class FiberPool {
public:
    ~FiberPool();
    BlockFiber* take() noexcept;  // nullptr: out of memory
    void give(BlockFiber* fiber) noexcept;

private:
    SpinLock lock_;
    BlockFiber* free_ CANOPY_GUARDED_BY(lock_) = nullptr;
};

class Launch {
public:
    // The owner of the queue sets it up; nobody else looks at it before it is listed.
    void begin(SoftQueue& queue, const SoftKernel& kernel, const LaunchWork& work, const void* arguments,
               std::uint32_t resident_limit, std::uint64_t sequence, std::uint64_t timeout) noexcept;

    // Runs blocks until none is left to this thread. The caller has been counted as participant.
    void take_part(Executor& executor, FiberPool& pool) noexcept;

    // Anything a further thread could do right now?
    [[nodiscard]] bool has_work() noexcept;
    [[nodiscard]] bool all_finished() const noexcept { return finished_.load(std::memory_order_acquire) == blocks_; }
    [[nodiscard]] bool cancelled() const noexcept { return cancelled_.load(std::memory_order_acquire); }
    [[nodiscard]] std::uint32_t blocks() const noexcept { return blocks_; }
    [[nodiscard]] const SoftKernel* kernel() const noexcept { return kernel_; }
    [[nodiscard]] SoftQueue& queue() const noexcept { return *queue_; }

    // Blocks stand in SyncAll and nobody is left who could join them.
    void fail_deadlock() noexcept;
    // Ends it without running further blocks.
    void cancel() noexcept { cancelled_.store(true, std::memory_order_release); }
    // After the last participant left: gives the fibers of unfinished blocks back and tells how it went.
    struct Outcome {
        Fault fault;
        std::uint32_t block = 0;
        const char* what = nullptr;  // when more is known than the fault says
    };
    Outcome end(FiberPool& pool) noexcept;

    // Called by a block through the service table.
    static void sync_all() noexcept;

    // The scheduler's, guarded by its lock.
    std::uint32_t participants = 0;
    bool listed = false;
    Launch* next = nullptr;
    Launch* previous = nullptr;
    std::uint32_t cores_held[2] = {0, 0};

private:
    bool claim_block(std::uint32_t& index) noexcept;
    BlockFiber* pop_runnable() noexcept;
    void arrive(BlockFiber* fiber) noexcept;
    void record(const Fault& fault, std::uint32_t block) noexcept;
    static void block_body(void* data);

    SoftQueue* queue_ = nullptr;
    const SoftKernel* kernel_ = nullptr;
    const void* arguments_ = nullptr;
    std::uint32_t blocks_ = 0;
    std::uint32_t offset_ = 0;
    std::uint32_t dynamic_size_ = 0;
    std::uint32_t resident_limit_ = 0;
    std::uint64_t sequence_ = 0;  // commands of the queue before it
    std::uint64_t timeout_ = 0;
    alignas(64) std::atomic<std::uint32_t> started_{0};
    alignas(64) std::atomic<std::uint32_t> finished_{0};
    std::atomic<bool> cancelled_{false};
    std::atomic<std::uint32_t> runnable_count_{0};
    SpinLock lock_;
    BlockFiber* waiting_ CANOPY_GUARDED_BY(lock_) = nullptr;
    BlockFiber* runnable_ CANOPY_GUARDED_BY(lock_) = nullptr;
    std::uint32_t waiting_count_ CANOPY_GUARDED_BY(lock_) = 0;
    bool failed_ CANOPY_GUARDED_BY(lock_) = false;
    Fault fault_ CANOPY_GUARDED_BY(lock_);
    std::uint32_t fault_block_ CANOPY_GUARDED_BY(lock_) = 0;
    const char* what_ CANOPY_GUARDED_BY(lock_) = nullptr;
};

}  // namespace canopy
