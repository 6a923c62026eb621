// SPDX-License-Identifier: Apache-2.0
// Matrix products for kernels; the name programs include.
#ifndef CANOPY_LIB_MATMUL_INTF_H
#define CANOPY_LIB_MATMUL_INTF_H

#include "../kernel_operator.h"

#include "../canopy_kernel/matmul.h"

#endif
