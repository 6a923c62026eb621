// SPDX-License-Identifier: Apache-2.0
// Softmax in all its forms: plain, flash, gradient, logarithm.
#ifndef CANOPY_KERNEL_HIGH_LEVEL_SOFTMAX_H
#define CANOPY_KERNEL_HIGH_LEVEL_SOFTMAX_H

#endif
