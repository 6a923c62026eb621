/* SPDX-License-Identifier: Apache-2.0 */
/* The same as acl/super_kernel.h, under its other name. */
#ifndef CANOPY_INCLUDE_SUPER_KERNEL_SUPER_KERNEL_H
#define CANOPY_INCLUDE_SUPER_KERNEL_SUPER_KERNEL_H

#include "acl/super_kernel.h"

#endif
