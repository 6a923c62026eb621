/* SPDX-License-Identifier: Apache-2.0 */
/*
 * runtime/runtime/event.h under the name that programs use when this folder's parent is searched.
 */
#ifndef CANOPY_INCLUDE_PKG_INC_RUNTIME_EVENT_H
#define CANOPY_INCLUDE_PKG_INC_RUNTIME_EVENT_H

#include "runtime/event.h"

#endif /* CANOPY_INCLUDE_PKG_INC_RUNTIME_EVENT_H */
