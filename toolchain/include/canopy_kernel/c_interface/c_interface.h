// SPDX-License-Identifier: Apache-2.0
// The C interface: functions asc_* on pointers into the memories of a core, and on registers from 3510 on. They equal
// functions of namespace AscendC or instructions; tools/apigen/c_interface.py makes those that follow a pattern.
#ifndef CANOPY_KERNEL_C_INTERFACE_H
#define CANOPY_KERNEL_C_INTERFACE_H

#if __NPU_ARCH__ == 2201 || __NPU_ARCH__ == 3510
#include "canopy_kernel/c_interface/copies.h"
#include "canopy_kernel/c_interface/cube.h"
#include "canopy_kernel/c_interface/system.h"
#endif

#if __NPU_ARCH__ == 2201
#include "canopy_kernel/c_interface/copies_2201.h"
#include "canopy_kernel/c_interface/cube_2201.h"
#include "canopy_kernel/c_interface/vector_2201.h"
#include "canopy_kernel/c_interface/vector_more_2201.h"
#elif __NPU_ARCH__ == 3510
#include "canopy_kernel/c_interface/copies_3510.h"
#include "canopy_kernel/c_interface/cube_3510.h"
#include "canopy_kernel/c_interface/registers_3510.h"
#endif

#endif
