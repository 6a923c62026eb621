// SPDX-License-Identifier: Apache-2.0
// What the kernels of cpu_image.cpp take, and the object as the topics load it.
#pragma once

#include <cstdint>

namespace bench {

struct Meeting {
    std::uint64_t* arrived;  // blocks so far, of all launches
    std::uint64_t blocks;    // of each
};

// The first variant adds 1 to the mark, the second 256: a task that ran once has one of the two.
struct MarkedTask {
    std::uint32_t* marks;
    std::uint64_t index;
};
inline constexpr std::uint32_t first_variant = 1, second_variant = 256;

}  // namespace bench
