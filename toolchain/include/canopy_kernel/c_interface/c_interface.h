// SPDX-License-Identifier: Apache-2.0
// The C interface: functions asc_*.
#ifndef CANOPY_KERNEL_C_INTERFACE_H
#define CANOPY_KERNEL_C_INTERFACE_H

#endif
