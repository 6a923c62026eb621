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

CANOPY_MAY_BE_LEFT void sync_all() { Launch::sync_all(); }

CANOPY_MAY_BE_LEFT void trap() { __builtin_trap(); }

CANOPY_MAY_BE_LEFT void print(const char* text, std::size_t length) {
    // One write per call under the stream's own lock: lines of different blocks do not mix.
    Executor* executor = Executor::existing();
    executor->enter_service();
    std::fwrite(text, 1, length, stdout);
    std::fflush(stdout);
    executor->leave_service();
}

CanopyCore* open_core(std::uint32_t) { __builtin_trap(); }

void fail(const char*, std::size_t) { __builtin_trap(); }

void yield() {}

void sync(std::uint32_t) { Launch::sync_all(); }

void set_flag(std::uint32_t, std::uint32_t) { __builtin_trap(); }

void wait_flag(std::uint32_t, std::uint32_t) { __builtin_trap(); }

void run_threads(void (*body)(void*), void* data, std::uint32_t count) {
    for (std::uint32_t thread = 0; thread < count; ++thread) body(data);
}

std::uint32_t current_thread() { return 0; }

void thread_barrier(std::uint32_t, std::uint32_t) { __builtin_trap(); }

void multiply_matrices(const CanopyProduct* product) { multiply(*product); }

constexpr CanopyServices services = {
    CANOPY_KERNEL_ABI_VERSION,
    sizeof(CanopyServices),
    &current_block,
    &sync_all,
    &trap,
    &print,
    &open_core,
    &fail,
    &yield,
    &sync,
    &set_flag,
    &wait_flag,
    &run_threads,
    &current_thread,
    &thread_barrier,
    &multiply_matrices,
};

}  // namespace

const CanopyServices& kernel_services() noexcept { return services; }

}  // namespace canopy
