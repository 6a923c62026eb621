// SPDX-License-Identifier: Apache-2.0
// Kernels for CPU cores, both well behaved and faulty. Built twice, giving two shared objects that export the same
// names and differ in the value `variant` writes.
#include <canopy/kernel_abi.h>
#include <sched.h>

#include <atomic>
#include <cstdint>
#include <cstring>
#include <stdexcept>

extern "C" {

const CanopyServices* canopy_image_services = nullptr;

struct WriteArguments {
    std::uint64_t* to;
    std::uint64_t value;
};
std::uint32_t write_value(void* arguments) {
    const auto* given = static_cast<const WriteArguments*>(arguments);
    *given->to = given->value;
    return 0;
}
std::uint32_t add_value(void* arguments) {
    const auto* given = static_cast<const WriteArguments*>(arguments);
    *given->to += given->value;
    return 0;
}

std::uint32_t variant(void* arguments) {
    *static_cast<const WriteArguments*>(arguments)->to = CPU_IMAGE_VARIANT;
    return 0;
}

// Writes how often it has been called on its device.
std::uint32_t count_calls(void* arguments) {
    static std::atomic<std::uint64_t> calls{0};
    *static_cast<const WriteArguments*>(arguments)->to = ++calls;
    return 0;
}

std::uint32_t return_value(void* arguments) {
    std::uint32_t value;
    std::memcpy(&value, arguments, sizeof value);
    return value;
}

// {to, a, b}: writes the values that a and b point to, and their distances from the argument block
std::uint32_t follow_pointers(void* arguments) {
    std::uint64_t words[3];
    std::memcpy(words, arguments, sizeof words);
    auto* to = reinterpret_cast<std::uint64_t*>(words[0]);
    for (int i = 0; i < 2; ++i) {
        std::memcpy(&to[i], reinterpret_cast<const void*>(words[1 + i]), sizeof to[i]);
        to[2 + i] = words[1 + i] - reinterpret_cast<std::uintptr_t>(arguments);
    }
    return 0;
}

// Arguments: a byte, a 32-bit number and an address, packed. Writes the sum.
std::uint32_t packed_sum(void* arguments) {
    const auto* bytes = static_cast<const char*>(arguments);
    std::uint32_t number;
    std::uint64_t address;
    std::memcpy(&number, bytes + 1, sizeof number);
    std::memcpy(&address, bytes + 5, sizeof address);
    *reinterpret_cast<std::uint64_t*>(address) = static_cast<unsigned char>(bytes[0]) + std::uint64_t{number};
    return 0;
}

struct MeetArguments {
    std::uint64_t* arrived;
    std::uint64_t* seen;  // one for each block
};
static void meet(void* arguments, std::uint32_t index, std::uint32_t count) {
    const auto* given = static_cast<const MeetArguments*>(arguments);
    std::atomic_ref(given->seen[index]).fetch_add(1);
    std::atomic_ref(*given->arrived).fetch_add(1);
    while (std::atomic_ref(*given->arrived).load() < count) sched_yield();
}
struct BlockOfCpu {
    std::uint32_t count, index;
};
std::uint32_t RunCpuKernelWithBlock(void* arguments, BlockOfCpu* block) {
    meet(arguments, block->index, block->count);
    return 0;
}
std::uint32_t meet_others(void* arguments) {
    const CanopyBlock* block = canopy_image_services->current_block();
    meet(arguments, block->index, block->count);
    return 0;
}

// Block 2 returns 77.
std::uint32_t fail_in_block_2(void*) { return canopy_image_services->current_block()->index == 2 ? 77 : 0; }

// {address}: waits until the 32-bit word there is not 0
std::uint32_t wait_for_word(void* arguments) {
    std::uint64_t address;
    std::memcpy(&address, arguments, sizeof address);
    while (std::atomic_ref(*reinterpret_cast<std::uint32_t*>(address)).load() == 0) sched_yield();
    return 0;
}

std::uint32_t throw_exception(void*) { throw std::runtime_error("out of cheese"); }
std::uint32_t trap(void*) { __builtin_trap(); }
std::uint32_t never_end(void*) {
    volatile std::uint64_t count = 0;
    for (;;) count = count + 1;
}

int not_a_function = 7;
}
