// SPDX-License-Identifier: Apache-2.0
// Data layout: broadcast, pad, transpose, selection by bytes, dropout, random numbers.
#ifndef CANOPY_KERNEL_HIGH_LEVEL_LAYOUT_H
#define CANOPY_KERNEL_HIGH_LEVEL_LAYOUT_H

#endif
