/* SPDX-License-Identifier: Apache-2.0 */
/*
 * runtime/runtime/kernel.h under the name that programs use when this folder's parent is searched.
 */
#ifndef CANOPY_INCLUDE_PKG_INC_RUNTIME_KERNEL_H
#define CANOPY_INCLUDE_PKG_INC_RUNTIME_KERNEL_H

#include "runtime/kernel.h"

#endif /* CANOPY_INCLUDE_PKG_INC_RUNTIME_KERNEL_H */
