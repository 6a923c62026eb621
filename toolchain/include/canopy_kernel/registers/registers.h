// SPDX-License-Identifier: Apache-2.0
// Register programming: namespace AscendC::Reg, also called MicroAPI.
#ifndef CANOPY_KERNEL_REGISTERS_H
#define CANOPY_KERNEL_REGISTERS_H

// Vectors are passed between functions that are always inlined, so their calling convention does not matter.
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wpsabi"

#include "canopy_kernel/registers/call.h"
#include "canopy_kernel/registers/cast.h"
#include "canopy_kernel/registers/gather.h"
#include "canopy_kernel/registers/mask_logic.h"
#include "canopy_kernel/registers/old_names.h"
#include "canopy_kernel/registers/reduce.h"
#include "canopy_kernel/registers/store.h"

#pragma clang diagnostic pop

#endif
