// SPDX-License-Identifier: Apache-2.0
// Formats of tensors, for kernels and host code.
#ifndef CANOPY_KERNEL_TILING_DATA_FORMAT_H
#define CANOPY_KERNEL_TILING_DATA_FORMAT_H

#include <stdint.h>

namespace AscendC {

enum class DataFormat : uint8_t {
    ND = 0,
    NZ,
    NCHW,
    NC1HWC0,
    NHWC,
    NCDHW,
    NDC1HWC0,
    FRACTAL_Z_3D,
};

}  // namespace AscendC

#endif
