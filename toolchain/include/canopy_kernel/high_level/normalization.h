// SPDX-License-Identifier: Apache-2.0
// Normalisation: layer norm and its gradients, rms norm, deep norm, Welford.
#ifndef CANOPY_KERNEL_HIGH_LEVEL_NORMALIZATION_H
#define CANOPY_KERNEL_HIGH_LEVEL_NORMALIZATION_H

#endif
