// SPDX-License-Identifier: Apache-2.0
// What the steps of canopy-cc hand to each other about one kernel.
#pragma once

#include "foundation/image_file.h"

namespace canopy_cc {

using canopy::CoreType;

// `name` is what aclrtBinaryGetFunction looks for, `key` (__PRETTY_FUNCTION__) what a launch looks for.
struct KernelDescription : canopy::ImageKernel {
    unsigned line = 0;
};

}  // namespace canopy_cc
