// SPDX-License-Identifier: Apache-2.0
// Writes the image file that canopy/kernel_image.h describes.
#pragma once

#include <canopy/kernel_image.h>

#include <string>

#include "foundation/image_file.h"

namespace canopy {

// Returns the bytes of the file. kernel_abi 0 means the current one.
std::string write_image(const ImageFile& image, std::uint32_t format_version = CANOPY_IMAGE_FORMAT_VERSION);

}  // namespace canopy
