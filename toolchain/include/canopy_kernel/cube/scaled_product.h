// SPDX-License-Identifier: Apache-2.0
// Matrix products with scales (MX) and with sparse operands.
#ifndef CANOPY_KERNEL_SCALED_PRODUCT_H
#define CANOPY_KERNEL_SCALED_PRODUCT_H

#endif
