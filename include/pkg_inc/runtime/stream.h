/* SPDX-License-Identifier: Apache-2.0 */
/*
 * runtime/runtime/stream.h under the name that programs use when this folder's parent is searched.
 */
#ifndef CANOPY_INCLUDE_PKG_INC_RUNTIME_STREAM_H
#define CANOPY_INCLUDE_PKG_INC_RUNTIME_STREAM_H

#include "runtime/stream.h"

#endif /* CANOPY_INCLUDE_PKG_INC_RUNTIME_STREAM_H */
