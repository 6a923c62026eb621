// SPDX-License-Identifier: Apache-2.0
// Kernel images as devices load them: the file of foundation/image_file.h, with the lists of its fused kernels.
//
// Threads: values without hidden state.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "base/result.h"
#include "device/fused_list.h"
#include "foundation/image_file.h"

namespace canopy {

struct Image : ImageFile {
    std::vector<FusedList> fused;  // what the kernels of an image without targets do with its parts
};

// Refuses with 107000 and the reason. The spans of the image point into `file`.
Result<Image> read_image(std::span<const std::byte> file);

}  // namespace canopy
