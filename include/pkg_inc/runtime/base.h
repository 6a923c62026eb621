/* SPDX-License-Identifier: Apache-2.0 */
/*
 * runtime/runtime/base.h under the name that programs use when this folder's parent is searched.
 */
#ifndef CANOPY_INCLUDE_PKG_INC_RUNTIME_BASE_H
#define CANOPY_INCLUDE_PKG_INC_RUNTIME_BASE_H

#include "runtime/base.h"

#endif /* CANOPY_INCLUDE_PKG_INC_RUNTIME_BASE_H */
