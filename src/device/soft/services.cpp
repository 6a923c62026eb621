// SPDX-License-Identifier: Apache-2.0
#include "device/soft/services.h"

#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <mutex>

#include "device/engine/cpu/launch_end.h"
#include "device/execution/executor.h"
#include "device/execution/threads.h"
#include "device/soft/launch/launch.h"
#include "device/soft/product/product.h"

namespace canopy {
namespace {

void print_here(const char* text, std::size_t length) {
    std::fwrite(text, 1, length, stdout);
    std::fflush(stdout);
}

std::atomic<void (*)(const char*, std::size_t)> printer{&print_here};

CANOPY_MAY_BE_LEFT CanopyBlock* current_block() { return Executor::here()->block; }

// A wait may end on a different thread, so the executor is looked up again afterwards.
CANOPY_MAY_BE_LEFT void sync(std::uint32_t scope) {
    Executor::existing()->enter_service();
    Launch::sync(scope);
    Executor::existing()->leave_service();
}

CANOPY_MAY_BE_LEFT void sync_all() { sync(CANOPY_SYNC_ALL); }

CANOPY_MAY_BE_LEFT void yield() {
    Executor::existing()->enter_service();
    Launch::yield();
    Executor::existing()->leave_service();
}

CANOPY_MAY_BE_LEFT void set_flag(std::uint32_t mode, std::uint32_t id) {
    Executor::existing()->enter_service();
    Launch::set_flag(mode, id);
    Executor::existing()->leave_service();
}

CANOPY_MAY_BE_LEFT void wait_flag(std::uint32_t mode, std::uint32_t id) {
    Executor::existing()->enter_service();
    Launch::wait_flag(mode, id);
    Executor::existing()->leave_service();
}

CANOPY_MAY_BE_LEFT void trap() { __builtin_trap(); }

CANOPY_MAY_BE_LEFT void print(const char* text, std::size_t length) {
    // One write per call, under stdout's own lock, so that lines of different blocks do not mix.
    Executor* executor = Executor::existing();
    executor->enter_service();
    printer.load(std::memory_order_relaxed)(text, length);
    executor->leave_service();
}

CANOPY_MAY_BE_LEFT CanopyCore* open_core_of_block(std::uint32_t architecture) {
    Executor* executor = Executor::existing();
    executor->enter_service();
    CanopyCore* core = Launch::open_core(architecture);
    if (!core) executor->fail(FaultKind::memory, "no memory for the local memories of a core");
    executor->block->core = core;
    executor->leave_service();
    return core;
}

CANOPY_MAY_BE_LEFT CanopyCore* partner(std::uint32_t core_type, std::uint32_t sub_index) {
    Executor* executor = Executor::existing();
    executor->enter_service();
    CanopyCore* core = Launch::partner(core_type, sub_index);
    executor->leave_service();
    return core;
}

CANOPY_MAY_BE_LEFT void* block_memory(const void* key, std::size_t size, std::size_t alignment, const void* initial) {
    Executor* executor = Executor::existing();
    executor->enter_service();
    SoftCore* core = Launch::core_of_block();
    void* memory = core ? core->block_memory(key, size, alignment, initial) : nullptr;
    if (!memory) executor->fail(FaultKind::memory, "no memory for variables of the block");
    executor->leave_service();
    return memory;
}

CANOPY_MAY_BE_LEFT void fail(const char* text, std::size_t length) {
    Executor* executor = Executor::existing();
    executor->enter_service();
    executor->fail(FaultKind::trap, {text, length});
}

SimtThreads& threads_of(Executor& executor) noexcept {
    SimtThreads* threads = SimtThreads::of(executor);
    if (!threads) executor.fail(FaultKind::memory, "no memory for SIMT threads");
    return *threads;
}

// SIMT threads never change their operating-system thread, so the executor stays the same.
CANOPY_MAY_BE_LEFT void run_threads(void (*body)(void*), void* data, std::uint32_t count) {
    Executor* executor = Executor::existing();
    executor->enter_service();
    SimtThreads& threads = threads_of(*executor);
    threads.begin(body, data, count);
    executor->leave_service();
    threads.run_on_block();
    executor->enter_service();
    threads.end();
    executor->leave_service();
}

CANOPY_MAY_BE_LEFT std::uint32_t current_thread() { return Executor::existing()->simt_thread; }

CANOPY_MAY_BE_LEFT void thread_barrier(std::uint32_t first, std::uint32_t count) {
    Executor* executor = Executor::existing();
    executor->enter_service();
    threads_of(*executor).barrier(first, count);
    executor->leave_service();
}

// A product always terminates and may hold a lock of the memory allocator, so it is never cancelled midway.
CANOPY_MAY_BE_LEFT void multiply_matrices(const CanopyProduct* product) {
    Executor* executor = Executor::existing();
    executor->enter_service();
    multiply(*product);
    executor->leave_service();
}

CANOPY_MAY_BE_LEFT std::uint32_t at_launch_end(void (*function)(void*), void* data) {
    Executor* executor = Executor::existing();
    executor->enter_service();
    const bool noted = executor->launch_end && executor->launch_end->add(function, data);
    executor->leave_service();
    return noted ? 1 : 0;
}

constexpr CanopyServices services = {
    CANOPY_KERNEL_ABI_VERSION,
    sizeof(CanopyServices),
    &current_block,
    &sync_all,
    &trap,
    &print,
    &open_core_of_block,
    &fail,
    &yield,
    &sync,
    &set_flag,
    &wait_flag,
    &run_threads,
    &current_thread,
    &thread_barrier,
    &multiply_matrices,
    &at_launch_end,
    &partner,
    &block_memory,
};

}  // namespace

const CanopyServices& kernel_services() noexcept { return services; }

void print_kernels_with(void (*print)(const char*, std::size_t)) noexcept {
    printer.store(print, std::memory_order_relaxed);
}

}  // namespace canopy
