// SPDX-License-Identifier: Apache-2.0
// The kernels of the conformance tests.
#include "kernel_operator.h"

// counter += 1
extern "C" __global__ __aicore__ void increment(__gm__ uint32_t* counter) { *counter = *counter + 1; }

extern "C" __global__ __aicore__ void nothing() {}

// out[block] = block + 1000 * blocks
extern "C" __global__ __aicore__ void identify(__gm__ uint32_t* out) {
    out[block_idx] = static_cast<uint32_t>(block_idx) + 1000u * static_cast<uint32_t>(block_num);
}

extern "C" __global__ __aicore__ void add(__gm__ float* a, __gm__ float* b, __gm__ float* out, uint32_t count) {
    const uint32_t share = (count + block_num - 1) / block_num;
    const uint32_t begin = block_idx * share;
    const uint32_t end = begin + share < count ? begin + share : count;
    for (uint32_t i = begin; i < end; ++i) out[i] = a[i] + b[i];
}

// Mixed sizes; each argument has an eight-byte slot.
extern "C" __global__ __aicore__ void mixed_arguments(__gm__ double* out, uint8_t a, int16_t b, float c, int64_t d) {
    *out = a + b + c + static_cast<double>(d);
}

// *out = sum of the bytes that the placeholder points to
extern "C" __global__ __aicore__ void sum_bytes(__gm__ uint64_t* out, __gm__ uint8_t* bytes, uint64_t count) {
    uint64_t sum = 0;
    for (uint64_t i = 0; i < count; ++i) sum += bytes[i];
    *out = sum;
}

extern "C" __global__ __aicore__ void trap_always() { asm("trap"); }

// Traps in one block only.
extern "C" __global__ __aicore__ void trap_in_block(uint32_t block) {
    if (static_cast<uint32_t>(block_idx) == block) asm("trap");
}

extern "C" __global__ __aicore__ void store_at(uint64_t address, uint32_t value) {
    *reinterpret_cast<volatile __gm__ uint32_t*>(address) = value;
}

extern "C" __global__ __aicore__ void store_byte_at(__gm__ uint8_t* base, uint64_t offset, uint8_t value) {
    *(static_cast<volatile __gm__ uint8_t*>(base) + offset) = value;
}

extern "C" __global__ __aicore__ void divide(__gm__ int32_t* out, int32_t a, int32_t b) {
    volatile int32_t divisor = b;
    *out = a / divisor;
}

static __aicore__ uint64_t recurse(volatile uint64_t* depth) {
    volatile uint64_t frame[64];
    frame[0] = ++*depth;
    return recurse(depth) + frame[0];
}

extern "C" __global__ __aicore__ void overflow_stack(__gm__ uint64_t* out) {
    volatile uint64_t depth = 0;
    *out = recurse(&depth);
}

extern "C" __global__ __aicore__ void never_return(__gm__ uint32_t* started) {
    *static_cast<volatile __gm__ uint32_t*>(started) = 1;
    for (;;) asm volatile("");
}

// Spins until the word is nonzero, then writes 1 to done.
extern "C" __global__ __aicore__ void wait_for_word(__gm__ uint32_t* word, __gm__ uint32_t* done) {
    while (__atomic_load_n(word, __ATOMIC_ACQUIRE) == 0) asm volatile("");
    __atomic_store_n(done, 1u, __ATOMIC_RELEASE);
}

// Like wait_for_word, but signals that it has started.
extern "C" __global__ __aicore__ void begin_and_wait_for_word(__gm__ uint32_t* begun, __gm__ uint32_t* word,
                                                              __gm__ uint32_t* done) {
    __atomic_store_n(begun, 1u, __ATOMIC_RELEASE);
    while (__atomic_load_n(word, __ATOMIC_ACQUIRE) == 0) asm volatile("");
    __atomic_store_n(done, 1u, __ATOMIC_RELEASE);
}

extern "C" __global__ __aicore__ void set_word(__gm__ uint32_t* word) { __atomic_store_n(word, 1u, __ATOMIC_RELEASE); }

// Every block adds one, passes the barrier, and must then see all additions. Repeats `rounds` times.
extern "C" __global__ __aicore__ void meet_in_barrier(__gm__ uint32_t* arrived, __gm__ uint32_t* wrong,
                                                      uint32_t rounds) {
    for (uint32_t round = 1; round <= rounds; ++round) {
        __atomic_fetch_add(arrived, 1u, __ATOMIC_ACQ_REL);
        AscendC::SyncAll();
        const uint32_t expected = round * static_cast<uint32_t>(block_num);
        if (__atomic_load_n(arrived, __ATOMIC_ACQUIRE) < expected) __atomic_fetch_add(wrong, 1u, __ATOMIC_ACQ_REL);
        AscendC::SyncAll();
    }
}

// Every block adds one and spins on plain memory until all have done so.
extern "C" __global__ __aicore__ void meet_in_memory(__gm__ uint32_t* arrived) {
    __atomic_fetch_add(arrived, 1u, __ATOMIC_ACQ_REL);
    while (__atomic_load_n(arrived, __ATOMIC_ACQUIRE) < static_cast<uint32_t>(block_num)) asm volatile("");
}

// One block returns without reaching the barrier that the others wait in.
extern "C" __global__ __aicore__ void miss_barrier(uint32_t block) {
    if (static_cast<uint32_t>(block_idx) != block) AscendC::SyncAll();
}

// Appends its number to a log in memory; log[0] is the count.
extern "C" __global__ __aicore__ void append(__gm__ uint32_t* log, uint32_t number) {
    const uint32_t at = __atomic_fetch_add(&log[0], 1u, __ATOMIC_ACQ_REL);
    log[1 + at] = number;
}

extern "C" __global__ __cube__ __aicore__ void trap_on_cube() { asm("trap"); }

__gm__ uint32_t global_word = 41;

extern "C" __global__ __aicore__ void read_global(__gm__ uint32_t* out) { *out = global_word; }

extern "C" __global__ __aicore__ void load_at(uint64_t address, __gm__ uint32_t* out) {
    *out = *reinterpret_cast<volatile __gm__ uint32_t*>(address);
}

// counter += amount, from every block
extern "C" __global__ __aicore__ void add_atomically(__gm__ uint64_t* counter, uint64_t amount) {
    __atomic_fetch_add(counter, amount, __ATOMIC_RELAXED);
}

// Runs forever in one block; the others end at once or, with `together`, wait in a barrier.
extern "C" __global__ __aicore__ void never_return_in_block(uint32_t block, uint32_t together) {
    if (static_cast<uint32_t>(block_idx) == block)
        for (;;) asm volatile("");
    if (together) AscendC::SyncAll();
}

extern "C" __global__ __schedmode__(1) __aicore__ void all_at_once(__gm__ uint32_t* counter) {
    __atomic_fetch_add(counter, 1u, __ATOMIC_RELAXED);
}

extern "C" __global__ __mix__(1, 2) __aicore__ void on_both_cores(__gm__ uint32_t* counter) {
    __atomic_fetch_add(counter, 1u, __ATOMIC_RELAXED);
}

#define CANOPY_PARAMETERS_8(n)                                                                                  \
    uint64_t a##n##0, uint64_t a##n##1, uint64_t a##n##2, uint64_t a##n##3, uint64_t a##n##4, uint64_t a##n##5, \
        uint64_t a##n##6, uint64_t a##n##7
#define CANOPY_SUM_8(n) a##n##0 + a##n##1 + a##n##2 + a##n##3 + a##n##4 + a##n##5 + a##n##6 + a##n##7

// The maximum number of parameters of a kernel: 128.
extern "C" __global__ __aicore__ void sum_many(
    __gm__ uint64_t* out, uint64_t b1, uint64_t b2, uint64_t b3, uint64_t b4, uint64_t b5, uint64_t b6, uint64_t b7,
    CANOPY_PARAMETERS_8(01), CANOPY_PARAMETERS_8(02), CANOPY_PARAMETERS_8(03), CANOPY_PARAMETERS_8(04),
    CANOPY_PARAMETERS_8(05), CANOPY_PARAMETERS_8(06), CANOPY_PARAMETERS_8(07), CANOPY_PARAMETERS_8(08),
    CANOPY_PARAMETERS_8(09), CANOPY_PARAMETERS_8(10), CANOPY_PARAMETERS_8(11), CANOPY_PARAMETERS_8(12),
    CANOPY_PARAMETERS_8(13), CANOPY_PARAMETERS_8(14), CANOPY_PARAMETERS_8(15)) {
    *out = b1 + b2 + b3 + b4 + b5 + b6 + b7 + CANOPY_SUM_8(01) + CANOPY_SUM_8(02) + CANOPY_SUM_8(03) +
           CANOPY_SUM_8(04) + CANOPY_SUM_8(05) + CANOPY_SUM_8(06) + CANOPY_SUM_8(07) + CANOPY_SUM_8(08) +
           CANOPY_SUM_8(09) + CANOPY_SUM_8(10) + CANOPY_SUM_8(11) + CANOPY_SUM_8(12) + CANOPY_SUM_8(13) +
           CANOPY_SUM_8(14) + CANOPY_SUM_8(15);
}

// Launched by the number at the end of their names: counter += 1, or 100, from every block.
extern "C" __global__ __aicore__ void count_blocks_21(__gm__ uint32_t* counter) {
    __atomic_fetch_add(counter, 1u, __ATOMIC_RELAXED);
}
extern "C" __global__ __aicore__ void count_blocks_22(__gm__ uint32_t* counter) {
    __atomic_fetch_add(counter, 100u, __ATOMIC_RELAXED);
}

// Launched by the number at the end of their names: out[block] += 3 or 13.
extern "C" __global__ __aicore__ void add_key_3(__gm__ uint32_t* out) { out[block_idx] = out[block_idx] + 3; }
extern "C" __global__ __aicore__ void add_key_13(__gm__ uint32_t* out) { out[block_idx] = out[block_idx] + 13; }
