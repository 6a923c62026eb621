// SPDX-License-Identifier: Apache-2.0
// The parameters of the runtime's own kernels (kernels.cpp), each passed as one structure. Addresses are
// numbers here, because the host must not follow them. Compiled by canopy-cc too.
#pragma once

#include <cstdint>

namespace canopy {

// ---- reductions ----------------------------------------------------------------------------------------------------

enum class ReduceOperation : std::uint8_t { sum, maximum, minimum, equal };
enum class ElementType : std::uint8_t { int8, int16, int32, float16, float32, bfloat16 };

// destination = destination (operation) source, element by element, in ascending order.
struct Reduction {
    std::uint64_t destination = 0, source = 0;  // addresses
    std::uint64_t count = 0;                    // elements
    ReduceOperation operation = ReduceOperation::sum;
    ElementType type = ElementType::int8;
};

// ---- random numbers ------------------------------------------------------------------------------------------------

enum class RandomFunction : std::uint8_t { dropout_mask, uniform, normal, truncated_normal };
enum class RandomType : std::uint8_t { float32, float16, bfloat16, int32, uint32, int64, uint64 };

// A value stored in the task, or read from device memory when the task runs.
struct RandomParameter {
    bool in_memory = false;
    std::uint8_t size = 0;
    std::uint64_t value_or_address = 0;
};

struct RandomTask {
    RandomFunction function = RandomFunction::uniform;
    RandomType type = RandomType::float32;
    RandomParameter first, second;  // fraction of ones; minimum, maximum; mean, deviation
    RandomParameter seed, count;
    std::uint64_t result = 0;    // address
    std::uint64_t capacity = 0;  // bytes that may be written at `result`
    std::uint64_t counter = 0;   // address of 16 bytes, not aligned
};

constexpr bool is_float(RandomType type) { return type <= RandomType::bfloat16; }

constexpr std::uint64_t size_of(RandomType type) {
    switch (type) {
        case RandomType::float16:
        case RandomType::bfloat16:
            return 2;
        case RandomType::int64:
        case RandomType::uint64:
            return 8;
        default:
            return 4;
    }
}

// Size of the result in bytes: numbers, or mask bits rounded up to bytes. UINT64_MAX on overflow.
constexpr std::uint64_t result_size(const RandomTask& task, std::uint64_t count) {
    if (task.function == RandomFunction::dropout_mask) return count / 8 + (count % 8 != 0 ? 1 : 0);
    std::uint64_t bytes = 0;
    return __builtin_mul_overflow(count, size_of(task.type), &bytes) ? UINT64_MAX : bytes;
}

// ---- copies behind pointers ----------------------------------------------------------------------------------------

// Copies `count` bytes to *destination_slot + destination_offset; the slots are read when the kernel runs.
struct SlotCopy {
    std::uint64_t destination_slot = 0;  // address of a pointer
    std::uint64_t destination_offset = 0;
    std::uint64_t source_slot = 0;
    std::uint64_t source_offset = 0;
    std::uint64_t count = 0;
};

}  // namespace canopy
