// SPDX-License-Identifier: Apache-2.0
// Tuning constants of the software NPU's CPU cores, each with the reason behind it.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/clock.h"

namespace canopy::tuning {

// Stack of a block on a CPU core: what threads of a program have. Only touched pages count.
inline constexpr std::size_t cpu_kernel_stack = 8 * 1024 * 1024;
// How long a kernel on CPU cores may take when its launch says nothing else.
inline constexpr Nanoseconds cpu_kernel_timeout = 28 * second;
// A CPU kernel of one block that took less the last times is run by the thread that drains its stream: handing it over
// and back wakes two threads, 2 to 40 us each. Its time is taken once in so many runs.
inline constexpr Nanoseconds cpu_kernel_inline_time = 20 * microsecond;
inline constexpr std::uint32_t cpu_kernel_runs_per_measurement = 16;
// So many threads stand for CPU cores at most: each block of a launch that has begun has one.
inline constexpr std::uint32_t most_cpu_threads = 1024;
// Pauses between two looks of a CPU core that watches for blocks: about as long as an empty launch of eight blocks
// takes one thread.
inline constexpr std::uint32_t cpu_core_watch_pauses = 32;
// After so long such a core steps aside once. With a host thread and a worker that look as well there are three for the
// two processors here: eight empty blocks took 1.9 us when none stepped aside, 0.9 us when this one does.
inline constexpr Nanoseconds cpu_core_watch_time = 5 * microsecond;
// A cancelled CPU kernel that is found in the C library so often, 1 to 2 ms apart, is ended there.
inline constexpr std::uint32_t most_cancels_put_off = 100;

}  // namespace canopy::tuning
