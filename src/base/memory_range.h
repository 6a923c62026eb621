// SPDX-License-Identifier: Apache-2.0
// Plain values: an address range, and how much memory is in use.
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
