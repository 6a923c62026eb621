// SPDX-License-Identifier: Apache-2.0
// Quantisation and its reverse: per tensor, channel, token and group.
#ifndef CANOPY_KERNEL_HIGH_LEVEL_QUANTIZATION_H
#define CANOPY_KERNEL_HIGH_LEVEL_QUANTIZATION_H

#include "canopy_kernel/high_level/anti_quantize.h"
#include "canopy_kernel/high_level/dequantize.h"
#include "canopy_kernel/high_level/quantize.h"

#endif
