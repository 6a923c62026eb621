// SPDX-License-Identifier: Apache-2.0
// Meeting other blocks and making memory visible to them. Within a block every operation is finished when the next one
// starts, so barriers between the pipes of one core only order memory.
#ifndef CANOPY_KERNEL_SYNCHRONISE_H
#define CANOPY_KERNEL_SYNCHRONISE_H

#include <stdint.h>

#include "canopy_kernel/positions.h"
#include "canopy_kernel/target.h"

enum class cache_line_t : uint64_t { SINGLE_CACHE_LINE = 0, ENTIRE_DATA_CACHE = 1 };
enum class dcci_dst_t : uint64_t { CACHELINE_ALL = 0, CACHELINE_UB = 1, CACHELINE_OUT = 2, CACHELINE_ATOMIC = 3 };

// Caches of this device are coherent: cleaning a line is a fence.
template <class Line>
inline void dcci(const volatile void*, Line) {
    canopy::kernel::memory_fence();
}
template <class Line, class Destination>
inline void dcci(const volatile void*, Line, Destination) {
    canopy::kernel::memory_fence();
}

inline void pipe_barrier(pipe_t) { canopy::kernel::memory_fence(); }

namespace AscendC {

// Returns when every block of the launch has called it. The template argument tells which cores meet; all do.
template <bool isAIVOnly = true>
inline void SyncAll() {
    canopy::kernel::wait_for_all_blocks();
}

template <pipe_t pipe>
inline void PipeBarrier() {
    canopy::kernel::memory_fence();
}

// Ticks of the chip's counter: 50 MHz before architecture 3510, 1 GHz from there on.
inline int64_t GetSystemCycle() {
#if __NPU_ARCH__ >= 3510
    return canopy::kernel::nanoseconds();
#else
    return canopy::kernel::nanoseconds() / 20;
#endif
}

}  // namespace AscendC

#endif
