// SPDX-License-Identifier: Apache-2.0
// Normalisations: layer, root mean square, batch and group, their gradients, and statistics of data in tiles.
#ifndef CANOPY_KERNEL_HIGH_LEVEL_NORMALIZATION_H
#define CANOPY_KERNEL_HIGH_LEVEL_NORMALIZATION_H

#include "canopy_kernel/high_level/group_norm.h"
#include "canopy_kernel/high_level/layer_norm.h"
#include "canopy_kernel/high_level/layer_norm_gradient.h"
#include "canopy_kernel/high_level/welford.h"

#endif
