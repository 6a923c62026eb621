// SPDX-License-Identifier: Apache-2.0
// Sorting of whole tensors, and the largest or smallest elements of rows.
#ifndef CANOPY_KERNEL_HIGH_LEVEL_SORTING_H
#define CANOPY_KERNEL_HIGH_LEVEL_SORTING_H

#include "canopy_kernel/high_level/sort_tensor.h"
#include "canopy_kernel/high_level/top_k.h"

#endif
