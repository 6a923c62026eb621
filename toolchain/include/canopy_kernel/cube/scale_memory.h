// SPDX-License-Identifier: Apache-2.0
// Memories of a cube core that programs reach only through instructions: the scales beside L0A and L0B, and the index
// of a sparse matrix beside L0B. Cube cores of the chips have no unified buffer, so the end of the one that every block
// has here holds them.
#ifndef CANOPY_KERNEL_SCALE_MEMORY_H
#define CANOPY_KERNEL_SCALE_MEMORY_H

#include "canopy_kernel/core/core.h"

namespace canopy::kernel {

// The scale of the data at byte i of L0A or L0B is at byte i / 16.
inline constexpr uint32_t data_per_scale = 16;
inline constexpr uint32_t scale_memory_size = AscendC::TOTAL_L0A_SIZE / data_per_scale;

inline unsigned char* scale_memory(Hardware of) {
    return memory_base(Hardware::UB) + memory_size(Hardware::UB) - (of == Hardware::L0A ? 2 : 1) * scale_memory_size;
}
// The scales that belong to data in L0A or L0B.
inline unsigned char* scales_of(const void* data, Hardware of) {
    return scale_memory(of) + (static_cast<const unsigned char*>(data) - memory_base(of)) / data_per_scale;
}

// Two bits for each byte of L0B.
inline constexpr uint32_t data_per_index = 4;

inline unsigned char* sparse_index_of(const void* data) {
    return memory_base(Hardware::UB) + memory_size(Hardware::UB) - AscendC::TOTAL_L0B_SIZE / data_per_index +
           (static_cast<const unsigned char*>(data) - memory_base(Hardware::L0B)) / data_per_index;
}

}  // namespace canopy::kernel

#endif
