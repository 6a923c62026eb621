// SPDX-License-Identifier: Apache-2.0
// Writes an image of fused kernels. The description is the JSON that canopy/kernel_image.h shows for the FUSION note,
// with one more member, "images": the paths of the image files that the numbers of parts count, and in each kernel
// "cube" and "vector", the cores of one of its blocks.
#pragma once

#include "options/options.h"

namespace canopy_cc {

// Returns the exit status; complains about a description that fits no images.
int fuse_images(const Options& options);

}  // namespace canopy_cc
