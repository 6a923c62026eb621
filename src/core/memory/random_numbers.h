// SPDX-License-Identifier: Apache-2.0
// Random numbers generated in stream order. The generator is Philox4x32-10: a key (the seed) and a 128-bit counter in
// device memory, which each task advances by what it used; the same seed and counter give the same numbers. Any thread;
// the work runs on the thread that drains the stream.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "base/result.h"
#include "core/base/handles.h"
#include "device/command.h"

namespace canopy {

// Blocks of four 32-bit numbers, one per counter value.
class Philox {
public:
    Philox(std::uint64_t seed, std::array<std::uint64_t, 2> counter) noexcept : key_(seed), counter_(counter) {}
    // The next number; advances the counter at the start of each block.
    std::uint32_t next() noexcept;
    // The first unused counter value.
    [[nodiscard]] std::array<std::uint64_t, 2> counter() const noexcept { return counter_; }

private:
    void make_block() noexcept;
    std::uint64_t key_;
    std::array<std::uint64_t, 2> counter_;
    std::array<std::uint32_t, 4> block_{};
    unsigned used_ = 4;
};

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
    void* result = nullptr;
    void* counter = nullptr;  // 16 bytes
};

[[nodiscard]] std::size_t size_of(RandomType type) noexcept;
// Size of the result in bytes: numbers, or mask bits rounded up to bytes. SIZE_MAX on overflow.
[[nodiscard]] std::size_t result_size(const RandomTask& task, std::uint64_t count) noexcept;
// A command for the task; 107000 if the task is invalid. A later failure is reported to `stream`.
Result<Command> random_command(const RandomTask& task, Handle stream);
[[nodiscard]] bool is_random(const Command& command) noexcept;
// Checks what is known now and submits the task to the stream.
Status submit_random(const RandomTask& task, const void* stream);

}  // namespace canopy
