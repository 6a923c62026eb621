/* SPDX-License-Identifier: Apache-2.0 */
/*
 * All headers of this folder.
 */
#ifndef CANOPY_INCLUDE_PKG_INC_RUNTIME_RUNTIME_RT_H
#define CANOPY_INCLUDE_PKG_INC_RUNTIME_RUNTIME_RT_H

#include "base.h"
#include "config.h"
#include "dev.h"
#include "event.h"
#include "kernel.h"
#include "mem.h"
#include "mem_base.h"
#include "rt_ffts.h"
#include "rt_model.h"
#include "stream.h"

#endif /* CANOPY_INCLUDE_PKG_INC_RUNTIME_RUNTIME_RT_H */
