// SPDX-License-Identifier: Apache-2.0
// CpuCores: the threads that stand for a device's CPU cores. They are apart from the workers, so that kernels of both
// kinds may wait for each other's memory. All blocks of a launch are alive at once: a launch begins when there is a
// thread for each of its blocks, and threads are added for it up to a limit. Whoever begins a block while others are
// unclaimed has made sure that a thread is on its way to them; the thread that drains the stream takes blocks as well
// when that does not keep it from other work.
//
// Lock order: lock_ here, then the registry of executors.
#pragma once

#include <atomic>
#include <cstdint>

#include "base/parking.h"
#include "base/spin_lock.h"
#include "device/backend.h"
#include "device/soft/cpu/cpu_module.h"
#include "device/soft/cpu/launch_end.h"
#include "device/soft/execution/executor.h"

namespace canopy {

class CpuProcess;
class Scheduler;
class Strand;

// How a CPU kernel ended: well, unless the fault has a kind.
struct CpuOutcome {
    CpuOutcome() noexcept { text[0] = '\0'; }
    Fault fault;
    std::uint32_t block = 0;
    std::uint32_t result = 0;  // what it returned
    char text[256];            // when more is known than the fault says
};

// A launch on CPU cores while it runs; its strand makes it once and uses it for one launch after the other.
struct CpuLaunch {
    Strand* strand = nullptr;
    const CpuKernel* kernel = nullptr;
    void* arguments = nullptr;
    std::uint32_t arguments_size = 0;  // of a block the queue has copied; 0: it lies in device memory
    std::uint32_t blocks = 0;
    std::uint32_t offset = 0;
    std::uint64_t sequence = 0;  // commands of the strand before it
    std::uint64_t timeout = 0;   // nanoseconds; 0: none

    // Blocks are claimed and ended without a lock. A claimed block that has not ended keeps the launch: what comes
    // after the last end may be the strand's next one.
    std::atomic<std::uint32_t> begun{0};  // may count further than there are blocks
    std::atomic<std::uint32_t> finished{0};
    bool measured = false;                // whether the time of its blocks is taken
    std::atomic<Nanoseconds> longest{0};  // of them

    // Those of CpuCores or CpuProcess, guarded by its lock.
    enum class State : std::uint8_t { idle, pending, running };
    State state = State::idle;
    bool open = false;  // there may be unclaimed blocks
    CpuLaunch* next = nullptr;
    CpuLaunch* previous = nullptr;
    CpuOutcome outcome;  // of the first block that failed

    LaunchEnd end;
    std::atomic<bool> stopping{false};  // blocks that have not begun will not, the others are ended
};

struct CpuCoresOptions {
    std::uint32_t cores = 1;        // as many threads stay when there is nothing to do
    bool pinned = false;            // each thread to one processor
    CpuProcess* process = nullptr;  // runs everything instead of the threads
};

class CpuCores {
public:
    CpuCores(Scheduler& scheduler, const CpuCoresOptions& options) noexcept;
    ~CpuCores();
    CpuCores(const CpuCores&) = delete;
    CpuCores& operator=(const CpuCores&) = delete;

    // Runs one block on the calling thread. False: `outcome` tells why it failed. What it asks for the end of its
    // launch is added to `end`.
    [[gnu::always_inline]] static bool run_block(Executor& executor, const CpuKernel& kernel, void* arguments,
                                                 CpuBlock block, LaunchEnd& end, CpuOutcome& outcome) noexcept {
        CanopyBlock who = {block.index, block.count, 0,       1, static_cast<std::uint32_t>(CoreType::cpu),
                           0,           nullptr,     nullptr, 0};
        Call call = {&kernel, arguments, block, 0, false, &outcome};
        executor.launch_end = &end;
        const Fiber::Exit how = executor.run_cpu_kernel(&call_kernel, &call, who, outcome.fault);
        executor.launch_end = nullptr;
        if (how == Fiber::Exit::finished && !call.threw && call.result == 0) [[likely]]
            return true;
        explain(call, how);
        return false;
    }

    // Whether the thread that drains the strand may run blocks of the kernel itself: when that takes a moment only, or
    // when the strand is what it waits for.
    [[nodiscard]] bool may_take_part(const Executor& executor, const Strand& strand,
                                     const CpuKernel& kernel) const noexcept;

    enum class Started { elsewhere, done };
    // Runs the launch, with the calling thread's executor if that may take part, else nullptr. Done: it has ended, or
    // it cannot run; the outcome tells. Elsewhere: whoever ends its last block goes on with the strand, which is no
    // longer the caller's.
    Started start(CpuLaunch& launch, Executor* helper) noexcept;
    // Ends it if it is among the first `limit` commands of its strand; one that has not begun ends at once.
    void stop(CpuLaunch& launch, std::uint64_t limit) noexcept;
    // The monitor's: ends the remaining blocks of launches that are being stopped.
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

    // Lets launches begin that there are threads for. Those that never can are taken out and returned as a list.
    CpuLaunch* admit() noexcept CANOPY_REQUIRES(lock_);
    void begin(CpuLaunch& launch) noexcept CANOPY_REQUIRES(lock_);
    void close(CpuLaunch& launch) noexcept CANOPY_REQUIRES(lock_);
    static void give_back(CpuLaunch* refused) noexcept;
    void admit_more() noexcept;
    Claim claim() noexcept CANOPY_REQUIRES(lock_);
    // Runs the claimed block and others of the launch that nobody has claimed. True: the launch has ended with one of
    // them, and the caller goes on with the strand. False: it may be gone.
    bool work_on(Claim claim, Executor* executor) noexcept;
    static bool run_claimed(const Claim& claim, Executor* executor, CpuOutcome& outcome) noexcept;
    void note_failure(CpuLaunch& launch, const CpuOutcome& outcome) noexcept;
    bool end_block(CpuLaunch& launch) noexcept;

    Scheduler& scheduler_;
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
    std::atomic<std::uint32_t> watching_{0};  // threads that look for blocks instead of sleeping, one at most
    ParkingLot parked_;
    std::atomic<bool> ending_{false};
};

}  // namespace canopy
