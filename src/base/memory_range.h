// SPDX-License-Identifier: Apache-2.0
// Two facts about memory: the address range of a piece, and how much is in use.
// Plain values.
#pragma once

#include <cstddef>
#include <cstdint>

namespace canopy {

struct MemoryRange {
    void* base = nullptr;
    std::size_t size = 0;
};

struct MemoryUsage {
    std::uint64_t total = 0;
    std::uint64_t free = 0;
    std::uint64_t peak = 0;
    std::uint64_t allocations = 0;
};

}  // namespace canopy
