// SPDX-License-Identifier: Apache-2.0
// Data layout: broadcast, pad, transpose, selection by bytes, dropout, progressions and random numbers.
#ifndef CANOPY_KERNEL_HIGH_LEVEL_LAYOUT_H
#define CANOPY_KERNEL_HIGH_LEVEL_LAYOUT_H

#include "canopy_kernel/high_level/broadcast.h"
#include "canopy_kernel/high_level/confusion_transpose.h"
#include "canopy_kernel/high_level/drop_out.h"
#include "canopy_kernel/high_level/numbers.h"
#include "canopy_kernel/high_level/pad.h"
#include "canopy_kernel/high_level/trans_data.h"

#endif
