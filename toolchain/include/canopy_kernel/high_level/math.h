// SPDX-License-Identifier: Apache-2.0
// Mathematics on whole tensors: roundings, powers, trigonometry, logic, comparisons, running sums.
#ifndef CANOPY_KERNEL_HIGH_LEVEL_MATH_H
#define CANOPY_KERNEL_HIGH_LEVEL_MATH_H

#include "canopy_kernel/high_level/cumulative_sum.h"
#include "canopy_kernel/high_level/math_arithmetic.h"
#include "canopy_kernel/high_level/math_functions.h"
#include "canopy_kernel/high_level/math_logic.h"

#endif
