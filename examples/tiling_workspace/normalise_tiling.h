// SPDX-License-Identifier: Apache-2.0
// The tiling data, computed by the host and read by the kernel. Both include this file.
#pragma once

#include <cstdint>

struct NormaliseTiling {
    uint32_t count;  // elements of the whole vector
    uint32_t part;   // elements of one block
    uint32_t tile;   // elements that are in local memory at a time
};

constexpr uint32_t SLOT = 8;  // floats of the workspace that each block has: 32 bytes, the unit of copies
