// SPDX-License-Identifier: Apache-2.0
// Plain values: address ranges, and how much memory is in use.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/device_address.h"

namespace canopy {

// Memory of this process.
struct MemoryRange {
    void* base = nullptr;
    std::size_t size = 0;
};

// Memory of a device, or any memory.
struct DeviceRange {
    DeviceAddress base{};
    std::size_t size = 0;

    [[nodiscard]] constexpr bool contains(DeviceAddress address) const noexcept { return address - base < size; }
    // Bytes from an address inside to the end.
    [[nodiscard]] constexpr std::size_t bytes_from(DeviceAddress address) const noexcept {
        return size - (address - base);
    }
};

inline DeviceRange device_range(const MemoryRange& range) noexcept { return {device_address(range.base), range.size}; }

struct MemoryUsage {
    std::uint64_t total = 0;
    std::uint64_t free = 0;
    std::uint64_t peak = 0;
    std::uint64_t allocations = 0;
};

}  // namespace canopy
