// SPDX-License-Identifier: Apache-2.0
// Kernel images as devices load them: an image file (foundation/image_file.h) plus the lists of its fused kernels.
//
// Threads: plain values, no shared state.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "base/result.h"
#include "device/fused_list.h"
#include "foundation/image_file.h"

namespace canopy {

struct Image : ImageFile {
    std::span<const std::byte> bytes;  // the whole file
    std::vector<FusedList> fused;      // the kernels of an image without targets, as lists of steps from its parts
};

// Fails with 107000 and the reason. The spans of the image point into `file`.
Result<Image> read_image(std::span<const std::byte> file);

}  // namespace canopy
