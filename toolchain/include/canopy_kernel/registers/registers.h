// SPDX-License-Identifier: Apache-2.0
// Register programming: namespace AscendC::Reg, also called MicroAPI.
#ifndef CANOPY_KERNEL_REGISTERS_H
#define CANOPY_KERNEL_REGISTERS_H

#include "canopy_kernel/registers/types.h"

#endif
