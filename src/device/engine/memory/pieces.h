// SPDX-License-Identifier: Apache-2.0
// MemoryPieces: a large copy or fill, cut into pieces that any threads run in any order.
//
// Threads: `run` may be called by any thread, for different pieces at the same time.
#pragma once

#include <cstdint>

#include "device/command.h"
#include "device/execution/tuning.h"

namespace canopy {

// True for copies and fills that are worth more than one thread.
[[nodiscard]] inline bool is_large(const Command& command) noexcept {
    if (command.opcode == Opcode::copy) return command.copy.width * command.copy.height >= tuning::large_copy;
    return command.opcode == Opcode::fill && command.fill.count * command.fill.element_size >= tuning::large_fill;
}

class MemoryPieces {
public:
    // False if the pieces would depend on each other: the source of one may be the destination of another.
    [[nodiscard]] static bool divides(const Command& command) noexcept;

    MemoryPieces() noexcept = default;
    // A copy or fill that divides.
    explicit MemoryPieces(const Command& command) noexcept;

    [[nodiscard]] std::uint32_t count() const noexcept { return count_; }
    // Touches memory of the program.
    void run(std::uint32_t piece) const noexcept;

private:
    void copy(std::uint64_t begin, std::uint64_t end) const noexcept;

    char* to_ = nullptr;
    const char* from_ = nullptr;  // nullptr: a fill
    std::uint64_t size_ = 0;
    std::uint64_t width_ = 0;  // of a row
    std::uint64_t to_pitch_ = 0, from_pitch_ = 0;
    std::uint32_t pattern_ = 0;
    std::uint32_t before_ = 0;  // bytes by which the first piece is shorter, so that the others begin with a page
    std::uint32_t count_ = 0;
    bool past_caches_ = false;
};

}  // namespace canopy
