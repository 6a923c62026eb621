// SPDX-License-Identifier: Apache-2.0
// The argument block of programs with their own dispatcher: at offset 40 it points to device arguments, which hold an
// image, its length and the device at 96, 104 and 112. A program that brings both a dispatcher and a runtime stores the
// dispatcher there, and the runtime's image and length at 120 and 128.
//
// Threads: plain reads.
#pragma once

#include <cstdint>
#include <cstring>

namespace canopy::dispatcher {

struct KnownLayout {
    std::uint64_t image = 0, length = 0, device = 0;
    std::uint64_t inner_image = 0, inner_length = 0;  // read only on request

    // False if there are no device arguments.
    static bool read(const void* arguments, bool with_inner, KnownLayout& layout) noexcept {
        constexpr std::size_t at_pointer = 40, at_image = 96, at_inner = 120;
        if (!arguments) return false;
        const std::byte* block = nullptr;
        std::memcpy(&block, static_cast<const std::byte*>(arguments) + at_pointer, sizeof block);
        if (!block) return false;
        std::memcpy(&layout.image, block + at_image, 3 * sizeof(std::uint64_t));
        if (with_inner) std::memcpy(&layout.inner_image, block + at_inner, 2 * sizeof(std::uint64_t));
        return true;
    }
};

}  // namespace canopy::dispatcher
