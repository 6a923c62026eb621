// SPDX-License-Identifier: Apache-2.0
#include "device/soft/services.h"

#include <unistd.h>

#include <cstdio>
#include <mutex>

#include "device/soft/executor.h"
#include "device/soft/launch.h"
#include "device/soft/product.h"

namespace canopy {
namespace {

CANOPY_MAY_BE_LEFT CanopyBlock* current_block() { return Executor::existing()->block; }

CANOPY_MAY_BE_LEFT void sync_all() { Launch::sync(CANOPY_SYNC_ALL); }

void trap() { __builtin_trap(); }

CANOPY_MAY_BE_LEFT void print(const char* text, std::size_t length) {
    // One write per call under the stream's own lock: lines of different blocks do not mix.
    Executor* executor = Executor::existing();
    executor->enter_service();
    std::fwrite(text, 1, length, stdout);
    std::fflush(stdout);
    executor->leave_service();
}

CanopyCore* open_core_of_block(std::uint32_t architecture) {
    Executor& executor = *Executor::existing();
    executor.enter_service();
    auto* fiber = static_cast<BlockFiber*>(executor.block->launch);
    CanopyCore* core = open_core(fiber ? fiber->core : executor.own_core, architecture);
    if (!core) executor.fail(FaultKind::memory, "no memory for the local memories of a core");
    executor.block->core = core;
    executor.leave_service();
    return core;
}

void fail(const char* text, std::size_t length) { Executor::existing()->fail(FaultKind::trap, {text, length}); }

void run_threads(void (*body)(void*), void* data, std::uint32_t count) {
    Executor& executor = *Executor::existing();
    SimtThreads* threads = executor.threads();
    if (!threads) executor.fail(FaultKind::memory, "no memory for SIMT threads");
    threads->run(body, data, count);
}

std::uint32_t current_thread() { return Executor::existing()->simt_thread; }

void thread_barrier(std::uint32_t first, std::uint32_t count) {
    Executor& executor = *Executor::existing();
    if (!executor.in_thread()) executor.fail(FaultKind::trap, "a barrier of SIMT threads outside of them");
    executor.threads()->barrier(first, count);
}

void multiply_matrices(const CanopyProduct* product) { multiply(*product); }

constexpr CanopyServices services = {
    CANOPY_KERNEL_ABI_VERSION,
    sizeof(CanopyServices),
    &current_block,
    &sync_all,
    &trap,
    &print,
    &open_core_of_block,
    &fail,
    &Launch::yield,
    &Launch::sync,
    &Launch::set_flag,
    &Launch::wait_flag,
    &run_threads,
    &current_thread,
    &thread_barrier,
    &multiply_matrices,
};

}  // namespace

const CanopyServices& kernel_services() noexcept { return services; }

}  // namespace canopy
