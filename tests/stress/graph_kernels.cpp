// SPDX-License-Identifier: Apache-2.0
// The kernels of the graph tests. Cells are arrays of 32-bit words. Every result depends on the previous contents, so a
// task that runs twice, not at all or out of order is detected.
#include "kernel_operator.h"

static __aicore__ uint32_t turned(uint32_t value) { return (value << 7) | (value >> 25); }

// out = out * odd + (a ^ turned(b)) + salt + i, with the words divided among the blocks
extern "C" __global__ __aicore__ void mix(__gm__ uint32_t* out, __gm__ uint32_t* a, __gm__ uint32_t* b, uint32_t salt,
                                          uint32_t words) {
    for (uint32_t i = block_idx; i < words; i += block_num)
        out[i] = out[i] * 2654435761u + (a[i] ^ turned(b[i])) + salt + i;
}

// The same with eight words passed along with the launch instead of b.
extern "C" __global__ __aicore__ void mix_table(__gm__ uint32_t* out, __gm__ uint32_t* a, __gm__ uint32_t* table,
                                                uint32_t salt, uint32_t words) {
    for (uint32_t i = block_idx; i < words; i += block_num)
        out[i] = out[i] * 2246822519u + (a[i] ^ turned(table[i % 8])) + salt + i;
}

// Fills memory that has not been written before.
extern "C" __global__ __aicore__ void spread(__gm__ uint32_t* out, __gm__ uint32_t* a, uint32_t salt, uint32_t words) {
    for (uint32_t i = block_idx; i < words; i += block_num) out[i] = a[i] * 3 + salt + i;
}

// All blocks write, synchronise, and read what their neighbours wrote.
extern "C" __global__ __aicore__ void exchange(__gm__ uint32_t* out, __gm__ uint32_t* scratch, uint32_t salt) {
    scratch[block_idx] = out[block_idx] + salt;
    AscendC::SyncAll();
    out[block_idx] = out[block_idx] * 31 + scratch[(block_idx + 1) % block_num];
}

extern "C" __global__ __aicore__ void select_from(__gm__ uint64_t* selector, __gm__ uint32_t* cell, uint32_t modulo) {
    *selector = cell[3] % modulo;
}

extern "C" __global__ __aicore__ void count_down(__gm__ uint64_t* selector) { *selector = *selector - 1; }

// Faults while the word is not 0.
extern "C" __global__ __aicore__ void fault_if(__gm__ uint32_t* word) {
    if (*word != 0) asm("trap");
}

// Counts how often the first words of two cells differ.
extern "C" __global__ __aicore__ void compare(__gm__ uint32_t* a, __gm__ uint32_t* b, __gm__ uint32_t* different) {
    if (a[0] != b[0]) *different = *different + 1;
}
