/* SPDX-License-Identifier: Apache-2.0 */
/*
 * runtime/runtime/mem.h under the name that programs use when this folder's parent is searched.
 */
#ifndef CANOPY_INCLUDE_PKG_INC_RUNTIME_MEM_H
#define CANOPY_INCLUDE_PKG_INC_RUNTIME_MEM_H

#include "runtime/mem.h"

#endif /* CANOPY_INCLUDE_PKG_INC_RUNTIME_MEM_H */
