/* SPDX-License-Identifier: Apache-2.0 */
/*
 * runtime/runtime/dev.h under the name that programs use when this folder's parent is searched.
 */
#ifndef CANOPY_INCLUDE_PKG_INC_RUNTIME_DEV_H
#define CANOPY_INCLUDE_PKG_INC_RUNTIME_DEV_H

#include "runtime/dev.h"

#endif /* CANOPY_INCLUDE_PKG_INC_RUNTIME_DEV_H */
