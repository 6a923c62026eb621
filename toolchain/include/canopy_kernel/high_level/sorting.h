// SPDX-License-Identifier: Apache-2.0
// Top-k and sorting as one call.
#ifndef CANOPY_KERNEL_HIGH_LEVEL_SORTING_H
#define CANOPY_KERNEL_HIGH_LEVEL_SORTING_H

#endif
