// SPDX-License-Identifier: Apache-2.0
// The arguments of the kernels in cpu_image.cpp, and the shared object as the topics load it.
#pragma once

#include <cstdint>

namespace bench {

struct Meeting {
    std::uint64_t* arrived;  // blocks of all launches so far
    std::uint64_t blocks;    // per launch
};

// The first variant adds 1 to the mark, the second 256: a task that ran exactly once has one of these values.
struct MarkedTask {
    std::uint32_t* marks;
    std::uint64_t index;
};
inline constexpr std::uint32_t first_variant = 1, second_variant = 256;

}  // namespace bench
