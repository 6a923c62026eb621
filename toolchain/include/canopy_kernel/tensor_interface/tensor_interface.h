// SPDX-License-Identifier: Apache-2.0
// The tensor interface: namespace AscendC::Te.
#ifndef CANOPY_KERNEL_TENSOR_INTERFACE_H
#define CANOPY_KERNEL_TENSOR_INTERFACE_H

#include "canopy_kernel/tensor_interface/atoms.h"

#endif
