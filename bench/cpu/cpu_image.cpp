// SPDX-License-Identifier: Apache-2.0
// A shared object for CPU cores with some extra data: an empty kernel, a barrier kernel, and the functions the
// dispatcher expects of an inner runtime. It is built in two sizes, and in two variants that add different values to
// their marks.
#include <sched.h>

#include <atomic>
#include <cstdint>

#include "cpu/cpu_image.h"

extern "C" {

extern const unsigned char ballast[BENCH_CPU_BALLAST];
__attribute__((visibility("default"), used))
const unsigned char ballast[BENCH_CPU_BALLAST] = {BENCH_CPU_VARIANT & 255, BENCH_CPU_VARIANT >> 8};

__attribute__((visibility("default"))) std::uint32_t empty_cpu_kernel(void*) { return 0; }

// Every block waits until all blocks of its launch have arrived, and yields its processor if that takes long.
__attribute__((visibility("default"))) std::uint32_t barrier_cpu_kernel(void* arguments) {
    const auto& meeting = *static_cast<const bench::Meeting*>(arguments);
    const std::atomic_ref arrived(*meeting.arrived);
    const std::uint64_t all = (arrived.fetch_add(1) / meeting.blocks + 1) * meeting.blocks;
    for (std::uint32_t look = 1; arrived.load() < all; ++look) {
        __builtin_ia32_pause();
        if (look % 256 == 0) sched_yield();
    }
    return 0;
}

// Marks its task, if there is one.
__attribute__((visibility("default"))) std::uint32_t DynTileFwkBackendKernelServer(void* arguments) {
    if (!arguments) return 0;
    const auto& task = *static_cast<const bench::MarkedTask*>(arguments);
    std::atomic_ref(task.marks[task.index]).fetch_add(BENCH_CPU_VARIANT, std::memory_order_relaxed);
    return 0;
}
}
