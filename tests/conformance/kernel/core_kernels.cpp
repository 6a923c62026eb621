// SPDX-License-Identifier: Apache-2.0
// Kernels that call the device's services directly: cores, waits between them, failures and SIMT threads.
#include <canopy_kernel/target/qualifiers.h>
#include <canopy_kernel/target/target.h>

using namespace canopy::kernel;

#define KERNEL(...) extern "C" __global__ __VA_ARGS__ __aicore__ void

namespace {

uint32_t load(const uint32_t* word) { return __atomic_load_n(word, __ATOMIC_ACQUIRE); }
void store(uint32_t* word, uint32_t value) { __atomic_store_n(word, value, __ATOMIC_RELEASE); }
uint32_t add(uint32_t* word, uint32_t value) { return __atomic_fetch_add(word, value, __ATOMIC_ACQ_REL); }
void note(uint32_t* wrong, bool right) {
    if (!right) add(wrong, 1);
}
bool on_cube() { return current_block().core_type == CANOPY_CORE_CUBE; }

// out[0] is a count, followed by six words for each core
void identify(uint32_t* out) {
    uint32_t* row = out + 1 + 6 * add(out, 1);
    const CanopyBlock& block = current_block();
    row[0] = block.index;
    row[1] = block.count;
    row[2] = block.sub_index;
    row[3] = block.sub_count;
    row[4] = block.core_type;
    row[5] = block.core == nullptr;
}

}  // namespace

KERNEL(__mix__(1, 2)) identify_mix_1_2(uint32_t* out) { identify(out); }
KERNEL(__mix__(1, 1)) identify_mix_1_1(uint32_t* out) { identify(out); }
KERNEL(__mix__(1, 0)) identify_mix_1_0(uint32_t* out) { identify(out); }
KERNEL(__mix__(0, 1)) identify_mix_0_1(uint32_t* out) { identify(out); }
KERNEL(__cube__) identify_cube(uint32_t* out) { identify(out); }
KERNEL(__vector__) identify_vector(uint32_t* out) { identify(out); }

// ---- flags ---------------------------------------------------------------------------------------------------------

// The cube core passes a word to both vector cores and gets one back from each. words: three for each group.
KERNEL(__mix__(1, 2)) exchange(uint32_t* words, uint32_t* wrong, uint32_t rounds) {
    const CanopyBlock block = current_block();
    uint32_t* own = words + 3 * block.index;
    for (uint32_t round = 1; round <= rounds; ++round) {
        if (on_cube()) {
            own[2] = round;
            set_flag(2, 3);
            wait_flag(2, 5);
            note(wrong, own[0] == round && own[1] == round);
        } else {
            wait_flag(2, 3);
            note(wrong, own[2] == round);
            own[block.sub_index] = round;
            set_flag(2, 5);
        }
    }
}

// The same, with one vector core at a time.
KERNEL(__mix__(1, 2)) exchange_in_turn(uint32_t* words, uint32_t* wrong, uint32_t rounds) {
    const CanopyBlock block = current_block();
    uint32_t* word = words + block.index;
    for (uint32_t round = 0; round < rounds; ++round) {
        if (on_cube()) {
            *word = 10 * round;
            set_flag(4, 7);
            wait_flag(4, 9);
            note(wrong, *word == 10 * round + 1);
            set_flag(4, 16 + 7);
            wait_flag(4, 16 + 9);
            note(wrong, *word == 10 * round + 2);
        } else {
            wait_flag(4, 7);
            note(wrong, *word == 10 * round + block.sub_index);
            *word += 1;
            set_flag(4, 9);
        }
    }
}

// Flags among cores of one kind act as barriers: mode 0 for all of them, mode 1 for the vector cores of a group.
// counters: one for all cube cores, one for all vector cores, then one for each group.
KERNEL(__mix__(1, 2)) meet_by_flags(uint32_t* counters, uint32_t* wrong, uint32_t rounds) {
    const CanopyBlock block = current_block();
    uint32_t* all = counters + (on_cube() ? 0 : 1);
    const uint32_t cores = on_cube() ? block.count : 2 * block.count;
    uint32_t* group = counters + 2 + block.index;
    for (uint32_t round = 1; round <= rounds; ++round) {
        add(all, 1);
        set_flag(0, 1);
        wait_flag(0, 1);
        note(wrong, load(all) >= round * cores);
        if (on_cube()) continue;
        add(group, 1);
        set_flag(1, 2);
        wait_flag(1, 2);
        note(wrong, load(group) >= 2 * round);
    }
}

// A flag may be set before anyone waits for it.
KERNEL(__mix__(1, 1)) set_ahead(uint32_t* out, uint32_t times) {
    if (on_cube()) {
        for (uint32_t i = 0; i < times; ++i) set_flag(2, 0);
        return;
    }
    for (uint32_t i = 0; i < times; ++i) {
        wait_flag(2, 0);
        add(out, 1);
    }
}

// Sets a flag more often than its counter can hold while the other side waits for another flag.
KERNEL(__mix__(1, 1)) set_too_often() {
    if (on_cube())
        for (uint32_t i = 0; i < 16; ++i) set_flag(2, 0);
    wait_flag(0, 9);
}

KERNEL(__mix__(1, 2)) wait_in_vain(uint32_t waiting_group) {
    if (!on_cube() && current_block().index == waiting_group && current_block().sub_index == 1) wait_flag(2, 6);
}

KERNEL(__mix__(1, 2)) wait_for_each_other() { wait_flag(2, on_cube() ? 4 : 8); }

KERNEL(__vector__) wait_alone(uint32_t* out) {
    set_flag(0, 3);
    wait_flag(0, 3);
    *out = 1;
    wait_flag(0, 3);
    *out = 2;
}

KERNEL(__vector__) use_flag(uint32_t mode, uint32_t id) { set_flag(mode, id); }

// ---- barriers -------------------------------------------------------------------------------------------------------

// counters: all cores, all vector cores, all cube cores, then one for each group.
KERNEL(__mix__(1, 2)) meet_in_scopes(uint32_t* counters, uint32_t* wrong, uint32_t rounds) {
    const CanopyBlock block = current_block();
    for (uint32_t round = 1; round <= rounds; ++round) {
        add(&counters[0], 1);
        sync(CANOPY_SYNC_ALL);
        note(wrong, load(&counters[0]) >= round * 3 * block.count);
        if (on_cube()) {
            add(&counters[2], 1);
            sync(CANOPY_SYNC_CUBE);
            note(wrong, load(&counters[2]) >= round * block.count);
            continue;
        }
        add(&counters[1], 1);
        sync(CANOPY_SYNC_VECTOR);
        note(wrong, load(&counters[1]) >= round * 2 * block.count);
        add(&counters[3 + block.index], 1);
        sync(CANOPY_SYNC_PAIR);
        note(wrong, load(&counters[3 + block.index]) >= round * 2);
    }
}

// Every kind of wait in one loop; out counts the completed rounds of all cores.
KERNEL(__mix__(1, 2)) everything(uint32_t* out, uint32_t rounds) {
    for (uint32_t round = 0; round < rounds; ++round) {
        if (on_cube()) {
            set_flag(2, 1);
            wait_flag(2, 2);
            set_flag(4, 3);
            set_flag(4, 19);
        } else {
            wait_flag(2, 1);
            set_flag(2, 2);
            sync(CANOPY_SYNC_PAIR);
            wait_flag(4, 3);
        }
        add(out, 1);
        yield();
        if (round % 4 == 0) sync(CANOPY_SYNC_ALL);
    }
}

KERNEL(__mix__(1, 2)) meet_half(uint32_t scope) {
    const CanopyBlock block = current_block();
    if (!on_cube() && block.sub_index == 0) sync(static_cast<CanopySyncScope>(scope));
}

KERNEL(__mix__(1, 2)) meet_as_cube(uint32_t scope) {
    if (on_cube()) sync(static_cast<CanopySyncScope>(scope));
}

// Every block adds one and polls until all have done so.
KERNEL(__vector__) meet_by_polling(uint32_t* arrived) {
    add(arrived, 1);
    while (load(arrived) < current_block().count) yield();
}

// Blocks pass on a word, starting with the last block.
KERNEL(__vector__) pass_on_by_polling(uint32_t* word) {
    const CanopyBlock block = current_block();
    while (load(word) != block.count - 1 - block.index) yield();
    add(word, 1);
}

KERNEL(__vector__) poll_until_set(uint32_t* started, const uint32_t* word) {
    add(started, 1);
    while (load(word) == 0) yield();
}

KERNEL(__vector__) set_word(uint32_t* word) { store(word, 1); }

// ---- cores ---------------------------------------------------------------------------------------------------------

// out: for each memory its size, whether it lies below 4 GiB and the alignment of its base; then whether the registers
// that are cleared for each block were zero. Leaves those registers nonzero.
KERNEL(__vector__) look_at_core(uint32_t* out) {
    CanopyCore& own = core();
    for (int i = 0; i < CANOPY_MEMORY_COUNT; ++i) {
        const auto base = reinterpret_cast<uint64_t>(own.memory[i].base);
        out[3 * i] = own.memory[i].size;
        out[3 * i + 1] = base != 0 && base + own.memory[i].size <= 0x100000000ull;
        out[3 * i + 2] = static_cast<uint32_t>(base & -base);
    }
    uint32_t zero = 1;
    for (uint32_t i = 0; i < CANOPY_CORE_CLEARED; ++i)
        if (own.registers[i] != 0) zero = 0;
    // Skips the first word, which would be called at the end of the block.
    for (uint32_t i = sizeof(void*); i < CANOPY_CORE_CLEARED; ++i) own.registers[i] = 0xA5;
    out[3 * CANOPY_MEMORY_COUNT] = zero;
    out[3 * CANOPY_MEMORY_COUNT + 1] = &core() == &own;
}

// Fills every byte of every memory and keeps the core across a wait.
KERNEL(__vector__) fill_core(uint32_t* wrong) {
    CanopyCore* own = &core();
    const unsigned char value = static_cast<unsigned char>(current_block().index + 1);
    for (auto& memory : own->memory)
        for (uint32_t i = 0; i < memory.size; ++i) memory.base[i] = value;
    sync(CANOPY_SYNC_ALL);
    note(wrong, &core() == own);
    for (auto& memory : own->memory)
        for (uint32_t i = 0; i < memory.size; ++i)
            if (memory.base[i] != value) return note(wrong, false);
}

KERNEL(__vector__) touch_beside(uint32_t memory, int64_t offset, uint32_t in_block) {
    if (current_block().index != in_block) return;
    *static_cast<volatile unsigned char*>(core().memory[memory].base + offset) = 1;
}

// ---- failures ------------------------------------------------------------------------------------------------------

KERNEL(__vector__) fail_in_block(uint32_t in_block, uint32_t length) {
    if (current_block().index != in_block) return sync(CANOPY_SYNC_ALL);
    const char text[] = "somewhere.cpp:12: the queue is empty";
    if (length == 0) fail(text, sizeof text - 1);
    // Static, since nobody would free heap memory.
    static char longer[100000];
    __builtin_memset(longer, 'x', length);
    fail(longer, length);
}

KERNEL(__mix__(1, 2)) fail_on_second_vector_core() {
    const CanopyBlock& block = current_block();
    if (!on_cube() && block.index == 1 && block.sub_index == 1) fail("no", 2);
}

// ---- products ------------------------------------------------------------------------------------------------------

KERNEL(__vector__) product(const float* a, const float* b, float* c, int64_t m, int64_t n, int64_t k) {
    CanopyProduct product = {};
    product.a = a;
    product.b = b;
    product.c = c;
    product.m = m;
    product.n = n;
    product.k = k;
    product.a_row_stride = k;
    product.b_row_stride = n;
    product.c_row_stride = n;
    product.a_column_stride = product.b_column_stride = product.c_column_stride = 1;
    multiply(product);
}

// ---- SIMT threads --------------------------------------------------------------------------------------------------

namespace {

struct Sum {
    const uint32_t* in;
    uint32_t* out;
    uint32_t* shared;
    uint32_t count;
    uint32_t steps;
};

// Each thread computes its element without ever waiting.
void sum_alone(void* data) {
    const Sum& sum = *static_cast<Sum*>(data);
    const uint32_t thread = current_thread();
    sum.out[thread] = sum.in[thread] * 2 + thread;
}

// A tree reduction over shared memory; all threads synchronise after every step.
void sum_in_a_tree(void* data) {
    const Sum& sum = *static_cast<Sum*>(data);
    const uint32_t thread = current_thread();
    sum.shared[thread] = sum.in[thread];
    thread_barrier(0, sum.count);
    for (uint32_t step = sum.count / 2; step > 0; step /= 2) {
        if (thread < step) sum.shared[thread] += sum.shared[thread + step];
        thread_barrier(0, sum.count);
    }
    if (thread == 0) *sum.out = sum.shared[0];
}

// Warps of 32 threads rotate values among themselves, then all threads synchronise.
void rotate_in_warps(void* data) {
    const Sum& sum = *static_cast<Sum*>(data);
    const uint32_t thread = current_thread(), first = thread / 32 * 32;
    const uint32_t size = sum.count - first < 32 ? sum.count - first : 32;
    uint32_t value = sum.in[thread];
    for (uint32_t step = 0; step < sum.steps; ++step) {
        sum.shared[thread] = value;
        thread_barrier(first, size);
        value = sum.shared[first + (thread - first + 1) % size];
        thread_barrier(first, size);
    }
    thread_barrier(0, sum.count);
    sum.out[thread] = value;
}

void meet_and_leave_one_out(void* data) {
    const Sum& sum = *static_cast<Sum*>(data);
    // The excluded thread waits for its neighbour, which waits for it.
    if (current_thread() != sum.steps)
        thread_barrier(0, sum.count);
    else
        thread_barrier(current_thread() / 2 * 2, 2);
}

void fail_in_thread(void* data) {
    const Sum& sum = *static_cast<Sum*>(data);
    if (current_thread() == sum.steps) fail("thread gives up", 15);
    thread_barrier(0, sum.count);
}

void touch_null_in_thread(void* data) {
    const Sum& sum = *static_cast<Sum*>(data);
    if (current_thread() == sum.steps) *static_cast<volatile uint32_t*>(nullptr) = 1;
    thread_barrier(0, sum.count);
}

void spin_in_thread(void* data) {
    const Sum& sum = *static_cast<Sum*>(data);
    if (current_thread() == sum.steps)
        for (;;) asm volatile("");
    thread_barrier(0, sum.count);
}

// Threads take turns by polling, starting with the last one.
void poll_in_turn(void* data) {
    const Sum& sum = *static_cast<Sum*>(data);
    while (load(sum.out) != sum.count - 1 - current_thread()) yield();
    add(sum.out, 1);
}

void sync_in_thread(void*) { sync(CANOPY_SYNC_ALL); }
void nest(void* data) { run_threads(&sum_alone, data, 1); }
void meet_strangers(void* data) { thread_barrier(static_cast<Sum*>(data)->count, 2); }

using Body = void (*)(void*);
constexpr Body bodies[] = {sum_alone,       sum_in_a_tree,
                           rotate_in_warps, meet_and_leave_one_out,
                           fail_in_thread,  touch_null_in_thread,
                           spin_in_thread,  poll_in_turn,
                           sync_in_thread,  nest,
                           meet_strangers};

}  // namespace

// Runs one of the bodies as threads in every block; each block has `stride` words of each array to itself.
KERNEL(__vector__)
threads(uint32_t body, uint32_t count, uint32_t steps, const uint32_t* in, uint32_t* out, uint32_t stride) {
    const uint32_t at = current_block().index * stride;
    auto* shared = reinterpret_cast<uint32_t*>(core().memory[CANOPY_MEMORY_UB].base);
    Sum sum = {in + at, out + at, shared, count, steps};
    run_threads(bodies[body], &sum, count);
}
