// SPDX-License-Identifier: Apache-2.0
// Mathematics on whole tensors: roundings, powers, trigonometry, logic, comparisons, running sums.
#ifndef CANOPY_KERNEL_HIGH_LEVEL_MATH_H
#define CANOPY_KERNEL_HIGH_LEVEL_MATH_H

#endif
