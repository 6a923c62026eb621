// SPDX-License-Identifier: Apache-2.0
// Takes the place of the header of this name: here the checking variant is on, and what kernels tell goes to the
// recorder of recorder.h.
#ifndef CANOPY_KERNEL_TARGET_CHECKING_H
#define CANOPY_KERNEL_TARGET_CHECKING_H

#include <canopy/kernel_check.h>

extern const CanopyChecker* canopy_image_checker;

namespace canopy::kernel {

inline constexpr bool is_checking_variant = true;

}  // namespace canopy::kernel

#endif
