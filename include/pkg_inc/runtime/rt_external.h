/* SPDX-License-Identifier: Apache-2.0 */
/*
 * All headers of this folder for programs outside the runtime.
 */
#ifndef CANOPY_INCLUDE_PKG_INC_RUNTIME_RT_EXTERNAL_H
#define CANOPY_INCLUDE_PKG_INC_RUNTIME_RT_EXTERNAL_H

#include "rt_external_base.h"
#include "rt_external_device.h"
#include "rt_external_event.h"
#include "rt_external_kernel.h"
#include "rt_external_mem.h"
#include "rt_external_model.h"
#include "rt_external_preload.h"
#include "rt_external_stream.h"

#endif /* CANOPY_INCLUDE_PKG_INC_RUNTIME_RT_EXTERNAL_H */
