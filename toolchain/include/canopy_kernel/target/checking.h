// SPDX-License-Identifier: Apache-2.0
// The checking variant of the kernel language. canopy-cc can compile device code once more with the constant below set
// to true. In the checking variant, kernels run as usual and also tell a checker what they do (canopy/kernel_check.h);
// canopy_kernel/core/checking.h has the functions for it.
#ifndef CANOPY_KERNEL_TARGET_CHECKING_H
#define CANOPY_KERNEL_TARGET_CHECKING_H

#include <canopy/kernel_check.h>

extern "C" __attribute__((visibility("protected"))) const CanopyChecker* canopy_image_checker;

namespace canopy::kernel {

inline constexpr bool is_checking_variant = false;

}  // namespace canopy::kernel

#endif
