// SPDX-License-Identifier: Apache-2.0
// The description of one kernel that the steps of canopy-cc pass on.
#pragma once

#include "foundation/image_file.h"

namespace canopy_cc {

using canopy::CoreType;

// aclrtBinaryGetFunction looks up `name`; a launch looks up `key` (__PRETTY_FUNCTION__).
struct KernelDescription : canopy::ImageKernel {
    unsigned line = 0;
};

}  // namespace canopy_cc
