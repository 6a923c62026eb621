// SPDX-License-Identifier: Apache-2.0
// CpuCores: the threads that stand for a device's CPU cores. They are apart from the workers, so that kernels of both
// kinds may wait for each other's memory. All blocks of a launch are alive at once: a launch begins when there is a
// thread for each of its blocks, and threads are added for it up to a limit.
//
// Lock order: mutex_ here, then the registry of executors.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <vector>

#include "base/spin_lock.h"
#include "device/backend.h"
#include "device/soft/cpu_module.h"
#include "device/soft/executor.h"
#include "device/soft/launch_end.h"

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

    // Those of CpuCores or CpuProcess, guarded by its mutex.
    enum class State : std::uint8_t { idle, pending, running };
    State state = State::idle;
    std::uint32_t begun = 0;
    std::uint32_t finished = 0;
    CpuLaunch* next = nullptr;
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
    static bool run_block(Executor& executor, const CpuKernel& kernel, void* arguments, CpuBlock block, LaunchEnd& end,
                          CpuOutcome& outcome) noexcept;

    // The launch runs, and the strand goes on when all its blocks have ended. False: it cannot, the outcome says why.
    bool start(CpuLaunch& launch) noexcept;
    // Ends it if it is among the first `limit` commands of its strand; one that has not begun ends at once.
    void stop(CpuLaunch& launch, std::uint64_t limit) noexcept;
    // The monitor's: ends the remaining blocks of launches that are being stopped.
    void end_stopped() noexcept;

private:
    void thread_main(std::uint32_t number) noexcept;
    void pin(std::uint32_t number) const noexcept;
    // Lets launches begin that there are threads for. Those that never can are taken out and returned as a list.
    CpuLaunch* admit() noexcept;
    static void give_back(CpuLaunch* refused) noexcept;
    bool add_threads(std::uint32_t wanted) noexcept;
    void run_next(Executor* executor, std::unique_lock<std::mutex>& lock) noexcept;
    CpuLaunch* unlink_first() noexcept;

    Scheduler& scheduler_;
    const CpuCoresOptions options_;
    std::mutex mutex_;
    std::condition_variable news_;
    std::condition_variable ended_;
    CpuLaunch* first_pending_ = nullptr;
    CpuLaunch* last_pending_ = nullptr;
    std::vector<CpuLaunch*> running_;
    std::uint32_t unclaimed_ = 0;  // blocks of running launches that no thread has taken
    std::uint32_t busy_ = 0;       // blocks of running launches that have not ended
    std::uint32_t threads_ = 0;
    std::uint32_t threads_made_ = 0;
    bool ending_ = false;
    std::atomic<std::uint32_t> stopping_{0};  // running launches that are being stopped
};

}  // namespace canopy
