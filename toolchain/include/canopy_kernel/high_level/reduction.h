// SPDX-License-Identifier: Apache-2.0
// Sums, means and other reductions of rows and columns.
#ifndef CANOPY_KERNEL_HIGH_LEVEL_REDUCTION_H
#define CANOPY_KERNEL_HIGH_LEVEL_REDUCTION_H

#endif
