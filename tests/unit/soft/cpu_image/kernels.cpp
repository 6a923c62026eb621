// SPDX-License-Identifier: Apache-2.0
// Kernels for CPU cores, both well behaved and faulty. Built twice with different values of CPU_IMAGE_VARIANT, giving
// two shared objects that export the same names.
#include <canopy/kernel_abi.h>
#include <sched.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <stdexcept>
#include <string>
#include <vector>

// The compiler makes these unique in the process; each image must still have its own.
inline std::atomic<std::uint64_t> calls_of_image{0};
template <class T>
struct Counter {
    static inline std::atomic<std::uint64_t> calls{0};
};

int some_data = 7;

extern "C" void __lsan_disable() __attribute__((weak));

namespace {

// Memory held by a kernel that is stopped is never freed; keep the leak checker from reporting it.
void expect_leaks() {
    if (__lsan_disable) __lsan_disable();
}

std::uint32_t recurse(volatile char* above, std::uint64_t depth) {
    volatile char here[4096];
    here[0] = above ? above[0] : '\0';
    if (depth == 0) return static_cast<std::uint32_t>(here[0]);
    return recurse(here, depth - 1) + static_cast<std::uint32_t>(here[0]);
}

void spin() { __asm__ volatile("" ::: "memory"); }

template <class T>
std::atomic_ref<T> at(std::uint64_t address) {
    return std::atomic_ref<T>(*reinterpret_cast<T*>(address));
}

}  // namespace

extern "C" {

const CanopyServices* canopy_image_services = nullptr;

std::uint32_t empty(void*) { return 0; }

std::uint32_t return_value(void* arguments) { return *static_cast<const std::uint32_t*>(arguments); }

// {address}: writes which image this is and how often it has been called
std::uint32_t identify(void* arguments) {
    std::uint64_t address;
    std::memcpy(&address, arguments, sizeof address);
    at<std::uint64_t>(address).store(CPU_IMAGE_VARIANT, std::memory_order_release);
    at<std::uint64_t>(address + 8).store(calls_of_image.fetch_add(1) + 1, std::memory_order_release);
    at<std::uint64_t>(address + 16).store(Counter<int>::calls.fetch_add(1) + 1, std::memory_order_release);
    return 0;
}

struct Meeting {
    std::uint64_t arrived;  // address of a 64-bit counter
    std::uint64_t seen;     // address of one 64-bit counter for each block
    std::uint64_t rounds;
};

// Every block meets all others, several times.
static void meet(const Meeting& meeting, std::uint32_t index, std::uint32_t count) {
    at<std::uint64_t>(meeting.seen + 8 * index).fetch_add(1);
    for (std::uint64_t round = 1; round <= meeting.rounds; ++round) {
        at<std::uint64_t>(meeting.arrived).fetch_add(1);
        while (at<std::uint64_t>(meeting.arrived).load() < round * count) sched_yield();
    }
}

struct BlockOfCpu {
    std::uint32_t count, index;
};
std::uint32_t RunCpuKernelWithBlock(void* arguments, BlockOfCpu* block) {
    meet(*static_cast<const Meeting*>(arguments), block->index, block->count);
    return 0;
}
std::uint32_t meet_others(void* arguments) {
    const CanopyBlock* block = canopy_image_services->current_block();
    meet(*static_cast<const Meeting*>(arguments), block->index, block->count);
    return 0;
}

// {address of a word}: waits until it is not 0, then adds 1
std::uint32_t wait_for_word(void* arguments) {
    std::uint64_t address;
    std::memcpy(&address, arguments, sizeof address);
    while (at<std::uint64_t>(address).load(std::memory_order_acquire) == 0) {
    }
    at<std::uint64_t>(address).fetch_add(1);
    return 0;
}

struct Tasks {
    std::uint64_t ready;  // address: one word per worker, the number of the task to do
    std::uint64_t done;   // address: one word per worker, the number of the last task done
    std::uint64_t workers;
    std::uint64_t tasks;  // per worker
};
// Hands tasks to workers through memory; each block serves its share of the workers.
std::uint32_t hand_out(void* arguments) {
    const Tasks tasks = *static_cast<const Tasks*>(arguments);
    const CanopyBlock* block = canopy_image_services->current_block();
    for (std::uint64_t task = 1; task <= tasks.tasks; ++task) {
        for (std::uint64_t worker = block->index; worker < tasks.workers; worker += block->count)
            at<std::uint64_t>(tasks.ready + 8 * worker).store(task, std::memory_order_release);
        for (std::uint64_t worker = block->index; worker < tasks.workers; worker += block->count)
            while (at<std::uint64_t>(tasks.done + 8 * worker).load(std::memory_order_acquire) != task) sched_yield();
    }
    return 0;
}

// {address of a word for each block}: writes the number of processors the block may run on
std::uint32_t tell_processors(void* arguments) {
    std::uint64_t address;
    std::memcpy(&address, arguments, sizeof address);
    cpu_set_t allowed;
    CPU_ZERO(&allowed);
    sched_getaffinity(0, sizeof allowed, &allowed);
    const std::uint64_t place = address + 8 * canopy_image_services->current_block()->index;
    at<std::uint64_t>(place).store(static_cast<std::uint64_t>(CPU_COUNT(&allowed)));
    return 0;
}

// {address of a word, how it ends}: registers three launch-end callbacks, then ends: 0 normally, 1 by a trap, 2 never.
// Each block registers its own.
struct Ending {
    std::uint64_t ended;
    std::uint64_t how;
};
static void count_end(void* word) { at<std::uint64_t>(reinterpret_cast<std::uint64_t>(word)).fetch_add(1); }
std::uint32_t tell_end(void* arguments) {
    const Ending ending = *static_cast<const Ending*>(arguments);
    for (int times = 0; times < 3; ++times)
        if (canopy_image_services->at_launch_end(&count_end, reinterpret_cast<void*>(ending.ended)) == 0) return 1;
    if (at<std::uint64_t>(ending.ended).load() != 0) return 2;  // too early
    if (ending.how == 1) __builtin_trap();
    while (ending.how == 2) spin();
    return 0;
}

std::uint32_t throw_exception(void*) { throw std::runtime_error("out of cheese"); }
std::uint32_t throw_number(void*) { throw 42; }
std::uint32_t throw_where_none_may(void* arguments) noexcept {
    expect_leaks();
    return throw_exception(arguments);
}
std::uint32_t call_abort(void*) { std::abort(); }
std::uint32_t trap(void*) { __builtin_trap(); }
std::uint32_t write_to(void* arguments) {
    std::uint64_t address;
    std::memcpy(&address, arguments, sizeof address);
    *reinterpret_cast<volatile char*>(address) = 1;
    return 0;
}
std::uint32_t divide(void* arguments) {
    volatile std::uint32_t zero = *static_cast<const std::uint32_t*>(arguments);
    return 1000 / zero;
}
std::uint32_t run_off_stack(void*) { return recurse(nullptr, UINT64_MAX); }
std::uint32_t use_stack(void*) { return recurse(nullptr, 7 * 1024 / 4 - 16) & 0; }
std::uint32_t never_end(void*) {
    for (;;) spin();
}
std::uint32_t sleep_for_ever(void*) {
    for (;;) usleep(1000);
}
std::uint32_t allocate_for_ever(void*) {
    expect_leaks();
    for (std::uint64_t i = 0;; ++i) {
        std::vector<std::string> texts(8);
        for (std::string& text : texts) text.assign(100 + i % 1000, 'x');
        if (texts[7].empty()) return 1;
    }
}
// Block 1 fails; the others wait forever.
std::uint32_t leave_others_alone(void*) {
    if (canopy_image_services->current_block()->index == 1) __builtin_trap();
    for (;;) spin();
}
std::uint32_t fail_in_block_2(void*) { return canopy_image_services->current_block()->index == 2 ? 77 : 0; }
std::uint32_t end_process(void*) { _exit(3); }
}
