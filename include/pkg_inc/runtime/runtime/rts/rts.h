/* SPDX-License-Identifier: Apache-2.0 */
/*
 * All headers of this folder.
 */
#ifndef CANOPY_INCLUDE_PKG_INC_RUNTIME_RUNTIME_RTS_RTS_H
#define CANOPY_INCLUDE_PKG_INC_RUNTIME_RUNTIME_RTS_RTS_H

#include "../base.h"
#include "rts_device.h"
#include "rts_event.h"
#include "rts_kernel.h"
#include "rts_model.h"
#include "rts_stream.h"

#endif /* CANOPY_INCLUDE_PKG_INC_RUNTIME_RUNTIME_RTS_RTS_H */
