/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The complete lower runtime interface.
 */
#ifndef CANOPY_INCLUDE_PKG_INC_RUNTIME_RT_H
#define CANOPY_INCLUDE_PKG_INC_RUNTIME_RT_H

#include "rt_external.h"
#include "runtime/rt.h"

#endif /* CANOPY_INCLUDE_PKG_INC_RUNTIME_RT_H */
