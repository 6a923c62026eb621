// SPDX-License-Identifier: Apache-2.0
// Launch: one kernel with many blocks while it runs. Blocks are taken by an atomic counter; any number of threads take
// part; the last one to leave continues the stream. Blocks run on fibers, so a block that waits for others gives its
// thread to the next one. A block of a kernel for several cores runs once on each of them: what is counted and numbered
// here are cores, group by group.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>

#include "base/fiber.h"
#include "base/spin_lock.h"
#include "canopy/kernel_abi.h"
#include "device/backend.h"
#include "device/soft/core.h"
#include "device/soft/core_flags.h"
#include "device/soft/executor.h"

namespace canopy {

class Launch;
class Strand;
struct SoftKernel;

// A fiber and the block it runs, which knows it as its `launch`.
struct BlockFiber {
    explicit BlockFiber(std::size_t stack_size) : fiber(stack_size) {}
    Fiber fiber;
    CanopyBlock block{};
    Launch* launch = nullptr;
    std::uint32_t number = 0;        // of the core in the launch
    CoreWait wait;                   // what it waits for when it has suspended
    std::unique_ptr<SoftCore> core;  // stays for the blocks that follow
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
    // The owner of the queue sets it up; nobody else looks at it before it is listed. `resident_limit`: cores.
    void begin(Strand& strand, const SoftKernel& kernel, const LaunchWork& work, std::uint32_t resident_limit,
               std::uint64_t sequence, std::uint64_t timeout) noexcept;

    // Runs blocks until none is left to this thread. The caller has been counted as participant.
    void take_part(Executor& executor, FiberPool& pool) noexcept;

    // Anything a further thread could do right now?
    [[nodiscard]] bool has_work() const noexcept;
    [[nodiscard]] bool all_finished() const noexcept { return finished_.load(std::memory_order_acquire) == cores_; }
    [[nodiscard]] bool cancelled() const noexcept { return cancelled_.load(std::memory_order_acquire); }
    [[nodiscard]] std::uint32_t cores() const noexcept { return cores_; }
    [[nodiscard]] const SoftKernel* kernel() const noexcept { return kernel_; }
    [[nodiscard]] Strand& strand() const noexcept { return *strand_; }

    // Blocks wait and nobody is left who could release them.
    void fail_deadlock() noexcept;
    // Launches with fewer than `limit` commands before them end when one of their blocks waits the next time. For any
    // thread at any time: a signal may come too late for every single step of a block that waits all the time.
    void stop_below(std::uint64_t limit) noexcept;
    // After the last participant left: gives the fibers of unfinished blocks back and tells how it went.
    struct Outcome {
        Fault fault;
        std::uint32_t block = 0;
        std::string who;   // the core, where a block has several
        std::string what;  // when more is known than the fault says
    };
    Outcome end(FiberPool& pool) noexcept;

    // Called by a block, inside a service. The first three may return on another thread.
    static void sync(std::uint32_t scope) noexcept;
    static void yield() noexcept;
    static void wait_flag(std::uint32_t mode, std::uint32_t id) noexcept;
    static void set_flag(std::uint32_t mode, std::uint32_t id) noexcept;

    // The scheduler's, guarded by its lock.
    std::uint32_t participants = 0;
    bool listed = false;
    Launch* next = nullptr;
    Launch* previous = nullptr;
    std::uint32_t cores_held[2] = {0, 0};

private:
    bool claim_core(std::uint32_t& number) noexcept;
    BlockFiber* pop_runnable() noexcept;
    BlockFiber* pop_yielded() noexcept;
    BlockFiber* pop_waiting(std::uint32_t turn) noexcept;
    void identify(BlockFiber& fiber, std::uint32_t number) noexcept;
    // A block has left its thread: it waits, or goes on already. False: the launch must stop, the fiber is the
    // caller's.
    bool park(BlockFiber* fiber, Executor& executor) noexcept;
    bool must_stop(const BlockFiber& fiber) noexcept;
    void release(FiberList& released) noexcept CANOPY_REQUIRES(lock_);
    void prepare_flags(Executor& executor) noexcept;
    void invite_if(bool anybody) noexcept;
    bool set(std::uint32_t number, std::uint32_t mode, std::uint32_t id) noexcept;
    bool take(std::uint32_t number, std::uint32_t mode, std::uint32_t id) noexcept;
    [[nodiscard]] std::uint32_t expected(std::uint32_t scope) const noexcept;
    void record(const Fault& fault, std::uint32_t core) noexcept;
    void describe_deadlock() CANOPY_REQUIRES(lock_);
    [[nodiscard]] std::string name_of(std::uint32_t number) const;
    static void block_body(void* data);

    Strand* strand_ = nullptr;
    const SoftKernel* kernel_ = nullptr;
    const void* arguments_ = nullptr;
    CoreGroup group_;
    std::uint32_t groups_ = 0;
    std::uint32_t cores_ = 0;
    std::uint32_t offset_ = 0;
    std::uint32_t dynamic_size_ = 0;
    std::uint32_t resident_limit_ = 0;
    std::uint64_t sequence_ = 0;  // commands of the queue before it
    std::uint64_t timeout_ = 0;
    Nanoseconds began_ = 0;
    std::atomic<std::uint64_t> stop_below_{0};
    alignas(64) std::atomic<std::uint32_t> started_{0};
    alignas(64) std::atomic<std::uint32_t> finished_{0};
    std::atomic<bool> cancelled_{false};
    // How many the two lists hold, for a look without the lock.
    std::atomic<std::uint32_t> runnable_count_{0};
    std::atomic<std::uint32_t> yielded_count_{0};
    std::atomic<bool> flags_prepared_{false};
    SpinLock lock_;
    FiberList runnable_ CANOPY_GUARDED_BY(lock_);
    FiberList yielded_ CANOPY_GUARDED_BY(lock_);  // they poll; others go first
    FiberList met_[3] CANOPY_GUARDED_BY(lock_);   // in meetings of all cores, all vector cores, all cube cores
    CoreFlags flags_ CANOPY_GUARDED_BY(lock_);
    bool failed_ CANOPY_GUARDED_BY(lock_) = false;
    bool deadlocked_ CANOPY_GUARDED_BY(lock_) = false;
    Fault fault_ CANOPY_GUARDED_BY(lock_);
    std::uint32_t fault_core_ CANOPY_GUARDED_BY(lock_) = 0;
    std::string what_ CANOPY_GUARDED_BY(lock_);
};

}  // namespace canopy
