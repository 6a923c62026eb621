// SPDX-License-Identifier: Apache-2.0
// Tuning constants of the software NPU's CPU cores, each with the reason behind it.
#pragma once

#include <cstddef>
#include <cstdint>

#include "foundation/clock.h"

namespace canopy::tuning {

// Stack of a block on a CPU core, the size of an ordinary thread's stack. Only touched pages use memory.
inline constexpr std::size_t cpu_kernel_stack = 8 * 1024 * 1024;
// Time limit of a kernel on CPU cores when its launch sets none.
inline constexpr Nanoseconds cpu_kernel_timeout = 28 * second;
// The thread that drains a stream runs the blocks of a CPU kernel itself if they recently took less than this: handing
// a block over and back wakes two threads, 2 to 40 us each. The time of such a kernel is measured once in this many
// runs.
inline constexpr Nanoseconds cpu_kernel_inline_time = 20 * microsecond;
inline constexpr std::uint32_t cpu_kernel_runs_per_measurement = 16;
// Maximum number of CPU core threads; each block of a running launch occupies one.
inline constexpr std::uint32_t most_cpu_threads = 1024;
// Pauses between two checks of a CPU core that polls for blocks: about as long as one thread takes for an empty launch
// of eight blocks.
inline constexpr std::uint32_t cpu_core_watch_pauses = 32;
// A polling core yields its processor each time this interval has passed. With a host thread and a worker also polling,
// three threads compete for the two processors here: eight empty blocks took 1.9 us without the yield and 0.9 us with
// it.
inline constexpr Nanoseconds cpu_core_watch_time = 5 * microsecond;
// A cancelled CPU kernel that is found inside the C library this many times, 1 to 2 ms apart, is ended there. Sleeping
// in a system call counts more: it may never return, while code that runs comes out, unless it loops there. A kernel
// that allocates in a loop is outside in about 1.5 % of the attempts.
inline constexpr std::uint32_t most_cancels_put_off = 1000;
inline constexpr std::uint32_t weight_of_sleeping_cancel = 10;

}  // namespace canopy::tuning
