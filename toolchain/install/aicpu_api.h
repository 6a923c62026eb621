/* SPDX-License-Identifier: Apache-2.0 */
/* The header of kernels for the device's CPU cores, which this installation cannot compile yet. */
#ifndef CANOPY_AICPU_API_H
#define CANOPY_AICPU_API_H

#error "AI CPU kernels (aicpu_api.h) are not supported yet; kernels of AI cores are: include kernel_operator.h"

#endif
