// SPDX-License-Identifier: Apache-2.0
// Kernels of the programs.
#include "kernel_operator.h"

extern "C" __global__ __aicore__ void add_one(__gm__ uint32_t* word) {
    if (block_idx == 0) *word = *word + 1;
}

extern "C" __global__ __aicore__ void times_two(__gm__ uint32_t* word) {
    if (block_idx == 0) *word = *word * 2;
}

extern "C" __global__ __aicore__ void set_to(__gm__ uint32_t* word, uint32_t value) { *word = value; }

// Every block writes its number to its own slot.
extern "C" __global__ __aicore__ void sign_in(__gm__ uint32_t* places) { places[block_idx] = block_idx + 1; }

// Signals that it is running, then runs until told to end.
extern "C" __global__ __aicore__ void run_until_told(__gm__ uint32_t* running, __gm__ uint32_t* told) {
    __atomic_store_n(running, 1u, __ATOMIC_RELEASE);
    while (__atomic_load_n(told, __ATOMIC_ACQUIRE) == 0) asm volatile("");
}

// Overwrites all of the memory repeatedly.
extern "C" __global__ __aicore__ void write_often(__gm__ uint32_t* words, uint32_t count, uint32_t rounds) {
    auto* memory = static_cast<volatile __gm__ uint32_t*>(words);
    for (uint32_t round = 0; round < rounds; ++round)
        for (uint32_t i = 0; i < count; ++i) memory[i] = round + i;
}

extern "C" __global__ __aicore__ void fail() { asm("trap"); }

extern "C" __global__ __aicore__ void fail_with(__gm__ uint32_t* words, uint32_t value) {
    words[0] = value;
    asm("trap");
}

extern "C" __global__ __aicore__ void add_vectors(__gm__ const float* x, __gm__ const float* y, __gm__ float* sum,
                                                  uint32_t count) {
    for (uint32_t i = block_idx; i < count; i += block_num) sum[i] = x[i] + y[i];
}

// The length and the factor are passed in memory that belongs to the launch.
extern "C" __global__ __aicore__ void scale_vector(__gm__ float* x, __gm__ const int32_t* count,
                                                   __gm__ const int32_t* factor) {
    for (int32_t i = block_idx; i < *count; i += block_num) x[i] = x[i] * *factor;
}

extern "C" __global__ __aicore__ void say_hello() {
    AscendC::printf("hello from block %d of %d\n", static_cast<int>(block_idx), static_cast<int>(block_num));
}

extern "C" __global__ __aicore__ void print_word(__gm__ const uint32_t* word) {
    AscendC::printf("the device found %d\n", static_cast<int>(*word));
}
