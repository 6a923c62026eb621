// SPDX-License-Identifier: Apache-2.0
// Launch: a running kernel with many blocks, or a running fused kernel. Its blocks are divided into parts: a kernel is
// one part, a fused kernel has as many as its plan. Any number of threads take part and claim the blocks of open parts
// with an atomic counter. The thread that ends the last block of a part opens the parts that waited for it, and the
// last thread to leave continues the stream. Blocks run on fibers, so a block that waits for others gives its thread to
// the next one. A block of a kernel for several cores runs once on each of them: the counts and numbers here are of
// cores, group by group.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>

#include "base/fiber.h"
#include "base/spin_lock.h"
#include "base/ticks.h"
#include "canopy/kernel_abi.h"
#include "device/driver.h"
#include "device/engine/stream/shared_work.h"
#include "device/execution/core.h"
#include "device/execution/core_flags.h"
#include "device/execution/executor.h"
#include "device/soft/launch/chip_cores.h"
#include "device/soft/launch/fused_steps.h"
#include "device/soft/launch/group_cores.h"
#include "device/soft/launch/step_times.h"

namespace canopy {

class Launch;
class Strand;
struct LaunchPart;

// A fiber and the block it runs; the block's `launch` points to it.
struct BlockFiber : ParkedCore {
    explicit BlockFiber(std::size_t stack_size) : fiber(stack_size) {}
    Fiber fiber;
    CanopyBlock block{};
    Launch* launch = nullptr;
    LaunchPart* part = nullptr;
    bool begun = false;     // its item has begun
    bool in_group = false;  // its block has begun, on a core of a group
    // What it calls next.
    CanopyKernelEntry entry = nullptr;
    const void* arguments = nullptr;
    std::uint64_t timeout = 0;
    // Fused kernels: its position in the item.
    std::uint32_t step = 0;
    FailedStep place;
    WordStep word;
    LoopChunk chunk;
    TimedCall timed;
    Scratch scratch;
    Ticks call_began = 0;                     // of what it calls now; 0: not recorded
    std::uint32_t pieces = 0;                 // of its block that are recorded
    std::byte* scratch_used = nullptr;        // by its item; null: temporaries stay where they are
    std::uint64_t moved[most_scratch_words];  // arguments with addresses in the scratch

    std::unique_ptr<SoftCore> core;  // kept for the next blocks
};

// Fibers of blocks that have ended, kept for reuse. Any thread.
class FiberPool {
public:
    ~FiberPool();
    BlockFiber* take() noexcept;  // nullptr: out of memory
    void give(BlockFiber* fiber) noexcept;
    // A core that has left its fiber; nullptr: there is none, or only of other architectures.
    std::unique_ptr<SoftCore> take_core(std::uint32_t architecture) noexcept;
    void give_core(std::unique_ptr<SoftCore> core) noexcept;

private:
    SpinLock lock_;
    SpareCores cores_ CANOPY_GUARDED_BY(lock_);
    ParkedCore* free_ CANOPY_GUARDED_BY(lock_) = nullptr;  // last in, first out: its stack is still cached
};

// Cores that can be claimed at the same time and synchronise only with each other.
struct LaunchPart {
    const SoftKernel* kernel = nullptr;
    const void* arguments = nullptr;
    CoreGroup group;
    std::uint32_t groups = 0;
    std::uint32_t shown_groups = 0;  // the number that blocks see
    std::uint32_t cores = 0;         // or items, in parts of fused kernels that have no blocks
    std::uint32_t offset = 0;
    std::uint32_t dynamic_size = 0;
    std::uint32_t resident_limit = 0;  // cores
    std::uint64_t timeout = 0;
    Nanoseconds began = 0;
    const SoftPart* plan = nullptr;  // of a fused kernel
    alignas(64) std::atomic<std::uint32_t> started{0};
    alignas(64) std::atomic<std::uint32_t> finished{0};
    std::atomic<std::uint32_t> missing{0};  // parts it still waits for
    std::atomic<bool> flags_prepared{false};
    std::atomic<bool> cores_prepared{false};
    // Guarded by the launch's lock.
    ParkedCores met[3];  // in barriers of all cores, all vector cores, all cube cores
    CoreFlags flags;
    GroupCores group_cores;

    void reset() noexcept {
        started.store(0, std::memory_order_relaxed);
        finished.store(0, std::memory_order_relaxed);
        flags_prepared.store(false, std::memory_order_relaxed);
        cores_prepared.store(false, std::memory_order_relaxed);
    }
    [[nodiscard]] bool claimable() const noexcept {
        const std::uint32_t begun = started.load(std::memory_order_acquire);
        return begun < cores && begun - finished.load(std::memory_order_acquire) < resident_limit;
    }
    bool claim(std::uint32_t& number) noexcept {
        std::uint32_t begun = started.load(std::memory_order_relaxed);
        do {
            if (begun >= cores || begun - finished.load(std::memory_order_acquire) >= resident_limit) return false;
        } while (!started.compare_exchange_weak(begun, begun + 1, std::memory_order_acq_rel));
        number = begun;
        return true;
    }
    // The number of cores in a barrier of that scope.
    [[nodiscard]] std::uint32_t expected(std::uint32_t scope) const noexcept {
        if (scope == CANOPY_SYNC_VECTOR) return groups * group.vector;
        if (scope == CANOPY_SYNC_CUBE) return groups * group.cube;
        return cores;
    }
};

class Launch final : public SharedWork {
public:
    Launch(Strand& owner, FiberPool& fibers) noexcept : owner_(owner), fibers_(fibers) {}

    // Sets it up before other threads can find it. `resident_limit`: cores.
    void begin(const SoftKernel& kernel, const LaunchWork& work, std::uint32_t resident_limit, std::uint64_t sequence,
               std::uint64_t timeout) noexcept;
    // After that: the task it is in records.
    void set_link(std::uint64_t link) noexcept {
        recorded_ = true;
        link_ = link;
    }
    // False: no memory. `cores` outlives the launch.
    bool begin(const SoftFusedKernel& kernel, const LaunchWork& work, const ChipCores& cores, std::uint64_t sequence,
               std::uint64_t timeout) noexcept;

    // Runs blocks until none is left for this thread.
    void take_part(Executor& executor) noexcept override;
    [[nodiscard]] bool has_work() const noexcept override;
    // Fails the launch if blocks wait: no thread is left that could release them.
    void nobody_left() noexcept override;
    void conclude(Worker& worker) noexcept override;
    [[nodiscard]] std::uint32_t priority() const noexcept override;
    [[nodiscard]] bool all_finished() const noexcept { return parts_left_.load(std::memory_order_acquire) == 0; }
    [[nodiscard]] bool cancelled() const noexcept { return cancelled_.load(std::memory_order_acquire); }
    [[nodiscard]] std::uint32_t hands_wanted() const noexcept override;
    // How many sleeping threads are worth waking for `items` items that take `time` each.
    [[nodiscard]] static std::uint32_t worth_waking(std::uint64_t items, Nanoseconds time) noexcept;
    // It runs longer than predicted, so its blocks may be polling for each other.
    void list() noexcept override;

    // Ends launches with fewer than `limit` commands before them the next time one of their blocks waits or ends. May
    // be called from any thread at any time. Needed because a block that waits all the time may end each of its steps
    // before the cancel signal arrives.
    void stop_below(std::uint64_t limit) noexcept;
    // Called after the last participant left: returns the fibers of unfinished blocks and reports the outcome.
    struct Outcome {
        Fault fault;
        std::uint32_t block = 0;
        std::string who;   // the core, if a block has several
        std::string what;  // if more is known than the fault says
        FailedStep step;   // of a fused kernel
    };
    Outcome end() noexcept;

    // Called by a block, inside a service. The first four may return on another thread.
    static void sync(std::uint32_t scope) noexcept;
    static void yield() noexcept;
    static void wait_a_moment(std::uint32_t round) noexcept;  // a yield; sleeps after enough rounds
    static void wait_flag(std::uint32_t mode, std::uint32_t id) noexcept;
    static void set_flag(std::uint32_t mode, std::uint32_t id) noexcept;
    // As CanopyServices::open_core and partner. nullptr: no memory, or no such core.
    static CanopyCore* open_core(std::uint32_t architecture) noexcept;
    static SoftCore* core_of_block() noexcept;
    static CanopyCore* partner(std::uint32_t core_type, std::uint32_t sub_index) noexcept;

private:
    void reset(const void* arguments, std::uint64_t sequence, std::uint64_t timeout) noexcept;
    void fail_deadlock() noexcept;
    bool claim(LaunchPart*& part, std::uint32_t& number) noexcept;
    bool claim_other(LaunchPart*& part, std::uint32_t& number) noexcept;
    BlockFiber* pop_runnable() noexcept;
    BlockFiber* pop_yielded() noexcept;
    BlockFiber* pop_waiting(std::uint32_t turn) noexcept;
    // Give a fiber an item and prepare its next call. next_call and next_item run inside the guard and a service.
    void give_item(BlockFiber& fiber, LaunchPart& part, std::uint32_t number) noexcept;
    bool next_call(BlockFiber& fiber) noexcept;
    bool find_call(BlockFiber& fiber) noexcept;
    // While somebody records.
    bool next_recorded_call(BlockFiber& fiber) noexcept;
    void end_call_record(BlockFiber& fiber, Ticks end) noexcept;
    bool next_item(BlockFiber& fiber) noexcept;
    static void run_items(void* fiber);
    void identify(BlockFiber& fiber) noexcept;
    void finish(LaunchPart& part) noexcept;
    // Parks a block that has left its thread; it may be running again when this returns. False: the launch must stop
    // and the caller keeps the fiber.
    bool park(BlockFiber* fiber, Executor& executor) noexcept;
    bool must_stop(const BlockFiber& fiber) noexcept;
    void release(ParkedCores& released) noexcept CANOPY_REQUIRES(lock_);
    void prepare_flags(LaunchPart& part, Executor& executor) noexcept;
    void invite_if(bool anybody) noexcept;
    // Cores of groups (launch_services.cpp).
    CanopyCore* open_in_group(BlockFiber& fiber, std::uint32_t architecture) noexcept;
    SoftCore* reach(BlockFiber& fiber, std::uint32_t number) noexcept;
    void leave_group(BlockFiber& fiber) noexcept;
    bool set(LaunchPart& part, std::uint32_t number, std::uint32_t mode, std::uint32_t id) noexcept;
    bool take(LaunchPart& part, std::uint32_t number, std::uint32_t mode, std::uint32_t id) noexcept;
    void record(const Fault& fault, const LaunchPart& part, std::uint32_t core, const FailedStep& step) noexcept;
    void fail_item(const Fault& fault, const BlockFiber& fiber) noexcept;
    void describe_deadlock() CANOPY_REQUIRES(lock_);

    // Fused kernels (launch_parts.cpp).
    bool make_room(const SoftFusedKernel& kernel) noexcept;
    bool next_fused_call(BlockFiber& fiber) noexcept;
    bool prepare_step(BlockFiber& fiber, const SoftStep& step) noexcept;
    void move_arguments(BlockFiber& fiber, const SoftStep& step) noexcept;
    bool prepare_chunk(BlockFiber& fiber) noexcept;
    void make_choices(BlockFiber& fiber) noexcept;
    bool prepare_times(BlockFiber& fiber) noexcept;
    void attend(BlockFiber& fiber, const SoftStep& step) noexcept;
    void time(BlockFiber& fiber, const SoftStep& step) noexcept;
    void size(LaunchPart& part) noexcept;
    // Items that can begin now, and how many threads are worth waking for them.
    struct Opened {
        std::uint32_t items = 0;
        std::uint32_t hands = 0;
    };
    void open(LaunchPart& part, Opened& opened) noexcept;
    void complete(LaunchPart& part, Opened& opened) noexcept;
    void close(const LaunchPart& part) noexcept;
    [[nodiscard]] bool any_claimable() const noexcept;
    void measure(const LaunchPart& part) noexcept;

    Strand& owner_;
    FiberPool& fibers_;
    const ChipCores* cores_ = nullptr;  // of a fused kernel
    LaunchPart* parts_ = &only_;
    std::uint32_t part_count_ = 1;
    const SoftFusedKernel* fused_ = nullptr;
    const void* arguments_ = nullptr;
    std::uint64_t sequence_ = 0;  // commands of the owner before it
    std::uint64_t timeout_ = 0;
    Nanoseconds measured_from_ = 0;  // 0: not measured
    bool recorded_ = false;          // its blocks or steps
    std::uint64_t link_ = 0;         // the task it is, in their records
    std::atomic<std::uint64_t> stop_below_{0};
    alignas(64) std::atomic<std::uint32_t> parts_left_{0};
    std::atomic<bool> cancelled_{false};
    // Sizes of the two lists, to read without the lock.
    std::atomic<std::uint32_t> runnable_count_{0};
    std::atomic<std::uint32_t> yielded_count_{0};
    LaunchPart only_;  // the part of a launch of one kernel

    // For fused kernels; grown on demand.
    std::unique_ptr<LaunchPart[]> room_;
    std::unique_ptr<std::atomic<std::uint64_t>[]> open_;  // one bit for each part with cores that have not begun
    std::unique_ptr<StepChoice[]> choices_;
    std::uint32_t room_parts_ = 0;
    std::uint32_t room_steps_ = 0;
    StepTimes times_;  // of kernels with step times

    SpinLock lock_;
    ParkedCores runnable_ CANOPY_GUARDED_BY(lock_);
    ParkedCores yielded_ CANOPY_GUARDED_BY(lock_);  // polling; others go first
    bool failed_ CANOPY_GUARDED_BY(lock_) = false;
    bool deadlocked_ CANOPY_GUARDED_BY(lock_) = false;
    Fault fault_ CANOPY_GUARDED_BY(lock_);
    const LaunchPart* fault_part_ CANOPY_GUARDED_BY(lock_) = nullptr;
    std::uint32_t fault_core_ CANOPY_GUARDED_BY(lock_) = 0;
    FailedStep fault_step_ CANOPY_GUARDED_BY(lock_);
    std::string what_ CANOPY_GUARDED_BY(lock_);
};

}  // namespace canopy
