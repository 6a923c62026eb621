// SPDX-License-Identifier: Apache-2.0
// What an argument block says about memory: the words in it that are addresses in live allocations of the device. A
// number that happens to be such an address looks like one. Any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "device/device.h"

namespace canopy {

struct PointedBuffer {
    std::uint32_t argument_index = 0;  // of the parameter that holds the address
    std::uint32_t offset = 0;          // of the address in the argument block
    DeviceAddress address{};
    DeviceRange allocation;
    std::int32_t data_type = 0;  // of dump files, from the parameter's type in C++; 0: unknown

    // From the address to the end of the allocation.
    [[nodiscard]] std::uint64_t size() const noexcept { return allocation.bytes_from(address); }
};

std::vector<PointedBuffer> pointed_buffers(const KernelInfo& kernel, std::span<const std::byte> block,
                                           const Device& device);

// The word at an offset of a multiple of 8.
std::uint64_t argument_word(std::span<const std::byte> block, std::size_t offset) noexcept;

}  // namespace canopy
