// SPDX-License-Identifier: Apache-2.0
// Writes an image of fused kernels. The description is the JSON that canopy/kernel_image.h shows for the FUSION note,
// plus a member "images" (the paths of the image files, which the part numbers index) and, in each kernel, "cube" and
// "vector" (the cores of one of its blocks).
#pragma once

#include "options/options.h"

namespace canopy_cc {

// Returns the exit status; prints an error if the description does not match the images.
int fuse_images(const Options& options);

}  // namespace canopy_cc
