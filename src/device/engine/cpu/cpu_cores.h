// SPDX-License-Identifier: Apache-2.0
// CpuCores: the threads that act as a device's CPU cores. They are separate from the workers, so that kernels of both
// kinds may wait for each other's memory. All blocks of a launch are alive at once: a launch begins when there is a
// thread for each of its blocks, and threads are added for it up to a limit. A thread that begins a block while others
// are unclaimed first makes sure that another thread is on its way to them. The thread that drains the stream also runs
// blocks when that does not keep it from other work.
//
// Lock order: lock_ here, then the registry of executors.
#pragma once

#include <atomic>
#include <cstdint>

#include "base/parking.h"
#include "base/spin_lock.h"
#include "device/device.h"
#include "device/engine/cpu/cpu_launch.h"
#include "device/execution/executor.h"

namespace canopy {

class CpuProcess;

struct CpuCoresOptions {
    std::uint32_t cores = 1;        // threads kept when idle
    bool pinned = false;            // each thread to one processor
    CpuProcess* process = nullptr;  // runs everything in place of the threads
    bool may_spin = false;          // a thread may poll for blocks before it sleeps
    std::uint32_t device = 0;       // number of the device, in profiles
};

class CpuCores {
public:
    // works_for: the scheduler, recorded in the executors of its threads.
    CpuCores(const void* works_for, const CpuCoresOptions& options) noexcept
        : works_for_(works_for), options_(options) {}
    ~CpuCores();
    CpuCores(const CpuCores&) = delete;
    CpuCores& operator=(const CpuCores&) = delete;

    // Runs one block on the calling thread. False: it failed, see `outcome`. Calls it registers for the end of its
    // launch are added to `end`.
    [[gnu::always_inline]] static bool run_block(Executor& executor, const CpuKernel& kernel, void* arguments,
                                                 CpuBlock block, LaunchEnd& end, CpuOutcome& outcome) noexcept {
        CanopyBlock who = {block.index, block.count, 0,       1, static_cast<std::uint32_t>(CoreType::cpu),
                           0,           nullptr,     nullptr, 0};
        Call call = {&kernel, arguments, block, 0, false, &outcome};
        executor.launch_end = &end;
        const Fiber::Exit how = executor.run_cpu_kernel(&call_kernel, &call, who, outcome.fault);
        executor.launch_end = nullptr;
        if (executor.may_wait()) [[unlikely]]
            kernel.may_wait.store(true, std::memory_order_relaxed);
        if (how == Fiber::Exit::finished && !call.threw && call.result == 0) [[likely]]
            return true;
        explain(call, how);
        return false;
    }

    // True if the thread that drains a stream may run blocks of the kernel itself: they are short, or it waits for that
    // stream anyway (`awaited`).
    [[nodiscard]] bool may_take_part(bool awaited, const CpuKernel& kernel) const noexcept {
        if (options_.process) return false;
        return kernel.is_short() || (awaited && !options_.pinned);
    }

    enum class Started { elsewhere, done };
    // Runs the launch. `helper`: the calling thread's executor if it may take part, else nullptr. Done: the launch has
    // ended or cannot run, see its outcome. Elsewhere: the thread that ends its last block continues the owner, which
    // no longer belongs to the caller.
    Started start(CpuLaunch& launch, Executor* helper) noexcept;
    // Ends the launch if it is among the first `limit` commands of its owner; one that has not begun ends at once.
    void stop(CpuLaunch& launch, std::uint64_t limit) noexcept;
    // A kernel of the owner waits in a function of the runtime. `launch`: the one of the owner, if it has one.
    [[nodiscard]] bool asleep(const TaskOwner& owner, const CpuLaunch* launch) const noexcept;
    // Called by the monitor: ends the remaining blocks of launches that are being stopped.
    void end_stopped() noexcept;

private:
    struct Call {
        const CpuKernel* kernel;
        void* arguments;
        CpuBlock block;
        std::uint32_t result;
        bool threw;
        CpuOutcome* outcome;
    };
    static void call_kernel(void* data);
    static void explain(const Call& call, Fiber::Exit how) noexcept;

    struct Claim {
        CpuLaunch* launch = nullptr;
        std::uint32_t index = 0;
    };
    struct List {
        CpuLaunch* first = nullptr;
        CpuLaunch* last = nullptr;
        void append(CpuLaunch& launch) noexcept;
        void remove(CpuLaunch& launch) noexcept;
    };

    void thread_main(std::uint32_t number) noexcept;
    void prepare_thread(std::uint32_t number) const noexcept;
    bool watch_for_blocks() noexcept;
    bool may_leave(bool idle_for_long) noexcept;
    void add_threads() noexcept;
    void wake_thread() noexcept;

    // Begins pending launches for which there are enough threads. Removes those that can never begin and returns them
    // as a list.
    CpuLaunch* admit() noexcept CANOPY_REQUIRES(lock_);
    void begin(CpuLaunch& launch) noexcept CANOPY_REQUIRES(lock_);
    void close(CpuLaunch& launch) noexcept CANOPY_REQUIRES(lock_);
    static void give_back(CpuLaunch* refused) noexcept;
    void admit_more() noexcept;
    Claim claim() noexcept CANOPY_REQUIRES(lock_);
    // Runs the claimed block and unclaimed ones of the same launch. True: one of them ended the launch, and the caller
    // continues its owner. False: the launch may no longer exist.
    bool work_on(Claim claim, Executor* executor) noexcept;
    static bool run_claimed(const Claim& claim, Executor* executor, CpuOutcome& outcome) noexcept;
    void note_failure(CpuLaunch& launch, const CpuOutcome& outcome) noexcept;
    bool end_block(CpuLaunch& launch) noexcept;

    const void* const works_for_;
    const CpuCoresOptions options_;

    SpinLock lock_;
    List pending_ CANOPY_GUARDED_BY(lock_);
    List running_ CANOPY_GUARDED_BY(lock_);
    std::uint32_t threads_ CANOPY_GUARDED_BY(lock_) = 0;
    std::uint32_t threads_made_ CANOPY_GUARDED_BY(lock_) = 0;
    std::atomic<std::uint32_t> pending_blocks_{0};  // changed under lock_
    std::atomic<std::uint32_t> busy_{0};            // blocks of running launches that have not ended
    std::atomic<std::uint32_t> stopping_{0};        // running launches that are being stopped

    alignas(64) std::atomic<std::uint32_t> open_launches_{0};  // changed under lock_
    std::atomic<std::uint32_t> launches_opened_{0};
    std::atomic<std::uint32_t> watching_{0};  // threads that poll for blocks instead of sleeping, one at most
    ParkingLot parked_;
    std::atomic<bool> ending_{false};
};

}  // namespace canopy
