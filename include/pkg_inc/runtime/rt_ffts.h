/* SPDX-License-Identifier: Apache-2.0 */
/*
 * runtime/runtime/rt_ffts.h under the name that programs use when this folder's parent is searched.
 */
#ifndef CANOPY_INCLUDE_PKG_INC_RUNTIME_RT_FFTS_H
#define CANOPY_INCLUDE_PKG_INC_RUNTIME_RT_FFTS_H

#include "runtime/rt_ffts.h"

#endif /* CANOPY_INCLUDE_PKG_INC_RUNTIME_RT_FFTS_H */
