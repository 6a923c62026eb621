// SPDX-License-Identifier: Apache-2.0
// Activations: the gelu family, sigmoid, silu, swish and the gated units.
#ifndef CANOPY_KERNEL_HIGH_LEVEL_ACTIVATION_H
#define CANOPY_KERNEL_HIGH_LEVEL_ACTIVATION_H

#endif
