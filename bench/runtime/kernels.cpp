// SPDX-License-Identifier: Apache-2.0
// The kernels that canopy_bench launches.
#include "kernel_operator.h"

extern "C" __global__ __aicore__ void empty_five(__gm__ float*, __gm__ float*, __gm__ float*, uint32_t, float) {}

// Three words per index: the time stamp counter at the first instruction, the processor, and the time stamp counter at
// the last instruction, `work` ticks later. The first is read only after everything before it has executed, the last
// may be read early: the measured gap between two kernels is never less than the real one.
extern "C" __global__ __aicore__ void stamp(__gm__ uint64_t* stamps, uint64_t index, uint64_t work) {
    unsigned processor;
    const uint64_t begin = __builtin_ia32_rdtscp(&processor);
    stamps[3 * index] = begin;
    stamps[3 * index + 1] = processor;
    if (work != 0) {
        while (__builtin_ia32_rdtsc() - begin < work) __builtin_ia32_pause();
    }
    stamps[3 * index + 2] = __builtin_ia32_rdtsc();
}

// Keeps its stream busy until the time stamp counter reaches `until`.
extern "C" __global__ __aicore__ void hold(uint64_t until) {
    while (__builtin_ia32_rdtsc() < until) __builtin_ia32_pause();
}

// Keeps its stream busy for `ticks` ticks.
extern "C" __global__ __aicore__ void rest(uint64_t ticks) {
    const uint64_t begin = __builtin_ia32_rdtsc();
    while (__builtin_ia32_rdtsc() - begin < ticks) __builtin_ia32_pause();
}

extern "C" __global__ __aicore__ void mark(__gm__ uint32_t* marks, uint64_t index) { marks[index] = 1; }

// Arithmetic in `rounds` dependent steps; takes the arguments of empty_five.
extern "C" __global__ __aicore__ void churn(__gm__ float* a, __gm__ float*, __gm__ float* out, uint32_t,
                                            uint64_t rounds) {
    uint64_t value = static_cast<uint64_t>(*a) + 1;
    for (uint64_t i = 0; i < rounds; ++i) value = value * 6364136223846793005u + 1442695040888963407u;
    if (value == 0) *out = 1;
}
