/* SPDX-License-Identifier: Apache-2.0 */
/*
 * runtime/runtime/config.h under the name that programs use when this folder's parent is searched.
 */
#ifndef CANOPY_INCLUDE_PKG_INC_RUNTIME_CONFIG_H
#define CANOPY_INCLUDE_PKG_INC_RUNTIME_CONFIG_H

#include "runtime/config.h"

#endif /* CANOPY_INCLUDE_PKG_INC_RUNTIME_CONFIG_H */
